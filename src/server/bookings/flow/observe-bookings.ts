import { sql } from "kysely";
import type { Db } from "../../db/connections/pool.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { measureInTime } from "../../lib/log/measure.ts";

/** Sets the gauges of unsettled bookings; to NaN when the database doesn't answer. */
export async function observeBookings(deps: Pick<Deps, "db" | "clock" | "metrics" | "log">): Promise<void> {
  const measuring = measureUnsettled(deps.db, deps.clock.now());
  const measure = await measureInTime(deps, { failed: "bookings.measure_failed", measuring });
  deps.metrics.bookingsUnsettled.set(measure?.count ?? Number.NaN);
  deps.metrics.bookingsOldestUnsettledSeconds.set(measure?.oldest_seconds ?? Number.NaN);
}

type UnsettledMeasure = { count: number; oldest_seconds: number };

/** A total across all organizations, served by the index pending_bookings_asking. */
async function measureUnsettled(db: Db, now: Date): Promise<UnsettledMeasure> {
  const { rows } = await sql<UnsettledMeasure>`
    select count(*)::float8 as count,
      greatest(0, coalesce(extract(epoch from ${now}::timestamptz - min(created_at)), 0))::float8 as oldest_seconds
    from pending_bookings where state = 'asking'`.execute(db);
  const [row] = rows;
  assert(row, "a select without group by gives one row");
  return row;
}
