import { HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import { atEveryHome } from "../../db/home.ts";
import { inHome } from "../../db/statements/transactions.ts";
import { Semaphore } from "../../lib/concurrency/semaphore.ts";
import {
  type Followed,
  type OpenDeps,
  openConnection,
  openSchedulingSystem,
  type Read,
  type SchedulingSystem,
} from "../../scheduler/scheduler.ts";
import { wakeWorkers } from "../../webhooks/webhooks.ts";
import { applyChange } from "./apply-change.ts";
import {
  type Check,
  claimDueChecksAcrossOrganizations,
  claimOne,
  type FollowedBooking,
  findFollowed,
  finishCheck,
  markDue,
  postponeCheck,
} from "./check-queries.ts";

// Reads appointments in which something may have changed, and applies what was read. Notices and polling only say which appointments
// to read, so a notice that is lost, repeated, late or forged does no harm.

/** Longer than a batch takes if no system answers. */
const LEASE_MS = MINUTE_MS;
const BATCH = 50;
const CONCURRENCY = 10;
/** Of one organization, so that a system that doesn't answer holds up only its own. */
const SHARE = { batch: 20, concurrency: 4 };
const RETRY_MS_MIN = MINUTE_MS;
const RETRY_MS_MAX = HOUR_MS;
/** Three days. Then the next notice or poll has to find it again. */
const TRIES_MAX = 80;
/** How often a booking is looked at whose changes may not be written at the moment. */
const LATER_MS = 10 * MINUTE_MS;

/** Background task. */
export async function followAppointments(deps: OpenDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  await atEveryHome(deps.db, async ({ writer }) => {
    const checks = await claimDueChecksAcrossOrganizations(writer, {
      now,
      longestMs: RETRY_MS_MAX,
      leaseUntil,
      limit: BATCH,
      share: SHARE.batch,
    });
    const turns = new Semaphore(CONCURRENCY);
    const followAll = (owned: readonly Check[]) =>
      owned.map((check, index) =>
        turns.run(`${check.organizationId} ${index % SHARE.concurrency}`, async () => {
          if (!signal.aborted) await followSafely(deps, check, signal);
        }),
      );
    const byOwner = Map.groupBy(checks, ({ organizationId }) => organizationId);
    await Promise.all([...byOwner.values()].flatMap(followAll));
  });
}

type Appointment = { readonly organizationId: OrganizationId; readonly reference: Reference };

/** `unknown`: the system doesn't know the appointment, or nobody can ask it. `waits`: it is read again later, or by another process. */
type Outcome = "changed" | "unchanged" | "unknown" | "waits";

/** Follows one appointment at once. What fails here is done by the task. */
export async function followAppointment(deps: OpenDeps, { organizationId, reference }: Appointment): Promise<Outcome> {
  const now = deps.clock.now();
  await markDue(deps.db, organizationId, { references: [reference], now });
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const check = await claimOne(deps.db, { organizationId, reference }, { now, leaseUntil });
  return check ? await followSafely(deps, check) : "waits";
}

async function followSafely(deps: OpenDeps, check: Check, signal?: AbortSignal): Promise<Outcome> {
  try {
    return await follow(deps, check, signal);
  } catch (error) {
    deps.log.error("appointment.follow_failed", { organizationId: check.organizationId, error });
    return "waits";
  }
}

async function follow(deps: OpenDeps, check: Check, signal?: AbortSignal): Promise<Outcome> {
  const { organizationId: owner, reference } = check;
  const booking = await findFollowed(deps.db, owner, reference);
  const system = booking && (await openAskedSystem(deps, owner, booking));
  const { externalId } = booking ?? {};
  // Without its connection, nobody can find out.
  if (!booking || !system || !externalId) return await giveUp(deps, check);
  // Nothing may be written, so the system isn't asked either.
  if (!booking.storesBookings) return await postpone(deps, check, LATER_MS);
  const read = await system.follow({ ...booking, reference, externalId }, signal);
  // A reading that was broken off, because this process is ending, says nothing.
  if (signal?.aborted) return "waits";
  if (read.kind !== "found") return await postponeUnread(deps, check, read);
  const applied = await inHome(deps.db, owner, (transaction) =>
    applyChange(deps, transaction, {
      owner,
      reference,
      widgetId: booking.widgetId,
      now: read.value,
      claim: () => finishCheck(transaction, check),
    }),
  );
  switch (applied) {
    case "changed":
      await wakeWorkers(deps, owner);
      return applied;
    case "unchanged":
      return applied;
    case "gone":
      return "unknown";
    case "later":
      return await postpone(deps, check, LATER_MS);
    case "stale":
      return "waits";
    default:
      return applied satisfies never;
  }
}

async function postponeUnread(
  deps: OpenDeps,
  check: Check,
  failure: Exclude<Read<Followed>, { kind: "found" }>,
): Promise<Outcome> {
  // An appointment that the system doesn't know is left as it is: the account may be another one.
  const isUnknown = failure.kind === "refused" && failure.reason === "not_found";
  if (isUnknown || check.tries >= TRIES_MAX) return await giveUp(deps, check);
  const askedMs = failure.kind === "unavailable" ? (failure.retryAfterMs ?? 0) : 0;
  const waitMs = RETRY_MS_MIN * 2 ** Math.min(check.tries - 1, 10);
  return await postpone(deps, check, Math.min(Math.max(waitMs, askedMs), RETRY_MS_MAX));
}

async function postpone(deps: OpenDeps, check: Check, waitMs: number): Promise<Outcome> {
  await postponeCheck(deps.db, check, new Date(deps.clock.now().getTime() + waitMs));
  return "waits";
}

async function giveUp(deps: OpenDeps, check: Check): Promise<Outcome> {
  await finishCheck(deps.db, check);
  return "unknown";
}

async function openAskedSystem(
  deps: OpenDeps,
  organizationId: OrganizationId,
  { askedIn, widgetId: id }: FollowedBooking,
): Promise<SchedulingSystem | null> {
  if (askedIn === null) return null;
  if (askedIn === "sandbox") return await openSchedulingSystem(deps, { id, organizationId, connectionId: null });
  return await openConnection(deps, organizationId, askedIn);
}
