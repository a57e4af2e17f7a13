import assert from "node:assert/strict";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { ALL_HOURS, SPAN_DAYS } from "../../../src/server/analytics/packs/pack-queries.ts";
import { readVisits } from "../../../src/server/analytics/packs/read-visits.ts";
import {
  addEncoded,
  addPack,
  createTotals,
  encodeTotals,
  type Totals,
  type TotalsBytes,
  type WidgetTotals,
} from "../../../src/server/analytics/packs/totals.ts";
import type { VisitPack } from "../../../src/server/analytics/packs/visit-pack.ts";
import { decodePack } from "../../../src/server/analytics/packs/visit-pack.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";

type Day = { day: string; outdated: number; packed_hours: number; parts: Part[] };
type Part = { hours: number; visits: number; last_at: Date | null; pack: VisitPack };

export async function listPackedDays(db: Db, owner: OrganizationId): Promise<Day[]> {
  const days = await db
    .selectFrom("visit_days")
    .select(["day", "outdated", "packed_hours"])
    .where("organization_id", "=", owner)
    .orderBy("day")
    .execute();
  const parts = await db
    .selectFrom("visit_packs")
    .select(["day", "hours", "visits", "last_at", "data"])
    .where("organization_id", "=", owner)
    .orderBy("part")
    .execute();
  return days.map((day) => ({
    ...day,
    parts: parts
      .filter((part) => part.day === day.day)
      .map(({ data, ...part }) => ({ ...part, pack: decodePack(Date.parse(day.day), data) })),
  }));
}

/** "day: visits" of each day whose packs are all valid; "day: outdated" otherwise. Days that are not over have their hours behind. */
export async function describePacks(db: Db, owner: OrganizationId): Promise<string[]> {
  return (await listPackedDays(db, owner)).map(({ day, outdated, packed_hours, parts }) => {
    if (outdated !== 0) return `${day}: outdated`;
    const visits = parts.reduce((sum, part) => sum + part.visits, 0);
    return packed_hours === 24 ? `${day}: ${visits}` : `${day}: ${visits} in ${packed_hours} hours`;
  });
}

/** Every valid pack has exactly the visits of its hours, every valid total is their sum, and covered days with visits are known. */
export async function assertPacksValid(db: Db, owner: OrganizationId): Promise<void> {
  const days = await listPackedDays(db, owner);
  const sums = new Map<string, WidgetTotals>();
  for (const { day, outdated, packed_hours, parts } of days) {
    const valid = parts.filter(({ hours }) => (hours & outdated) === 0);
    const made = await listVisits(db, owner, { day, hours: valid.reduce((all, { hours }) => all | hours, 0) });
    assert.deepEqual(
      valid.flatMap(({ pack }) => listPlain(pack)).sort(),
      made.flatMap(listPlain).sort(),
      `pack of ${day}`,
    );
    if (outdated !== 0 || packed_hours < 24) continue;
    assert.equal(
      parts.reduce((all, { hours }) => all | hours, 0),
      ALL_HOURS,
      day,
    );
    const totals: WidgetTotals = new Map();
    for (const pack of made) addPack(totals, pack);
    sums.set(day, totals);
    assert.deepEqual(await listTotals(db, owner, { days: 1, start: day }), toPlainTotals(totals), `totals of ${day}`);
  }
  for (const start of await listSpans(db, owner)) {
    const last = new Date(Date.parse(start) + (SPAN_DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
    const within = days.filter(({ day }) => day >= start && day <= last);
    if (within.some(({ day }) => !sums.has(day))) continue;
    const totals: WidgetTotals = new Map();
    for (const { day } of within)
      for (const [widget, ofDay] of sums.get(day) ?? []) {
        const sum = totals.get(widget) ?? createTotals();
        addEncoded(sum, encodeTotals(ofDay));
        totals.set(widget, sum);
      }
    assert.deepEqual(
      await listTotals(db, owner, { days: SPAN_DAYS, start }),
      toPlainTotals(totals),
      `span of ${start}`,
    );
  }
  const { rows } = await sql<{ day: string }>`
    select distinct (started_at at time zone 'UTC')::date as day
    from funnel_visits join visit_progress using (organization_id)
    where organization_id = ${owner} and started_at < packed_before`.execute(db);
  const known = new Set(days.map(({ day }) => day));
  assert.deepEqual(
    rows.map(({ day }) => day).filter((day) => !known.has(day)),
    [],
    "covered days with visits are known",
  );
}

async function listVisits(
  db: Db,
  owner: OrganizationId,
  { day, hours }: { day: string; hours: number },
): Promise<VisitPack[]> {
  const condition = sql`${hours}::integer & (1 << date_part('hour', started_at at time zone 'UTC')::integer) <> 0`;
  const fromMs = Date.parse(day);
  const packs: VisitPack[] = [];
  for await (const { pack } of readVisits(db, owner, { fromMs, untilMs: fromMs + DAY_MS, condition })) packs.push(pack);
  return packs;
}

async function listSpans(db: Db, owner: OrganizationId): Promise<string[]> {
  const rows = await db
    .selectFrom("visit_totals")
    .select("start")
    .distinct()
    .where("organization_id", "=", owner)
    .where("days", "=", SPAN_DAYS)
    .execute();
  return rows.map(({ start }) => start);
}

async function listTotals(db: Db, owner: OrganizationId, { days, start }: { days: number; start: string }) {
  const rows = await db
    .selectFrom("visit_totals")
    .select(["widget_id", "counts", "keys"])
    .where("organization_id", "=", owner)
    .where("days", "=", days)
    .where("start", "=", start)
    .execute();
  return toPlainTotals(new Map(rows.map(({ widget_id, ...bytes }) => [widget_id, decodeTotals(bytes)])));
}

/** The same for the same totals, however their maps are ordered. */
function toPlainTotals(totals: WidgetTotals) {
  const sorted = <Value>(map: ReadonlyMap<unknown, Value>) => [...map].map((entry) => JSON.stringify(entry)).sort();
  const toPlain = ({ views, bookings, keys, ...counts }: Totals) => ({
    ...counts,
    views: sorted(views),
    bookings: sorted(bookings),
    keys: [...keys].map(([dimension, list]) => [dimension, sorted(list)]),
  });
  return Object.fromEntries([...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, each]) => [id, toPlain(each)]));
}

/** Each visit as a text, whatever part it is in. */
function listPlain({ dayMs, starts, stages, keys, widgets, bookings, failures }: VisitPack): string[] {
  const findValue = ({ places, values }: VisitPack["widgets"] | VisitPack["keys"]["channel"], i: number) =>
    values[places[i] as number];
  return Array.from(starts, (start, visit) =>
    JSON.stringify([
      dayMs + start,
      stages[visit],
      Object.values(keys).map((column) => findValue(column, visit)),
      findValue(widgets, visit),
      [...bookings.visits.keys()]
        .filter((i) => bookings.visits[i] === visit)
        .map((i) => [bookings.atMs[i], bookings.leadMs[i], findValue(bookings.services, i)])
        .sort(),
      [...failures.visits.keys()].filter((i) => failures.visits[i] === visit).map((i) => failures.atMs[i]),
    ]),
  );
}

export function decodeTotals(bytes: TotalsBytes): Totals {
  const totals = createTotals();
  addEncoded(totals, bytes);
  return totals;
}
