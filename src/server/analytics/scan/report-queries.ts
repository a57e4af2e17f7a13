import { type RawBuilder, sql } from "kysely";
import { FUNNEL_STEPS } from "#contract/steps.ts";
import type { Db } from "../../db/pool.ts";
import { furthest } from "../../funnel/record/counters.ts";
import { KEY_KINDS, toKindNumber } from "../../funnel/record/key-id.ts";
import { assert } from "../../lib/assert.ts";
import { type KeyList, listKeys, listWidgets } from "../lists.ts";
import {
  type CountedWindow,
  countDays,
  countKeys,
  countWidgets,
  type DayCounts,
  type DayRow,
  dayTotals,
  toCounts,
} from "../queries.ts";
import {
  binToDay,
  dayNumber,
  fromBooked,
  fromConverted,
  fromViewed,
  hourNumber,
  type Scan,
  startBin,
  startedAt,
} from "./visit-scan.ts";

/** What a report shows of the visits and bookings that match the filters, except its lists. */
export type ScannedDays = {
  /** Local days since 1970 with visits, and how many started; the same for bookings. */
  view_days: number[];
  day_views: number[];
  booking_days: number[];
  day_bookings: number[];
  /** Visits by furthest step, in the order of FUNNEL_STEPS. */
  reached: number[];
  no_availability: number;
  failed: number;
  lead_ms: number;
  lead_count: number;
};

const keys = sql.join(KEY_KINDS.map((kind) => sql.ref(kind)));
const kinds = sql.join(KEY_KINDS.map((kind) => sql`(${sql.lit(toKindNumber(kind))}, ${sql.ref(kind)})`));

/**
 * Everything a report shows of the visits that match the filters, from one scan of the window's visits. Where more than half of
 * them match, it is faster to count those that do not, and to take them from the counters: `base` is what these are asked for.
 */
export async function scanReport(
  db: Db,
  scan: Scan,
  { rowsMax, base }: { rowsMax: number; base: CountedWindow | null },
): Promise<ScannedDays & { lists: KeyList[]; base: DayCounts | null }> {
  const { owner } = scan;
  const sign = base ? sql`-` : sql``;
  const countBase = base
    ? sql`${countDays(owner, base)}, ${countKeys(owner, base, sql`kind <= ${sql.lit(KEY_KINDS.length)}`, "base_keys")},
      ${countWidgets(owner, base, "base_widgets")},`
    : sql``;
  const { rows } = await sql<ScannedDays & { lists: KeyList[]; base: DayRow | null }>`
    with ${countBase} ${groupVisits({ ...scan, isComplement: base !== null }, KEY_SETS)}, parts as (
      select ${keys}, widget_id, views, bookings from viewed where bin is null
      union all select ${keys}, widget_id, views, bookings from booked where day is null
    ), key_counts as materialized (
      select kind, id, sum(views) as views, sum(bookings) as bookings
      from (
        select kind, id, ${sign} views as views, ${sign} bookings as bookings
        from parts cross join lateral (values ${kinds}) keyed (kind, id) where id is not null
        ${base ? sql`union all select kind, id, views, bookings from base_keys` : sql``}
      ) keyed
      group by kind, id having sum(views) <> 0 or sum(bookings) <> 0
    ), widget_counts as materialized (
      select widget_id, sum(views) as views, sum(bookings) as bookings
      from (
        select widget_id, ${sign} views as views, ${sign} bookings as bookings from parts where widget_id is not null
        ${base ? sql`union all select widget_id, views, bookings from base_widgets` : sql``}
      ) of_widgets
      group by widget_id having sum(views) <> 0 or sum(bookings) <> 0
    )
    select ${daySums},
      json_build_array(${sql.join(KEY_KINDS.map((kind) => listKeys({ owner, kind, rowsMax })))}, ${listWidgets(rowsMax)}) as lists,
      ${base ? sql`(select row_to_json(base) from (select zone, today::text as today, totals.* from span cross join (${dayTotals}) totals) base)` : sql`null`} as base
    from ${byDay}`.execute(db);
  const row = requireRow(rows);
  return { ...row, base: row.base && toCounts(row.base) };
}

