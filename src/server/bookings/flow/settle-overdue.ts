import { MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import { LOOK_UPS_UNTIL_ABSENT } from "#contract/scheduling.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atEveryHome } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import {
  openConnection,
  openSchedulingSystem,
  type SchedulerDeps,
  type SchedulingSystem,
} from "../../scheduler/scheduler.ts";
import { freeReferences } from "../stored/queries.ts";
import {
  deleteSettledPendingAcrossOrganizations,
  type PendingBooking,
  takeOverdueAcrossOrganizations,
} from "./pending-queries.ts";
import { settleConfirmed, settleFailed } from "./settle-booking.ts";

const BATCH = 50;
const CONCURRENCY = 10;
/**
 * The pause after each look-up, and after all later ones the last. The first follows the visitor's own (settle-booking.ts), so they are
 * about 5, 15 and 60 seconds and 5, 15 and 30 minutes after the request.
 */
const PAUSES_MS = [10 * SECOND_MS, 45 * SECOND_MS, 4 * MINUTE_MS, 10 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS];
/** A day's. A system that has answered none of them is no longer asked. */
const LOOK_UPS_MAX = LOOK_UPS_UNTIL_ABSENT + 47;
/** After `settled_at`, which is a full hour: between 30 and 90 minutes. The row says which service was booked, and when it starts. */
const KEYS_KEPT_MS = 30 * MINUTE_MS;
const DELETE_BATCH = 500;
/** Without a copy the visitor's time zone is unknown. It is not recorded either, so this never reaches anyone. */
const UNKNOWN_ZONE = "UTC";

type OverdueDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics"> & { readonly scheduler: SchedulerDeps };

/**
 * Background task: settles booking requests whose process ended or whose outcome is uncertain. It looks for the reference in the
 * scheduling system again and again. If the booking is there, it is stored, counted and sent like any other, however late. If it
 * is still not there after half an hour, it failed. A system that doesn't answer is asked for a day. Look-ups are counted instead of
 * minutes, so nothing is given up early when the clock jumps or no worker is running.
 */
export async function settleOverdue(deps: OverdueDeps, signal: AbortSignal): Promise<void> {
  await atEveryHome(deps.db, async ({ writer }) => {
    const now = deps.clock.now();
    const next = PAUSES_MS.map((ms) => new Date(now.getTime() + ms));
    const overdue = await takeOverdueAcrossOrganizations(writer, {
      now,
      longestMs: Math.max(...PAUSES_MS),
      next,
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
    while (!signal.aborted && (await forgetSettled(deps, writer, settledBefore)) === DELETE_BATCH);
  });
}

/**
 * Forgets a batch of old Idempotency-Keys, and returns how many. The reference of a failed booking becomes free again, unless an
 * appointment may have it.
 */
async function forgetSettled({ db }: OverdueDeps, home: Db, settledBefore: Date): Promise<number> {
  const forgotten = await deleteSettledPendingAcrossOrganizations(home, { settledBefore, limit: DELETE_BATCH });
  const unused = forgotten.filter(({ failure }) => failure !== null && failure !== "lost");
  for (const [owner, requests] of Map.groupBy(unused, ({ organization_id }) => organization_id)) {
    const references = requests.map(({ reference }) => reference);
    await freeReferences(db, owner, references);
  }
  return forgotten.length;
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
  const { organization_id: owner, reference, widget_id: widgetId, hit, copy } = pending;
  const booking = { owner, reference, widgetId, hit };
  const sought = { reference, serviceId: pending.service_id, startAt: pending.start_at };
  const system = await openAskedSystem(deps, pending);
  const found = system && (await system.findByReference(sought, signal));
  if (system && found?.kind === "found") {
    const isTest = system.mode !== "live";
    await settleConfirmed(deps, { ...booking, booked: found.value, timeZone: copy?.timeZone ?? UNKNOWN_ZONE, isTest });
    return;
  }
  // A lookup that was broken off, because this process is ending, says nothing about the booking.
  if (signal.aborted) return;
  // Without its connection, nobody can find out. The sandbox is in our own database, which has written the appointment by now.
  const isAbsent = system === null || found?.kind === "absent";
  const isCertain = system?.kind === "sandbox" || pending.look_ups >= LOOK_UPS_UNTIL_ABSENT;
  const isGivenUp = pending.look_ups >= LOOK_UPS_MAX;
  if ((isAbsent && isCertain) || isGivenUp) await settleFailed(deps, { ...booking, failure: "lost" });
}

/** The system that was asked, even if the widget uses another one now. Null if that connection was deleted. */
async function openAskedSystem(
  deps: OverdueDeps,
  { organization_id: organizationId, widget_id: id, asked_in: askedIn }: PendingBooking,
): Promise<SchedulingSystem | null> {
  if (askedIn === "sandbox") return await openSchedulingSystem(deps, { id, organizationId, connectionId: null });
  return await openConnection(deps, organizationId, askedIn);
}
