import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";

// Statements on visit_packs. A day is outdated while its part 0 has no data; its other parts then mean nothing. Part 0 is
// created, and later outdated, in the transaction that changes a visit of the day, so a valid pack always has exactly the visits
// that the same snapshot sees. Part 0 is deleted only under the exclusive lock of day_zones; packing holds a key share lock, for
// which no recording waits.

/** Earlier than any visit: every day before packed_before is packed. */
export const FIRST_DAY = "0001-01-01";

export const utcDay = (at: RawBuilder<unknown>) => sql<string>`(${at} at time zone 'UTC')::date`;

/** The first instant of a UTC day. */
export const utcStart = (day: RawBuilder<unknown>) => sql<Date>`(${day}::timestamp at time zone 'UTC')`;

/** `days` selects organization_id and day. Sees the newest rows, however old the statement's snapshot is. */
export const outdateDays = (days: RawBuilder<unknown>) => sql`
  insert into visit_packs as pack (organization_id, day, part, changes)
  select organization_id, day, 0, 1 from (${days}) touched order by organization_id, day
  on conflict (organization_id, day, part) do update set changes = pack.changes + 1, data = null`;

/** To be called by whoever changes or deletes visits of these UTC days, in the same transaction. Others are left alone. */
export async function outdatePacks(transaction: Db, owner: OrganizationId, days: Iterable<string>): Promise<void> {
  const touched = [...new Set(days)];
  if (touched.length === 0) return;
  await outdateDays(sql`
    select zone.organization_id, sent.day
    from (select organization_id, packed_from, packed_before from day_zones where organization_id = ${owner}) zone
    cross join unnest(${touched}::date[]) as sent (day)
    where sent.day >= packed_from and sent.day < packed_before`).execute(transaction);
}

/** Removes packs of days before the oldest visit. Needs the exclusive lock of day_zones. */
export async function deleteEmptyPacks(transaction: Db, owner: OrganizationId): Promise<void> {
  await sql`
    delete from visit_packs where organization_id = ${owner} and day < coalesce(
      (select ${utcDay(sql`min(started_at)`)} from funnel_visits where organization_id = ${owner}), 'infinity')`.execute(
    transaction,
  );
}

/** Deletes all packs, so that every day is packed again. Needs the exclusive lock of day_zones. */
export async function deletePacks(transaction: Db, owner: OrganizationId): Promise<void> {
  await sql`delete from visit_packs where organization_id = ${owner}`.execute(transaction);
  await transaction
    .updateTable("day_zones")
    .set({ packed_from: null, packed_before: null })
    .where("organization_id", "=", owner)
    .execute();
}

/** Visits since `kept_since` are complete. The packed days are null before the first one is packed. */
export type VisitDays = { kept_since: Date; packed_from: string | null; packed_before: string | null };

export async function findVisitDays(db: Db, owner: OrganizationId): Promise<VisitDays> {
  const row = await db
    .selectFrom("day_zones")
    .select(["kept_since", "packed_from", "packed_before"])
    .where("organization_id", "=", owner)
    .executeTakeFirst();
  assert(row, "an organization has a row in day_zones");
  return row;
}

/** Organizations with days to pack. The only statement on all of them. */
export async function listUnpacked(db: Db, before: string): Promise<OrganizationId[]> {
  const { rows } = await sql<{ organization_id: OrganizationId }>`
    select organization_id from day_zones
    where packed_before is null or packed_before < ${before}::date or packed_from > ${FIRST_DAY}::date
    union
    select organization_id from visit_packs where data is null
    order by organization_id`.execute(db);
  return rows.map((row) => row.organization_id);
}

/** Days of the range on which a visit started. */
export async function listVisitedDays(
  db: Db,
  owner: OrganizationId,
  { from, before }: { from: string; before: string },
): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select ${utcDay(sql`start`)} as day
    from generate_series(${utcStart(sql`${from}::date`)}, ${utcStart(sql`(${before}::date - 1)`)}, interval '24 hours') start
    where exists (
      select from funnel_visits
      where organization_id = ${owner} and started_at >= start and started_at < start + interval '24 hours'
    )`.execute(db);
  return rows.map(({ day }) => day);
}

/** The last day before the given one on which a visit started. */
export async function findVisitedDayBefore(db: Db, owner: OrganizationId, day: string): Promise<string | null> {
  const { rows } = await sql<{ day: string | null }>`
    select ${utcDay(sql`max(started_at)`)} as day from funnel_visits
    where organization_id = ${owner} and started_at < ${utcStart(sql`${day}::date`)}`.execute(db);
  return rows[0]?.day ?? null;
}

/** Newest first. */
export async function listOutdatedDays(db: Db, owner: OrganizationId): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select day from visit_packs where organization_id = ${owner} and data is null order by day desc`.execute(db);
  return rows.map(({ day }) => day);
}

/** Keeps the day's row from being deleted until the transaction ends. Null if it is not outdated. */
export async function findChanges(transaction: Db, owner: OrganizationId, day: string): Promise<number | null> {
  await sql`select from day_zones where organization_id = ${owner} for key share`.execute(transaction);
  const row = await transaction
    .selectFrom("visit_packs")
    .select("changes")
    .where("organization_id", "=", owner)
    .where("day", "=", day)
    .where("part", "=", 0)
    .where("data", "is", null)
    .executeTakeFirst();
  return row?.changes ?? null;
}

type Part = { day: string; part: number; lastAt: Date | null; data: Buffer<ArrayBuffer> };

/** A part after the first. */
export async function saveLaterPart(transaction: Db, owner: OrganizationId, saved: Part): Promise<void> {
  assert(saved.part > 0, "part 0 is saved last");
  const { day, part, lastAt: last_at, data } = saved;
  await transaction
    .insertInto("visit_packs")
    .values({ organization_id: owner, day, part, changes: 0, last_at, data })
    .onConflict((conflict) =>
      conflict.columns(["organization_id", "day", "part"]).doUpdateSet({ last_at, data, changes: 0 }),
    )
    .execute();
}

/** Makes the day valid. False if its visits have changed meanwhile, or another process has packed them: then the transaction must be rolled back. */
export async function saveFirstPart(
  transaction: Db,
  owner: OrganizationId,
  { day, changes, parts, lastAt, data }: Omit<Part, "part"> & { changes: number; parts: number },
): Promise<boolean> {
  await sql`delete from visit_packs where organization_id = ${owner} and day = ${day}::date and part >= ${Math.max(1, parts)}`.execute(
    transaction,
  );
  const { numUpdatedRows } = await transaction
    .updateTable("visit_packs")
    .set({ last_at: lastAt, data })
    .where("organization_id", "=", owner)
    .where("day", "=", day)
    .where("part", "=", 0)
    .where("changes", "=", changes)
    .where("data", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