/** The same without lists. */
export async function scanDays(db: Db, scan: Scan): Promise<ScannedDays> {
  const { rows } = await sql<ScannedDays>`with ${groupVisits(scan, STAGE_SET)} select ${daySums} from ${byDay}`.execute(
    db,
  );
  return requireRow(rows);
}

/** Groupings beside that by day. All columns of a set are null in the others' rows, and its first is null nowhere else. */
type GroupingSets = { columns: readonly string[]; views: RawBuilder<unknown>; bookings: RawBuilder<unknown> };

const STAGE_SET: GroupingSets = { columns: [], views: sql`(stage)`, bookings: sql`` };

/**
 * Keys that go together are grouped together: visits of one campaign have few sources. So four groupings do for eight
 * dimensions, and their groups are added up afterwards.
 */
const KEY_SETS: GroupingSets = {
  columns: [...KEY_KINDS, "widget_id"],
  views: sql`(channel, source, campaign), (page), (widget_id, device, country, stage)`,
  bookings: sql`, (channel, source, campaign), (page), (widget_id, device, country)`,
};

/**
 * CTEs `viewed` and `booked`: visits and bookings by day and by the other sets. `stage` is twice the furthest step, and one more
 * for visits that found no free times.
 */
function groupVisits(scan: Scan, sets: GroupingSets): RawBuilder<unknown> {
  const { window } = scan;
  const columns = sql.join(
    sets.columns.flatMap((name) => [sql`, ${sql.ref(name)}`]),
    sql``,
  );
  return sql`viewed as materialized (
      select bin, stage ${columns}, count(*) as views, 0 as bookings
      from (
        select ${startBin(window)} as bin, ${furthest} * 2 + (no_availability_at is not null)::integer as stage ${columns}
        ${fromViewed(scan)}
      ) visit
      group by grouping sets ((bin), ${sets.views})
    ), booked as materialized (
      select day ${columns}, 0 as views, count(at) as bookings, count(failed_at) as failed, sum(lead_ms) as lead_ms,
        count(lead_ms) as lead_count
      from (
        select coalesce(${dayNumber(sql`at`, window)}, -1) as day, at, failed_at, lead_ms ${columns} ${fromConverted(scan)}
      ) conversion
      group by grouping sets ((day) ${sets.bookings})
    )`;
}

const daySums = sql`view_days, day_views, booking_days, day_bookings, failed, lead_ms, lead_count,
      array(
        select coalesce((select sum(views) from viewed where stage / 2 = step), 0)::integer
        from generate_series(1, ${sql.lit(FUNNEL_STEPS.length)}) step order by step
      ) as reached,
      coalesce((select sum(views) from viewed where stage % 2 = 1), 0)::integer as no_availability`;

/** Day -1 has the failed attempts without a booking. */
const byDay = sql`(
      select coalesce(array_agg(${binToDay(sql`bin`)}), '{}') as view_days,
        coalesce(array_agg(views::integer), '{}') as day_views
      from viewed where bin is not null
    ) views_by_day cross join (
      select coalesce(array_agg(day) filter (where day >= 0), '{}') as booking_days,
        coalesce(array_agg(bookings::integer) filter (where day >= 0), '{}') as day_bookings,
        coalesce(sum(failed), 0)::integer as failed, coalesce(sum(lead_ms), 0)::float8 as lead_ms,
        coalesce(sum(lead_count), 0)::integer as lead_count
      from booked where day is not null
    ) bookings_by_day`;

export type HourCounts = { hour: number; views: number; bookings: number };

/** Views and bookings per local hour since 1970; hours without any are left out. */
export async function scanHours(db: Db, scan: Scan): Promise<HourCounts[]> {
  const { window } = scan;
  const { rows } = await sql<HourCounts>`
    select hour, sum(views)::integer as views, sum(bookings)::integer as bookings
    from (
      select ${hourNumber(startedAt, window)} as hour, 1 as views, 0 as bookings ${fromViewed(scan)}
      union all
      select ${hourNumber(sql`at`, window)}, 0, 1 ${fromBooked(scan)}
    ) parts
    group by hour order by hour`.execute(db);
  return rows;
}

function requireRow<Row>([row]: readonly Row[]): Row {
  assert(row, "sums without groups give one row");
  return row;
}
