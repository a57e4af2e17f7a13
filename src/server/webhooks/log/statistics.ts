import { sql } from "kysely";
import type { EndpointStatistics } from "#contract/app/endpoints.ts";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { EndpointPeriod } from "#contract/endpoint.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";

/** Each period in intervals that start at whole multiples of their length, in UTC. */
const PERIODS: Readonly<Record<EndpointPeriod, { intervals: number; intervalMs: number }>> = {
  "24h": { intervals: 24, intervalMs: HOUR_MS },
  "7d": { intervals: 28, intervalMs: 6 * HOUR_MS },
  "30d": { intervals: 30, intervalMs: DAY_MS },
};

/** Attempts and response times of an endpoint over a period; the interval that is not over yet is the last one. */
export async function readStatistics(
  { db, clock }: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  { endpointId, period }: { endpointId: EndpointId; period: EndpointPeriod },
): Promise<EndpointStatistics> {
  const { intervals, intervalMs } = PERIODS[period];
  const currentMs = Math.floor(clock.now().getTime() / intervalMs) * intervalMs;
  const sinceMs = currentMs - (intervals - 1) * intervalMs;
  const rows = await countByInterval(db, owner, { endpointId, since: new Date(sinceMs), intervalMs });
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

type IntervalRow = {
  from_at: Date;
  delivered: number;
  failed: number;
  median_ms: number | null;
  p95_ms: number | null;
};

/** Uses delivery_attempts_by_time. */
async function countByInterval(
  db: Db,
  owner: OrganizationId,
  { endpointId, since, intervalMs }: { endpointId: EndpointId; since: Date; intervalMs: number },
): Promise<IntervalRow[]> {
  const { rows } = await sql<IntervalRow>`
    select date_bin(make_interval(secs => ${intervalMs / 1_000}), started_at, ${since}) as from_at,
      count(*) filter (where result = 'delivered') as delivered, count(*) filter (where result <> 'delivered') as failed,
      (percentile_disc(0.5) within group (order by duration_ms)) as median_ms,
      (percentile_disc(0.95) within group (order by duration_ms)) as p95_ms
    from delivery_attempts
    where organization_id = ${owner} and endpoint_id = ${endpointId} and started_at >= ${since}
    group by from_at order by from_at`.execute(db);
  return rows;
}
