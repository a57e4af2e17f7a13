import assert from "node:assert/strict";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../../src/server/db/pool.ts";
import { decodePack } from "../../../src/server/funnel/packs/pack-format.ts";
import { readVisits } from "../../../src/server/funnel/packs/read-visits.ts";
import type { VisitPack } from "../../../src/server/funnel/packs/visit-pack.ts";

type PackRow = { day: string; part: number; last_at: Date | null; data: Buffer<ArrayBuffer> | null };

export async function listPackRows(db: Db, owner: OrganizationId): Promise<PackRow[]> {
  return await db
    .selectFrom("visit_packs")
    .select(["day", "part", "last_at", "data"])
    .where("organization_id", "=", owner)
    .orderBy("day")
    .orderBy("part")
    .execute();
}

/** "day: visits" of each packed day, or "day: outdated". */
export async function describePacks(db: Db, owner: OrganizationId): Promise<string[]> {
  const days = Map.groupBy(await listPackRows(db, owner), ({ day }) => day);
  return [...days].map(([day, parts]) => {
    if (parts[0]?.data === null) return `${day}: outdated`;
    const packs = parts.map(({ data }) => decodePack(Date.parse(day), data as Buffer<ArrayBuffer>));
    return `${day}: ${packs.reduce((sum, { starts }) => sum + starts.length, 0)}`;
  });
}

/** Every valid pack has exactly the visits of its day, and every packed day with visits has a pack. */
export async function assertPacksValid(db: Db, owner: OrganizationId): Promise<void> {
  const days = Map.groupBy(await listPackRows(db, owner), ({ day }) => day);
  for (const [day, parts] of days) {
    if (parts[0]?.data === null) continue;
    const dayMs = Date.parse(day);
    const made: { pack: VisitPack; lastAt: Date | null }[] = [];
    for await (const read of readVisits(db, owner, { fromMs: dayMs, untilMs: dayMs + DAY_MS })) made.push(read);
    assert.deepEqual(
      parts
        .map(({ data }) => toPlain(decodePack(dayMs, data as Buffer<ArrayBuffer>)))
        .filter(({ starts }) => starts.length > 0),
      made.map(({ pack }) => toPlain(pack)),
      `pack of ${day}`,
    );
    if (made.length > 0)
      assert.deepEqual(
        parts.map(({ last_at }) => last_at),
        made.map(({ lastAt }) => lastAt),
      );
  }
  const { rows } = await sql<{ day: string }>`
    select distinct (started_at at time zone 'UTC')::date as day
    from funnel_visits join day_zones using (organization_id)
    where organization_id = ${owner} and (started_at at time zone 'UTC')::date >= packed_from
      and (started_at at time zone 'UTC')::date < packed_before`.execute(db);
  assert.deepEqual(
    rows.map(({ day }) => day).filter((day) => !days.has(day)),
    [],
    "packed days with visits have a pack",
  );
}

/** Numbers and texts in plain arrays, however they are stored. */
function toPlain({ dayMs, starts, stages, keys, widgets, bookings, failures }: VisitPack) {
  const toValues = ({ places, values }: VisitPack["widgets"] | VisitPack["keys"]["channel"]) =>
    Array.from(places, (place) => values[place]);
  return {
    dayMs,
    starts: [...starts],
    stages: [...stages],
    keys: Object.entries(keys).map(([kind, column]) => [kind, toValues(column)]),
    widgets: toValues(widgets),
    bookings: [[...bookings.visits], [...bookings.atMs], [...bookings.leadMs], toValues(bookings.services)],
    failures: [[...failures.visits], [...failures.atMs]],
  };
}
