import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { Deps } from "../deps.ts";
import { lockDayZone, updateDayZone } from "./day-zone.ts";

/** A month is added up once it has been over for this long, when hardly anything comes in late any more. */
const LATE_DAYS = 2;

type CounterSet = "current" | "building";

/** Background task: every organization that has a month to add up. One that fails does not hold up the others. */
export async function sealOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  for (const organizationId of await listUnsealed(deps.db, now)) {
    if (signal.aborted) return;
    try {
      await sealMonths(deps.db, organizationId, { set: "current", now });
    } catch (error) {
      deps.log.error("stats.seal_failed", { organizationId, error });
    }
  }
}

/**
 * Adds up the months that are over, so that a long window reads one row per key and month instead of one per day. One month
 * per transaction: while it runs, recording for this organization waits.
 */
export async function sealMonths(
  db: Db,
  owner: OrganizationId,
  { set, now }: { set: CounterSet; now: Date },
): Promise<void> {
  let isDone = false;
  while (!isDone) {
    isDone = await db.transaction().execute((transaction) => sealNextMonth(transaction, owner, { set, now }));
  }
}

async function sealNextMonth(
  transaction: Db,
  owner: OrganizationId,
  { set, now }: { set: CounterSet; now: Date },
): Promise<boolean> {
  const row = await lockDayZone(transaction, owner);
  const version = set === "current" ? row.version : row.building_version;
  const sealedBefore = set === "current" ? row.sealed_before : row.building_sealed_before;
  const zone = set === "current" ? row.zone : row.building_zone;
  if (version === null || sealedBefore === null || zone === null) return true;

  const { limit, month } = await findNextMonth(transaction, owner, { version, zone, sealedBefore, now });
  if (sealedBefore >= limit) return true;
  if (month !== null) await addUpMonth(transaction, owner, { version, month });
  const sealed = month === null ? limit : nextMonth(month);
  await updateDayZone(
    transaction,
    owner,
    set === "current" ? { sealed_before: sealed } : { building_sealed_before: sealed },
  );
  return sealed >= limit;
}

async function listUnsealed(db: Db, now: Date): Promise<OrganizationId[]> {
  const { rows } = await sql<{ organization_id: OrganizationId }>`
    select organization_id from day_zones where sealed_before < ${openMonth(now)} order by organization_id`.execute(db);
  return rows.map((row) => row.organization_id);
}

/** First day of the oldest month that is not to be added up yet, in the zone of the column `zone`. */
function openMonth(now: Date) {
  return sql`date_trunc('month', (${now}::timestamptz at time zone zone) - make_interval(days => ${LATE_DAYS}))::date`;
}

/** The first day of the month that is still open, and the oldest unsealed month before it that has any counts. */
async function findNextMonth(
  db: Db,
  owner: OrganizationId,
  about: { version: number; zone: string; sealedBefore: string; now: Date },
): Promise<{ limit: string; month: string | null }> {
  const { rows } = await sql<{ limit: string; month: string | null }>`
    select open_month::text as limit, (
      select date_trunc('month', min(day)::timestamp)::date::text from funnel_key_days
      where organization_id = ${owner} and version = ${about.version} and widget_id = ''
        and day >= ${about.sealedBefore} and day < open_month
    ) as month
    from (select ${openMonth(about.now)} as open_month from (values (${about.zone})) about (zone)) today`.execute(db);
  const row = rows[0];
  if (!row) throw new Error("A select without from returned no row");
  return row;
}

async function addUpMonth(db: Db, owner: OrganizationId, about: { version: number; month: string }): Promise<void> {
  await sql`
    insert into funnel_key_months (organization_id, version, widget_id, month, kind, key, views, bookings)
    select organization_id, version, widget_id, ${about.month}, kind, key, sum(views), sum(bookings)
    from funnel_key_days
    where organization_id = ${owner} and version = ${about.version}
      and day >= ${about.month} and day < ${nextMonth(about.month)}
    group by organization_id, version, widget_id, kind, key
    on conflict (organization_id, version, widget_id, month, kind, key)
      do update set views = excluded.views, bookings = excluded.bookings`.execute(db);
}

function nextMonth(month: string): string {
  return Temporal.PlainDate.from(month).add({ months: 1 }).toString();
}
