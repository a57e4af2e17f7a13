import type { Deps } from "../deps.ts";
import { within } from "../lib/pause.ts";
import { measureUnsettled } from "./unsettled-queries.ts";

/** Monitoring must not hang where the database does. */
const MEASURE_LIMIT_MS = 2_000;

/** Sets the gauges of bookings that wait for their outcome; to no number where the database cannot say. */
export async function observeBookings(deps: Pick<Deps, "db" | "clock" | "metrics" | "log">): Promise<void> {
  const measured = within(MEASURE_LIMIT_MS, measureUnsettled(deps.db, deps.clock.now()));
  const measure = await measured.catch((error: unknown) => {
    deps.log.warn("bookings.measure_failed", { error });
    return null;
  });
  deps.metrics.bookingsUnsettled.set(measure?.count ?? Number.NaN);
  deps.metrics.bookingsOldestUnsettledSeconds.set(measure?.oldest_seconds ?? Number.NaN);
}
