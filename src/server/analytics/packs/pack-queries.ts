import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { assert } from "../../lib/assert.ts";
import { ALL_WIDGETS, encodeTotals, type TotalsBytes, type WidgetTotals } from "./totals.ts";

// Statements that make packs. What they rely on:
// - visit_progress.packed_before: visits that started earlier are covered. Whoever changes one of them sets the bit of its hour in
//   visit_days, in the same transaction. Recording holds a share lock on the row; covering more hours needs the exclusive lock, so
//   a recording happens entirely before or after.
// - A part of visit_packs is valid while none of its hours has its bit set. Two parts have the same hours, or none in common. Parts
//   are made by clearing the bits, reading the visits, and saving only if the bits are still clear. So a valid part has exactly the
//   visits that the same snapshot sees.
// - The totals of a day are valid while 24 of its hours are packed and no bit is set; those of 30 days, while all its days are so.
// - Only one process at a time makes packs of an organization (`lockPacks`).

/** Days whose totals are added up. Spans are counted from 1 January 1970, regardless of months. */
export const SPAN_DAYS = 30;
export const DAY_HOURS = 24;
export const ALL_HOURS = 2 ** DAY_HOURS - 1;

const utcDay = (at: RawBuilder<unknown>) => sql<string>`(${at} at time zone 'UTC')::date`;
export const utcStart = (day: RawBuilder<unknown>) => sql<Date>`(${day}::timestamp at time zone 'UTC')`;
/** The first day of the span that a day belongs to. */
export const spanStart = (day: RawBuilder<unknown>) => {
  const days = sql.lit(SPAN_DAYS);
  return sql<string>`(${day} - mod(mod(${day} - date '1970-01-01', ${days}) + ${days}, ${days}))`;
};
const utcHour = (at: RawBuilder<unknown>) => sql<number>`date_part('hour', ${at} at time zone 'UTC')::integer`;

/** Sets the bits of hours. `starts` selects organization_id and start. Sees the newest rows, however old the statement's snapshot is. */
export const outdateHours = (starts: RawBuilder<unknown>) => sql`
  insert into ${table("visit_days", "known")} (organization_id, day, outdated)
  select organization_id, ${utcDay(sql`start`)} as day, bit_or(1 << ${utcHour(sql`start`)})
  from (${starts}) changed group by organization_id, day order by organization_id, day
  on conflict (organization_id, day) do update set outdated = known.outdated | excluded.outdated
    where known.outdated <> known.outdated | excluded.outdated`;

/** To be called by whoever deletes visits that started then, in the same transaction. */
export async function outdateVisits(transaction: Db, owner: OrganizationId, starts: readonly Date[]): Promise<void> {
  if (starts.length === 0) return;
  await outdateHours(sql`
    select progress.organization_id, start
    from (select organization_id, packed_before from ${table("visit_progress")} where organization_id = ${owner}) progress
    cross join unnest(${starts}::timestamptz[]) as start
    where start < packed_before`).execute(transaction);
}

export type Progress = {
  /** Visits since then are complete. */
  kept_since: Date;
  /** Null before the first visit is packed. */
  packed_before: Date | null;
};

