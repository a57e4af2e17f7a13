import { PLAN_TERMS } from "#contract/plans.ts";
import { deleteExpiredBookings } from "../bookings/queries.ts";
import type { Deps } from "../deps.ts";
import { retentionCutoff } from "../lib/calendar.ts";
import { listOrganizations } from "../organizations/queries.ts";

/** Small enough that a batch commits within milliseconds and a booking being stored never waits for it. */
const BATCH_ROWS = 500;

/** Deletes what has outlived its plan's retention, organization by organization, in batches of their own transactions. */
export async function sweepExpired(
  deps: Pick<Deps, "db" | "clock" | "metrics">,
  signal?: AbortSignal,
): Promise<{ bookings: number }> {
  let bookings = 0;
  for (const { id, plan } of await listOrganizations(deps.db)) {
    const createdBefore = retentionCutoff(PLAN_TERMS[plan].retention, deps.clock.now());
    let deleted = BATCH_ROWS;
    while (deleted === BATCH_ROWS && !signal?.aborted) {
      deleted = await deleteExpiredBookings(deps.db, id, { createdBefore, limit: BATCH_ROWS });
      bookings += deleted;
    }
  }
  deps.metrics.expiredRows.inc({ kind: "booking" }, bookings);
  return { bookings };
}
