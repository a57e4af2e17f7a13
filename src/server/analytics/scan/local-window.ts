import { sql } from "kysely";
import { DAY_MS, SECOND_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { localDay } from "../../funnel/record/local-day.ts";
import { assert } from "../../lib/assert.ts";

// A window of local days as instants, for counting visits. The offsets are those that the organization's counters were made
// with (day_zones.rules), so both give the same days, even while a change of time zone is being counted.

type Offset = { fromMs: number; untilMs: number; seconds: number };

export type LocalWindow = {
  zone: string;
  /** First instant, and the first one after; equal if no day of the window is kept. */
  startMs: number;
  endMs: number;
  /** The offsets between the two, oldest first. */
  offsets: readonly Offset[];
};

export type WindowDays = {
  from: string;
  to: string;
  keptSince: Date;
  /** Leaves out what happened on the last day at this time of day or later. */
  untilTime?: TimeOfDay | undefined;
};

/** Milliseconds since local midnight. */
export type TimeOfDay = number;

type ZoneRow = { zone: string; oldest_day: string; offsets: { from_ms: number; until_ms: number; seconds: number }[] };

/** Clocks are at most 14 hours ahead of UTC and 12 behind it; a day is enough for both. */
const MARGIN_MS = 2 * DAY_MS;

export async function resolveWindow(db: Db, owner: OrganizationId, days: WindowDays): Promise<LocalWindow> {
  const [fromMs, toMs] = [Date.parse(days.from), Date.parse(days.to) + DAY_MS];
  const margin = { from: new Date(fromMs - MARGIN_MS), until: new Date(toMs + MARGIN_MS) };
  const { rows } = await sql<ZoneRow>`-- prepared: resolve_window
    select zone,
      ${localDay(sql`day_zones.rules`, sql`greatest(${days.keptSince}::timestamptz, kept_since)`)}::text as oldest_day,
      (
        select json_agg(json_build_object(
          'from_ms', date_part('epoch', greatest(from_at, ${margin.from}::timestamptz)) * 1000,
          'until_ms', date_part('epoch', least(until_at, ${margin.until}::timestamptz)) * 1000,
          'seconds', date_part('epoch', shift)
        ) order by from_at)
        from zone_offsets
        where zone_offsets.rules = day_zones.rules and from_at < ${margin.until}::timestamptz
          and until_at > ${margin.from}::timestamptz
      ) as offsets
    from day_zones where organization_id = ${owner}`.execute(db);
  const [row] = rows;
  assert(row, "an organization has a row in day_zones");
  const firstMs = Date.parse(row.oldest_day > days.from ? row.oldest_day : days.from);
  const lastMs = days.untilTime === undefined ? toMs : toMs - DAY_MS + days.untilTime;
  // Each offset has its own part of the local window. Together they are contiguous unless clocks went back around midnight.
  const offsets = row.offsets
    .map(({ from_ms, until_ms, seconds }) => ({
      fromMs: Math.max(from_ms, firstMs - seconds * SECOND_MS),
      untilMs: Math.min(until_ms, lastMs - seconds * SECOND_MS),
      seconds,
    }))
    .filter(({ fromMs, untilMs }) => fromMs < untilMs);
  const startMs = offsets[0]?.fromMs ?? fromMs;
  return { zone: row.zone, startMs, endMs: offsets.at(-1)?.untilMs ?? startMs, offsets };
}