/** Waits for current recordings, and blocks new ones until the transaction ends. */
export async function lockProgress(transaction: Db, owner: OrganizationId): Promise<Progress> {
  return await transaction
    .selectFrom("visit_progress")
    .select(["kept_since", "packed_before"])
    .where("organization_id", "=", owner)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

export async function updateProgress(db: Db, owner: OrganizationId, change: Partial<Progress>): Promise<void> {
  await db.updateTable("visit_progress").set(change).where("organization_id", "=", owner).execute();
}

/** Until the transaction ends. No recording waits for it. */
export async function lockPacks(transaction: Db, owner: OrganizationId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`packs ${owner}`}, 0))`.execute(transaction);
}

/** Served by visit_days_unfinished. */
const isUnfinished = sql`(outdated <> 0 or packed_hours < ${sql.lit(DAY_HOURS)})
  and (outdated <> 0 or packed_before >= ${utcStart(sql`day`)} + (packed_hours + 1) * interval '1 hour')`;

/** Organizations with something to pack. The only statement on all of them. */
export async function listUnpackedAcrossOrganizations(db: Db, before: Date): Promise<OrganizationId[]> {
  const { rows } = await sql<{ organization_id: OrganizationId }>`
    select organization_id from ${table("visit_progress", "progress")} where exists (
      select from ${table("funnel_visits", "visit")} where visit.organization_id = progress.organization_id
        and started_at >= coalesce(packed_before, '-infinity') and started_at < ${before}
    )
    union
    select organization_id from ${table("visit_days", "days")} join ${table("visit_progress", "progress")} using (organization_id) where ${isUnfinished}
    order by organization_id`.execute(db);
  return rows.map((row) => row.organization_id);
}

/** When the first visit at or after this instant started. */
export async function findVisitSince(db: Db, owner: OrganizationId, since: Date | null): Promise<Date | null> {
  const { rows } = await sql<{ first: Date | null }>`
    select min(started_at) as first from ${table("funnel_visits")}
    where organization_id = ${owner} and started_at >= coalesce(${since}::timestamptz, '-infinity')`.execute(db);
  return rows[0]?.first ?? null;
}

/** Adds the days of the range on which a visit started. */
export async function addDays(
  transaction: Db,
  owner: OrganizationId,
  range: { from: Date; until: Date },
): Promise<void> {
  const firstDay = utcDay(sql`${range.from}::timestamptz`);
  await sql`
    insert into ${table("visit_days")} (organization_id, day)
    select ${owner}, day from (
      select ${firstDay} + n as day from generate_series(0, ${utcDay(sql`${range.until}::timestamptz`)} - ${firstDay}) n
    ) days
    where exists (
      select from ${table("funnel_visits")} where organization_id = ${owner} and started_at >= greatest(${utcStart(sql`day`)}, ${range.from})
        and started_at < least(${utcStart(sql`(day + 1)`)}, ${range.until})
    )
    on conflict (organization_id, day) do nothing`.execute(transaction);
}

/** Newest first. */
export async function listUnfinishedDays(db: Db, owner: OrganizationId): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select day from ${table("visit_days", "days")} join ${table("visit_progress", "progress")} using (organization_id)
    where organization_id = ${owner} and ${isUnfinished} order by day desc`.execute(db);
  return rows.map(({ day }) => day);
}

/** Deletes what is no longer valid of a day, and clears its bits. Until the transaction ends, nobody else can set one. */
export async function clearOutdated(transaction: Db, owner: OrganizationId, day: string): Promise<void> {
  const { rows } = await sql<{ outdated: number }>`
    select outdated from ${table("visit_days")}
    where organization_id = ${owner} and day = ${day}::date for update`.execute(transaction);
  await sql`
    delete from ${table("visit_packs")}
    where organization_id = ${owner} and day = ${day}::date and hours & ${rows[0]?.outdated ?? 0} <> 0`.execute(
    transaction,
  );
  await sql`
    update ${table("visit_days")} set outdated = 0, packed_hours = 0
    where organization_id = ${owner} and day = ${day}::date`.execute(transaction);
  await sql`
    delete from ${table("visit_totals")} where organization_id = ${owner} and (
      days = 1 and start = ${day}::date or days = ${sql.lit(SPAN_DAYS)} and start = ${spanStart(sql`${day}::date`)}
    )`.execute(transaction);
}

export type PackDay = { day: string; outdated: number; packed_hours: number };

export async function findDay(transaction: Db, owner: OrganizationId, day: string): Promise<PackDay | null> {
  const row = await transaction
    .selectFrom("visit_days")
    .select(["day", "outdated", "packed_hours"])
    .where("organization_id", "=", owner)
    .where("day", "=", day)
    .executeTakeFirst();
  return row ?? null;
}

/** How many visits started in each hour of a day. */
export async function countByHour(transaction: Db, owner: OrganizationId, day: string): Promise<Map<number, number>> {
  const { rows } = await sql<{ hour: number; visits: number }>`
    select ${utcHour(sql`started_at`)} as hour, count(*)::integer as visits from ${table("funnel_visits")}
    where organization_id = ${owner} and started_at >= ${utcStart(sql`${day}::date`)}
      and started_at < ${utcStart(sql`(${day}::date + 1)`)}
    group by hour`.execute(transaction);
  return new Map(rows.map(({ hour, visits }) => [hour, visits]));
}

export type PackPart = { part: number; hours: number; visits: number; last_at: Date | null };

export async function listParts(transaction: Db, owner: OrganizationId, day: string): Promise<PackPart[]> {
  return await transaction
    .selectFrom("visit_packs")
    .select(["part", "hours", "visits", "last_at"])
    .where("organization_id", "=", owner)
    .where("day", "=", day)
    .orderBy("part")
    .execute();
}

export async function deleteParts(transaction: Db, owner: OrganizationId, day: string): Promise<void> {
  await sql`delete from ${table("visit_packs")} where organization_id = ${owner} and day = ${day}::date`.execute(
    transaction,
  );
}

