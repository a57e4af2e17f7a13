import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { addDays, countDays } from "../../lib/calendar.ts";
import { lockDayZone, updateDayZone } from "./day-zone.ts";
import { SHORTEST_SPAN, SPAN_LENGTHS, spanStart } from "./key-spans.ts";

type CounterSet = "current" | "building";

/** Background task: every organization that has a span to add up. One that fails does not hold up the others. */
export async function sealOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  for (const organizationId of await listUnsealed(deps.db, now)) {
    if (signal.aborted) return;
    try {
      await sealSpans(deps.db, organizationId, { set: "current", now });
    } catch (error) {
      deps.log.error("stats.seal_failed", { organizationId, error });
    }
  }
}

/** Adds up the spans that are over. One of the shortest per transaction: while it runs, recording for this organization waits. */
export async function sealSpans(
  db: Db,
  owner: OrganizationId,
  { set, now }: { set: CounterSet; now: Date },
): Promise<void> {
  let isDone = false;
  while (!isDone) {
    isDone = await db.transaction().execute((transaction) => sealNextSpan(transaction, owner, { set, now }));
  }
}

async function sealNextSpan(
  transaction: Db,
  owner: OrganizationId,
  { set, now }: { set: CounterSet; now: Date },
): Promise<boolean> {
  const row = await lockDayZone(transaction, owner);
  const version = set === "current" ? row.version : row.building_version;
  const sealedBefore = set === "current" ? row.sealed_before : row.building_sealed_before;
  const zone = set === "current" ? row.zone : row.building_zone;
  if (version === null || sealedBefore === null || zone === null) return true;

  const { limit, start } = await findNextSpan(transaction, owner, { version, zone, sealedBefore, now });
  if (sealedBefore >= limit) return true;
  if (start !== null) await addUpDays(transaction, owner, { version, start });
  const sealed = start === null ? limit : addDays(start, SHORTEST_SPAN);
  for (const [i, length] of SPAN_LENGTHS.entries()) {
    const partLength = SPAN_LENGTHS[i - 1];
    if (partLength === undefined) continue;
    // Of the spans of this length that are full now, only these two can have any counts.
    for (const first of new Set([toStart(sealedBefore, length), toStart(start ?? sealedBefore, length)])) {
      if (addDays(first, length) <= sealed)
        await addUpSpans(transaction, owner, { version, start: first, length, partLength });
    }
  }
  await updateDayZone(
    transaction,
    owner,
    set === "current" ? { sealed_before: sealed } : { building_sealed_before: sealed },
  );
  return sealed >= limit;
}

async function listUnsealed(db: Db, now: Date): Promise<OrganizationId[]> {
  const { rows } = await sql<{ organization_id: OrganizationId }>`
    select organization_id from day_zones where sealed_before < ${openSpan(now)} order by organization_id`.execute(db);
  return rows.map((row) => row.organization_id);
}

/** First day of the span that is not over yet, in the zone of the column `zone`. */
function openSpan(now: Date) {
  return spanStart(sql`(${now}::timestamptz at time zone zone)::date`, SHORTEST_SPAN);
}

/** The first day of the span that is still open, and that of the oldest unsealed span before it that has any counts. */
async function findNextSpan(
  db: Db,
  owner: OrganizationId,
  about: { version: number; zone: string; sealedBefore: string; now: Date },
): Promise<{ limit: string; start: string | null }> {
  const { rows } = await sql<{ limit: string; start: string | null }>`
    select open_span as limit, (
      select ${spanStart(sql`min(day)`, SHORTEST_SPAN)} from funnel_key_days
      where organization_id = ${owner} and version = ${about.version} and widget_id = ''
        and day >= ${about.sealedBefore} and day < open_span
    ) as start
    from (select ${openSpan(about.now)} as open_span from (values (${about.zone})) about (zone)) today`.execute(db);
  const [row] = rows;
  assert(row, "a select without from gives one row");
  return row;
}

type Span = { version: number; start: string };

// Inserted in the order of the key, so that what is read together lies together: reading two years of five million events then
// takes a quarter less.

async function addUpDays(db: Db, owner: OrganizationId, { version, start }: Span): Promise<void> {
  const days = sql`
    from funnel_key_days where organization_id = ${owner} and version = ${version}
      and day >= ${start} and day < ${addDays(start, SHORTEST_SPAN)}`;
  await insertSums(db, { start, length: SHORTEST_SPAN, parts: days });
}

async function addUpSpans(
  db: Db,
  owner: OrganizationId,
  { version, start, length, partLength }: Span & { length: number; partLength: number },
): Promise<void> {
  const shorter = sql`
    from funnel_key_spans where organization_id = ${owner} and version = ${version} and span_days = ${sql.lit(partLength)}
      and start_day >= ${start} and start_day < ${addDays(start, length)}`;
  await insertSums(db, { start, length, parts: shorter });
}

async function insertSums(db: Db, sums: { start: string; length: number; parts: RawBuilder<unknown> }): Promise<void> {
  await sql`
    insert into funnel_key_spans (organization_id, version, widget_id, span_days, start_day, kind, key, views, bookings)
    select organization_id, version, widget_id, ${sql.lit(sums.length)}, ${sums.start}::date, kind, key, sum(views),
      sum(bookings)
    ${sums.parts}
    group by organization_id, version, widget_id, kind, key
    order by organization_id, version, widget_id, kind, key
    on conflict (organization_id, version, widget_id, span_days, start_day, kind, key)
      do update set views = excluded.views, bookings = excluded.bookings`.execute(db);
}

function toStart(day: string, length: number): string {
  return addDays(day, -(countDays("1970-01-01", day) % length));
}
