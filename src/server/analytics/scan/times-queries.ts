import { sql } from "kysely";
import { LEAD_DAYS } from "#contract/app/analytics.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";
import { fromBooked, fromViewed, hourNumber, type Scan, startedAt } from "./visit-scan.ts";

const HOURS_OF_WEEK = 7 * 24;
/** 1 January 1970 was a Thursday; hours of a week are counted from Monday. */
const HOURS_FROM_MONDAY = 3 * 24;

type TimesRow = {
  view_hours: number[];
  views: number[];
  booking_hours: number[];
  bookings: number[];
  lead_times: number[];
};

type ScannedTimes = { views: number[][]; bookings: number[][]; leadTimes: number[] };

/** Views and bookings by weekday and hour, and bookings by lead time. */
export async function scanTimes(db: Db, scan: Scan): Promise<ScannedTimes> {
  const { window } = scan;
  const weekHour = (hour: typeof startedAt) =>
    sql`(${hourNumber(hour, window)} + ${sql.lit(HOURS_FROM_MONDAY)}) % ${sql.lit(HOURS_OF_WEEK)}`;
  const limits = sql.join(LEAD_DAYS.map((days) => sql.lit(days * DAY_MS)));
  const { rows } = await sql<TimesRow>`
    with viewed as materialized (
      select hour, count(*)::integer as views from (select ${weekHour(startedAt)} as hour ${fromViewed(scan)}) visit group by hour
    ), booked as materialized (
      select hour, lead_group, count(*)::integer as bookings
      from (
        select ${weekHour(sql`at`)} as hour, width_bucket(lead_ms, array[${limits}]::float8[]) as lead_group
        ${fromBooked(scan)}
      ) booking
      group by grouping sets ((hour), (lead_group))
    )
    select
      array(select hour from viewed order by hour) as view_hours,
      array(select views from viewed order by hour) as views,
      array(select hour from booked where hour is not null order by hour) as booking_hours,
      array(select bookings from booked where hour is not null order by hour) as bookings,
      array(
        select coalesce((select bookings from booked where hour is null and lead_group = number), 0)
        from generate_series(0, ${sql.lit(LEAD_DAYS.length)}) number order by number
      ) as lead_times`.execute(db);
  const [row] = rows;
  assert(row, "a select of arrays gives one row");
  return {
    views: toWeek(row.view_hours, row.views),
    bookings: toWeek(row.booking_hours, row.bookings),
    leadTimes: row.lead_times,
  };
}

function toWeek(hours: readonly number[], counts: readonly number[]): number[][] {
  const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0));
  hours.forEach((hour, i) => {
    const day = week[Math.floor(hour / 24)];
    if (day) day[hour % 24] = counts[i] ?? 0;
  });
  return week;
}
