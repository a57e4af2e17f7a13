import { HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import { findFirstCountedDay, toShownDay } from "../analytics/analytics.ts";
import type { Deps } from "../deps.ts";
import { LoggableError } from "../lib/log/loggable-error.ts";
import { addDays } from "../lib/time/calendar.ts";
import { listOrganizations, toKeptSince } from "../organizations/organizations.ts";
import { EXPORT_TABLES, LAST_TABLE } from "./day-rows.ts";
import { exportAlone, findFirstBookedAt } from "./queries.ts";
import { ExportError, openTarget, type Target } from "./target.ts";

export { ExportError };

// Exports write the finished days of organizations as files, each once:
//
//   TABLE/organization_id=ORG/YYYY-MM-DD.ndjson
//
// The files themselves say what is done. A day's daily_totals are written last, so a day that has them is complete; a run that was
// killed continues with the first day that lacks them. Bookings, changes and deletions are of a day in UTC, and totals of a day in the
// organization's time zone. A day is exported when it has been over for a while in both.

/** Transactions that began before midnight have ended by then. */
const SETTLE_MS = HOUR_MS;

type ExportDeps = Pick<Deps, "db" | "clock" | "log" | "config">;
type Owner = { id: OrganizationId; plan: Plan; timeZone: string | null };
/** Organizations that another process is exporting are counted as busy. */
type Exported = { organizations: number; days: number; files: number; busy: number };
type Export = {
  to: string;
  /** Only this organization. */
  owner?: OrganizationId | undefined;
  /** Also days before those that were exported so far. */
  from?: string | null;
  signal?: AbortSignal;
  onDay?: (days: number) => void;
};

/** Background task: exports what is missing, if the operator has set a target for it. */
export async function exportNightly(deps: ExportDeps, signal: AbortSignal): Promise<void> {
  if (deps.config.exportTo !== null) await exportDays(deps, { to: deps.config.exportTo, signal });
}

/**
 * Writes all days that are missing, oldest first, of organizations whose plan includes the read API. A failure in one does not stop
 * the others, unless the target itself fails.
 */
export async function exportDays(deps: ExportDeps, asked: Export): Promise<Exported> {
  const target = await openTarget(asked.to);
  const exported = { organizations: 0, days: 0, files: 0, busy: 0 };
  let failed = 0;
  let lastError: unknown;
  for (const { id, plan, time_zone: timeZone } of await listOrganizations(deps.db)) {
    if (asked.signal?.aborted) break;
    if ((asked.owner ?? id) !== id || !planIncludes(plan, "readApi")) continue;
    try {
      await exportOrganization(deps, { id, plan, timeZone }, { ...asked, target, exported });
    } catch (error) {
      if (error instanceof ExportError) throw error;
      deps.log.error("export.organization_failed", { organizationId: id, error });
      failed += 1;
      lastError = error;
    }
  }
  if (failed > 0)
    throw new LoggableError("Organizations that could not be exported", { count: failed, cause: lastError });
  return exported;
}

type Run = Export & { target: Target; exported: Exported };

async function exportOrganization(deps: ExportDeps, owner: Owner, run: Run): Promise<void> {
  run.exported.organizations += 1;
  if ((await listMissing(deps, owner, run)).days.length === 0) return;
  const isOurs = await exportAlone(deps.db, owner.id, async () => {
    // Listed again: another process may have written some since.
    const { days, done } = await listMissing(deps, owner, run);
    for (const day of days) {
      if (run.signal?.aborted) return;
      await exportDay(deps, owner, { ...run, day, done });
      run.exported.days += 1;
      run.onDay?.(run.exported.days);
    }
  });
  if (!isOurs) run.exported.busy += 1;
}

type Done = ReadonlyMap<string, ReadonlySet<string>>;

async function exportDay(
  { db, clock }: ExportDeps,
  { id, plan, timeZone }: Owner,
  { day, done, target, exported }: Run & { day: string; done: Done },
): Promise<void> {
  for (const [table, read] of Object.entries(EXPORT_TABLES)) {
    if (done.get(table)?.has(toName(day))) continue;
    // Read for each file, so that retention also holds in a long run.
    const keptSince = toKeptSince(plan, clock.now());
    const isWritten = await target.write(
      `${toFolder(table, id)}/${toName(day)}`,
      read(db, id, { day, keptSince, timeZone }),
    );
    if (isWritten) exported.files += 1;
  }
}

/** Finished days without totals. The first run begins with the first day that has anything, a later one with the first run's. */
async function listMissing(
  { db, clock }: ExportDeps,
  { id, plan, timeZone }: Owner,
  { target, from }: Run,
): Promise<{ days: string[]; done: Done }> {
  const now = clock.now();
  const settled = new Date(now.getTime() - SETTLE_MS);
  const today = [toShownDay({ timeZone }, settled), toUtcDay(settled)].sort()[0] as string;
  const tables = Object.keys(EXPORT_TABLES);
  const done = new Map(
    await Promise.all(tables.map(async (table) => [table, await target.list(toFolder(table, id))] as const)),
  );
  const complete = done.get(LAST_TABLE) ?? new Set();
  const keptSince = toKeptSince(plan, now);
  const firstDone = [...complete].flatMap((name) => /^(\d{4}-\d\d-\d\d)\.ndjson$/.exec(name)?.[1] ?? []).sort()[0];
  const wanted = from ?? firstDone ?? (await findFirstDay({ db }, id, { now, keptSince, timeZone })) ?? today;
  // The oldest day that is kept in full.
  const oldest = addDays(toUtcDay(keptSince), 1);
  const days: string[] = [];
  for (let day = wanted > oldest ? wanted : oldest; day < today; day = addDays(day, 1))
    if (!complete.has(toName(day))) days.push(day);
  return { days, done };
}

async function findFirstDay(
  { db }: Pick<Deps, "db">,
  owner: OrganizationId,
  kept: { now: Date; keptSince: Date; timeZone: string | null },
): Promise<string | undefined> {
  const bookedAt = await findFirstBookedAt(db, owner, kept.keptSince);
  const days = [bookedAt && toUtcDay(bookedAt), await findFirstCountedDay(db, owner, kept)];
  return days.filter((day) => day !== null).sort()[0];
}

function toFolder(table: string, owner: OrganizationId): string {
  return `${table}/organization_id=${owner}`;
}

function toName(day: string): string {
  return `${day}.ndjson`;
}

function toUtcDay(instant: Date): string {
  return instant.toISOString().slice(0, "YYYY-MM-DD".length);
}
