import type { Deps } from "../../deps.ts";
import { measureInTime } from "../../lib/log/measure.ts";
import { measureUnsettledAcrossOrganizations } from "./pending-queries.ts";

/** Sets the gauges of unsettled bookings; to NaN when the database doesn't answer. */
export async function observeBookings(deps: Pick<Deps, "db" | "clock" | "metrics" | "log">): Promise<void> {
  const measuring = measureUnsettledAcrossOrganizations(deps.db, deps.clock.now());
  const measure = await measureInTime(deps, { failed: "bookings.measure_failed", measuring });
  deps.metrics.bookingsUnsettled.set(measure?.count ?? Number.NaN);
  deps.metrics.bookingsOldestUnsettledSeconds.set(measure?.oldest_seconds ?? Number.NaN);
}
