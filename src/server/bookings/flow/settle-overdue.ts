import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { Deps } from "../../deps.ts";
import { openConnection, openSchedulingSystem } from "../../scheduler/open-system.ts";
import type { SchedulerDeps } from "../../scheduler/scheduler-deps.ts";
import type { SchedulingSystem } from "../../scheduler/scheduling-system.ts";
import { deleteSettledPending, type PendingBooking, takeOverdue } from "./pending-queries.ts";
import { settleConfirmed, settleFailed } from "./settle-booking.ts";

const BATCH = 50;
const SIDE_BY_SIDE = 10;
/** How long one worker has to look a batch up before another may. Systems that all stay silent take a third of it. */
const LOOKING_MS = 2 * MINUTE_MS;
const KEYS_KEPT_MS = DAY_MS;
const DELETE_BATCH = 500;

type OverdueDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics"> & { readonly scheduler: SchedulerDeps };

/**
 * Background task: requests to book whose process ended before they were settled, or whose outcome was lost. The scheduling
 * system is asked for the reference: there, the booking is kept and sent late; not there, it failed. A system that cannot be
 * asked is asked again, for a quarter of an hour.
 */
export async function settleOverdue(deps: OverdueDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  await deleteSettledPending(deps.db, { settledBefore: new Date(now.getTime() - KEYS_KEPT_MS), limit: DELETE_BATCH });
  const overdue = await takeOverdue(deps.db, { now, askingUntil: new Date(now.getTime() + LOOKING_MS), limit: BATCH });
  const waiting = overdue.values();
  const settleWaiting = async () => {
    for (const pending of waiting) {
      if (signal.aborted) return;
      await settleSafely(deps, pending, signal);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, settleWaiting));
}

/** One that cannot be settled is logged and looked for again; the others do not wait for it. */
async function settleSafely(deps: OverdueDeps, pending: PendingBooking, signal: AbortSignal): Promise<void> {
  try {
    await settleOne(deps, pending, signal);
  } catch (error) {
    const { organization_id: organizationId, widget_id: widgetId } = pending;
    deps.log.error("booking.settle_failed", { organizationId, widgetId, error });
  }
}

async function settleOne(deps: OverdueDeps, pending: PendingBooking, signal: AbortSignal): Promise<void> {
  const { organization_id: owner, reference, widget_id: widgetId, touch, copy } = pending;
  const about = { owner, reference, widgetId, touch };
  const sought = { reference, serviceId: pending.service_id, startAt: pending.start_at };
  const system = await openAskedSystem(deps, pending);
  const found = system && (await system.findByReference(sought, signal));
  if (found?.kind === "found") {
    // Without a copy the visitor's zone is not known, and nobody is told any more: UTC stands in for it.
    await settleConfirmed(deps, { ...about, booked: found.value, timeZone: copy?.timeZone ?? "UTC" });
  } else if (found?.kind === "absent" || deps.clock.now() >= pending.given_up_at) {
    await settleFailed(deps, { ...about, failure: "unavailable" });
  }
}

/** The system that was asked, even if the widget uses another one by now. Null when that connection was deleted. */
async function openAskedSystem(
  deps: OverdueDeps,
  { organization_id: organizationId, widget_id: id, asked_in: askedIn }: PendingBooking,
): Promise<SchedulingSystem | null> {
  if (askedIn === "sandbox") return await openSchedulingSystem(deps, { id, organizationId, connectionId: null });
  return await openConnection(deps, organizationId, askedIn);
}
