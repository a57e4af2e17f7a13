import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { acrossOrganizations } from "../../db/transactions.ts";
import type { Deps } from "../../deps.ts";
import { openConnection, openSchedulingSystem } from "../../scheduler/open-system.ts";
import type { SchedulerDeps } from "../../scheduler/scheduler-deps.ts";
import type { SchedulingSystem } from "../../scheduler/scheduling-system.ts";
import { freeReferences } from "../stored/queries.ts";
import { SEARCH_MS } from "./make-booking.ts";
import { deleteSettledPending, type PendingBooking, takeOverdue } from "./pending-queries.ts";
import { settleConfirmed, settleFailed } from "./settle-booking.ts";

const BATCH = 50;
const CONCURRENCY = 10;
/** How long a worker has for a batch before another may claim it. A batch of silent systems takes a third of this. */
const LOOKING_MS = 2 * MINUTE_MS;
/** If nobody looked for a request for this long, because no worker was running or many waited, it gets the full time again. */
const UNATTENDED_MS = 5 * MINUTE_MS;
const KEYS_KEPT_MS = DAY_MS;
const DELETE_BATCH = 500;
/** Without a copy the visitor's time zone is unknown. It is not recorded either, so this never reaches anyone. */
const UNKNOWN_ZONE = "UTC";

type OverdueDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics"> & { readonly scheduler: SchedulerDeps };

/**
 * Background task: settles booking requests whose process ended or whose outcome was lost. It looks the reference up in the
 * scheduling system. If the booking is there, it is stored and sent late; if not, it failed. A system that doesn't answer is
 * asked again for a quarter of an hour, which starts again if no worker was running meanwhile.
 */
export async function settleOverdue(deps: OverdueDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  const overdue = await takeOverdue(deps.db, {
    now,
    askingUntil: new Date(now.getTime() + LOOKING_MS),
    unattendedSince: new Date(now.getTime() - UNATTENDED_MS),
    searchUntil: new Date(now.getTime() + SEARCH_MS),
    limit: BATCH,
  });
  const waiting = overdue.values();
  const settleWaiting = async () => {
    for (const pending of waiting) {
      if (signal.aborted) return;
      await settleSafely(deps, pending, signal);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, settleWaiting));
  const settledBefore = new Date(now.getTime() - KEYS_KEPT_MS);
  while (!signal.aborted && (await forgetSettled(deps, settledBefore)) === DELETE_BATCH);
}

/**
 * Forgets a batch of old Idempotency-Keys, and returns how many. The reference of a failed booking becomes free again, unless an
 * appointment may have it.
 */
async function forgetSettled({ db }: OverdueDeps, settledBefore: Date): Promise<number> {
  return await acrossOrganizations(db, async (transaction) => {
    const forgotten = await deleteSettledPending(transaction, { settledBefore, limit: DELETE_BATCH });
    const unused = forgotten.filter(({ failure }) => failure !== null && failure !== "lost");
    for (const [owner, requests] of Map.groupBy(unused, ({ organization_id }) => organization_id)) {
      const references = requests.map(({ reference }) => reference);
      await freeReferences(transaction, owner, references);
    }
    return forgotten.length;
  });
}

/** A request that can't be settled is logged and claimed again later, so that it doesn't hold up the others. */
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
  const booking = { owner, reference, widgetId, touch };
  const sought = { reference, serviceId: pending.service_id, startAt: pending.start_at };
  const system = await openAskedSystem(deps, pending);
  const found = system && (await system.findByReference(sought, signal));
  if (system && found?.kind === "found") {
    const isTest = system.mode !== "live";
    await settleConfirmed(deps, { ...booking, booked: found.value, timeZone: copy?.timeZone ?? UNKNOWN_ZONE, isTest });
    return;
  }
  // A lookup that was broken off, because this process is ending, says nothing about the booking.
  const isGivenUp = !signal.aborted && deps.clock.now() >= pending.given_up_at;
  if (found?.kind === "absent" || isGivenUp) await settleFailed(deps, { ...booking, failure: "lost" });
}

/** The system that was asked, even if the widget uses another one now. Null if that connection was deleted. */
async function openAskedSystem(
  deps: OverdueDeps,
  { organization_id: organizationId, widget_id: id, asked_in: askedIn }: PendingBooking,
): Promise<SchedulingSystem | null> {
  if (askedIn === "sandbox") return await openSchedulingSystem(deps, { id, organizationId, connectionId: null });
  return await openConnection(deps, organizationId, askedIn);
}