export async function readPartData(
  transaction: Db,
  owner: OrganizationId,
  { day, part }: { day: string; part: number },
) {
  const { data } = await transaction
    .selectFrom("visit_packs")
    .select("data")
    .where("organization_id", "=", owner)
    .where("day", "=", day)
    .where("part", "=", part)
    .executeTakeFirstOrThrow();
  return data;
}

export async function insertPart(
  transaction: Db,
  owner: OrganizationId,
  part: PackPart & { day: string; data: Buffer<ArrayBuffer> },
): Promise<void> {
  await transaction
    .insertInto("visit_packs")
    .values({ organization_id: owner, ...part })
    .execute();
}

/** False if one of these hours has changed meanwhile: then the transaction must be rolled back. */
export async function finishDay(
  transaction: Db,
  owner: OrganizationId,
  { day, hours, packedHours, lastAt }: { day: string; hours: number; packedHours: number; lastAt: Date | null },
): Promise<boolean> {
  const result = await sql`
    update ${table("visit_days")} set packed_hours = ${packedHours}, last_at = ${lastAt}
    where organization_id = ${owner} and day = ${day}::date and outdated & ${hours} = 0`.execute(transaction);
  return result.numAffectedRows === 1n;
}

export async function insertTotals(
  transaction: Db,
  owner: OrganizationId,
  { days, start, totals }: { days: number; start: string; totals: WidgetTotals },
): Promise<void> {
  const rows = [...totals].map(([widget_id, ofWidget]) => ({
    ...{ organization_id: owner, widget_id, days, start },
    ...encodeTotals(ofWidget),
  }));
  if (rows.length > 0) await transaction.insertInto("visit_totals").values(rows).execute();
}

/** Spans of 30 days that are packed as a whole and whose totals have not been added up yet. */
export async function listUnaddedSpans(db: Db, owner: OrganizationId): Promise<string[]> {
  const { rows } = await sql<{ start: string }>`
    select start from (
      select ${spanStart(sql`day`)} as start from ${table("visit_days")} where organization_id = ${owner}
      group by start having bool_and(outdated = 0 and packed_hours = ${sql.lit(DAY_HOURS)})
    ) spans
    join ${table("visit_progress")} on organization_id = ${owner} and ${utcStart(sql`(start + ${sql.lit(SPAN_DAYS)})`)} <= packed_before
    where not exists (
      select from ${table("visit_totals", "added")} where added.organization_id = ${owner} and added.widget_id = ${ALL_WIDGETS}
        and added.days = ${sql.lit(SPAN_DAYS)} and added.start = spans.start
    )
    order by start desc`.execute(db);
  return rows.map(({ start }) => start);
}

/** The totals of each day of a span. */
export async function readSpanDays(
  transaction: Db,
  owner: OrganizationId,
  start: string,
): Promise<(TotalsBytes & { widget_id: string })[]> {
  const { rows } = await sql<TotalsBytes & { widget_id: string }>`
    select widget_id, counts, keys from ${table("visit_totals")}
    where organization_id = ${owner} and days = 1 and start >= ${start}::date
      and start < ${start}::date + ${sql.lit(SPAN_DAYS)}`.execute(transaction);
  return rows;
}

/**
 * Removes packs of days before the oldest visit, and totals of spans that such days belong to. Nothing tells any longer that the
 * spans changed. Needs `lockPacks` and the exclusive lock of visit_progress.
 */
export async function deleteEmptyDays(transaction: Db, owner: OrganizationId): Promise<void> {
  const first = await findVisitSince(transaction, owner, null);
  const before = sql`coalesce(${utcDay(sql`${first}::timestamptz`)}, 'infinity')`;
  await sql`delete from ${table("visit_days")} where organization_id = ${owner} and day < ${before}`.execute(
    transaction,
  );
  await sql`delete from ${table("visit_packs")} where organization_id = ${owner} and day < ${before}`.execute(
    transaction,
  );
  await sql`delete from ${table("visit_totals")} where organization_id = ${owner} and start < ${before}`.execute(
    transaction,
  );
}

/** Deletes all packs, so that everything is packed again. Needs the same locks. */
export async function deletePacks(transaction: Db, owner: OrganizationId): Promise<void> {
  for (const name of ["visit_days", "visit_packs", "visit_totals"] as const)
    await sql`delete from ${table(name)} where organization_id = ${owner}`.execute(transaction);
  await updateProgress(transaction, owner, { packed_before: null });
}

export async function findProgress(db: Db, owner: OrganizationId): Promise<Progress> {
  const row = await db
    .selectFrom("visit_progress")
    .select(["kept_since", "packed_before"])
    .where("organization_id", "=", owner)
    .executeTakeFirst();
  assert(row, "an organization has a row in visit_progress");
  return row;
}
