import type { Deps } from "../deps.ts";
import { openSchedulingSystem } from "../scheduler/open-system.ts";
import { findBookableWidget } from "../widgets/bookable-widget.ts";
import { deleteSettledPending, type PendingBooking, takeOverdue } from "./pending-queries.ts";
import { settleConfirmed, settleFailed } from "./settle-booking.ts";

const BATCH = 50;
/** How long one worker has to look a batch up before another may. */
const LOOKING_MS = 120_000;
const KEYS_KEPT_MS = 24 * 3_600_000;
const DELETE_BATCH = 500;

type OverdueDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics" | "scheduler">;

/**
 * Background task: requests to book whose process ended before they were settled, or whose outcome was lost. The scheduling
 * system is asked for the reference: there, the booking is kept and sent late; not there, it failed. A system that cannot be
 * asked is asked again, for a quarter of an hour.
 */
export async function settleOverdue(deps: OverdueDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  const overdue = await takeOverdue(deps.db, { now, askingUntil: new Date(now.getTime() + LOOKING_MS), limit: BATCH });
  for (const pending of overdue) {
    if (signal.aborted) return;
    await settleOne(deps, pending, signal);
  }
  await deleteSettledPending(deps.db, { settledBefore: new Date(now.getTime() - KEYS_KEPT_MS), limit: DELETE_BATCH });
}

async function settleOne(deps: OverdueDeps, pending: PendingBooking, signal: AbortSignal): Promise<void> {
  const { organization_id: owner, reference, widget_id: widgetId, touch, copy } = pending;
  const about = { owner, reference, widgetId, touch };
  const widget = await findBookableWidget(deps.db, widgetId);
  const sought = { reference, serviceId: pending.service_id, startAt: pending.start_at };
  const found = widget ? await (await openSchedulingSystem(deps, widget)).findByReference(sought, signal) : null;
  if (found?.kind === "found") {
    // Without a copy the visitor's zone is not known, and nobody is told any more: UTC stands in for it.
    await settleConfirmed(deps, { ...about, booked: found.value, timeZone: copy?.timeZone ?? "UTC", copy });
  } else if (found?.kind === "absent" || deps.clock.now() >= pending.given_up_at) {
    await settleFailed(deps, { ...about, failure: "unavailable" });
  }
}
