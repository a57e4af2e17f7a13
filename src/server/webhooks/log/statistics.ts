import type { EndpointStatistics } from "#contract/app/endpoints.ts";
import { HOUR_MS } from "#contract/durations.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { EndpointPeriod } from "#contract/webhooks/endpoint.ts";
import { readAtHome, writeAtHome } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import { listOrganizations } from "../../organizations/organizations.ts";
import { countByInterval, findAddedUpTo, insertTotals, listTotals } from "./statistics-queries.ts";

// Statistics of an endpoint's attempts. A task adds up every interval once it is over (attempt_totals), and only attempts since then
// are read one by one.

/** Each period in intervals that start at whole multiples of their length, in UTC. */
const PERIODS: Readonly<Record<EndpointPeriod, { intervals: number; hours: number }>> = {
  "24h": { intervals: 24, hours: 1 },
  "7d": { intervals: 28, hours: 6 },
  "30d": { intervals: 30, hours: 24 },
};

/** An attempt is written when it ends, at most a lease after it started. What a dead cluster reports later is left out. */
const WRITTEN_MS = HOUR_MS;

/** Attempts and response times of an endpoint over a period; the interval that is not over yet is the last one. */
export async function readStatistics(
  { db, clock }: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  { endpointId, period }: { endpointId: EndpointId; period: EndpointPeriod },
): Promise<EndpointStatistics> {
  const { intervals, hours } = PERIODS[period];
  const intervalMs = hours * HOUR_MS;
  const sinceMs = toIntervalStart(clock.now().getTime(), intervalMs) - (intervals - 1) * intervalMs;
  const since = new Date(sinceMs);
  const addedUpTo = await findAddedUpTo(db, owner, { hours, since });
  const rows = [
    ...(await listTotals(db, owner, { endpointId, hours, from: since, to: addedUpTo })),
    ...(await countByInterval(db, owner, { endpointId, hours, from: addedUpTo, to: null })),
  ];
  const byStart = new Map(rows.map((row) => [row.from_at.getTime(), row]));
  return {
    period,
    intervals: Array.from({ length: intervals }, (_, index) => {
      const startMs = sinceMs + index * intervalMs;
      const row = byStart.get(startMs);
      return {
        from: new Date(startMs).toISOString(),
        delivered: row?.delivered ?? 0,
        failed: row?.failed ?? 0,
        medianMs: row?.median_ms ?? null,
        p95Ms: row?.p95_ms ?? null,
      };
    }),
  };
}

/** Background task: adds up the intervals that are over. */
export async function addUpAttempts(
  { db, clock, log }: Pick<Deps, "db" | "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of await listOrganizations(db)) {
    for (const { intervals, hours } of Object.values(PERIODS)) {
      if (signal.aborted) return;
      const to = new Date(toIntervalStart(clock.now().getTime() - WRITTEN_MS, hours * HOUR_MS));
      const since = new Date(to.getTime() - intervals * hours * HOUR_MS);
      try {
        const rows = await readAtHome(db, id, async (home) => {
          const from = await findAddedUpTo(home, id, { hours, since });
          return from < to ? await countByInterval(home, id, { hours, from, to }) : [];
        });
        await writeAtHome(db, id, (home) => insertTotals(home, id, { hours, rows }));
      } catch (error) {
        log.error("attempts.totals_failed", { organizationId: id, error });
      }
    }
  }
}

function toIntervalStart(instantMs: number, intervalMs: number): number {
  return Math.floor(instantMs / intervalMs) * intervalMs;
}
