import type { Insertable } from "kysely";
import type { DeliveryId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atEveryHome } from "../../db/home.ts";
import { fromJson } from "../../db/statements/json-column.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { BookingsTable } from "../../db/tables/tables.ts";
import type { Deps } from "../../deps.ts";
import { LoggableError } from "../../lib/log/loggable-error.ts";
import { type BookingFacts, fanOut, fanOutSafely, wakeWorkers } from "../../webhooks/webhooks.ts";
import {
  type BookingRow,
  type BookingWithoutEvent,
  insertBooking,
  listBookingsWithoutEventAcrossOrganizations,
  markHasEvent,
  takeInstant,
} from "../stored/queries.ts";

type KeepDeps = Pick<Deps, "random" | "log" | "clock" | "metrics">;

const MISSING_BATCH = 200;
const OCCASION = { type: "booking.created" } as const;

/**
 * Stores the copy of a confirmed booking and, in the same transaction, its webhook event with one delivery per endpoint. A
 * fault in the fan-out never fails the booking. Returns the deliveries to be sent: if there are any, call `wakeWorkers` after the
 * commit, or they wait for up to a second.
 */
export async function keepBooking(
  deps: KeepDeps,
  transaction: Db,
  { owner, booking }: { owner: OrganizationId; booking: NewBooking },
): Promise<readonly DeliveryId[]> {
  const now = deps.clock.now();
  let deliveries: readonly DeliveryId[] = [];
  const hasEvent = await fanOutSafely(deps, transaction, {
    owner,
    run: async () => {
      deliveries = await fanOut(deps, transaction, {
        owner,
        booking: toBookingFacts(booking),
        occasion: OCCASION,
        now,
      });
    },
  });
  await storeBooking(deps, transaction, { owner, booking: { ...booking, lacks_event: !hasEvent } });
  return hasEvent ? deliveries : [];
}

/** Background task: writes the webhook events that failed when their bookings were stored. */
export async function writeMissingEvents(deps: KeepDeps & Pick<Deps, "db">, signal: AbortSignal): Promise<void> {
  await atEveryHome(deps.db, ({ reader }) => writeMissingOf(reader, deps, signal));
}

async function writeMissingOf(home: Db, deps: KeepDeps & Pick<Deps, "db">, signal: AbortSignal): Promise<void> {
  let failed = 0;
  let lastError: unknown;
  let last: BookingWithoutEvent | null = null;
  do {
    const batch: BookingWithoutEvent[] = await listBookingsWithoutEventAcrossOrganizations(home, {
      after: last,
      limit: MISSING_BATCH,
    });
    for (const booking of batch) {
      if (signal.aborted) return;
      try {
        await writeMissingEvent(deps, booking);
      } catch (error) {
        // The fault may concern this booking alone, so the others still get their events.
        failed += 1;
        lastError = error;
      }
    }
    const owners = new Set(batch.map(({ organization_id }) => organization_id));
    await Promise.all([...owners].map((owner) => wakeWorkers(deps, owner)));
    last = batch.length < MISSING_BATCH ? null : (batch.at(-1) ?? null);
  } while (last);
  if (failed > 0)
    throw new LoggableError("Bookings that still lack their webhook event", { count: failed, cause: lastError });
}

async function writeMissingEvent(deps: KeepDeps & Pick<Deps, "db">, booking: BookingWithoutEvent): Promise<void> {
  const { organization_id: owner } = booking;
  await inHome(deps.db, owner, async (transaction) => {
    // Another worker may have finished it, or an erasure deleted it; the row lock decides.
    if (!(await markHasEvent(transaction, owner, booking.reference))) return;
    const now = deps.clock.now();
    await fanOut(deps, transaction, { owner, booking: toBookingFacts(booking), occasion: OCCASION, now });
  });
}

export type NewBooking = Omit<Insertable<BookingsTable>, "organization_id" | "created_at" | "api_json">;

/**
 * Stores the copy of a booking and returns its createdAt. Call it last in the transaction: from here to the commit the
 * organization's other bookings wait, which keeps createdAt in commit order.
 */
export async function storeBooking(
  { clock }: Pick<Deps, "clock">,
  transaction: Db,
  { owner, booking }: { owner: OrganizationId; booking: NewBooking },
): Promise<Date> {
  const createdAt = await takeInstant(transaction, owner, { of: "bookings", clock });
  await insertBooking(transaction, { ...booking, organization_id: owner, created_at: createdAt });
  return createdAt;
}

export function toBookingFacts(booking: NewBooking | BookingRow): BookingFacts {
  return {
    reference: booking.reference,
    externalId: booking.external_id ?? null,
    status: booking.status,
    startAt: booking.start_at,
    endAt: booking.end_at,
    timeZone: booking.time_zone,
    service: { id: booking.service_id, name: booking.service_name },
    staff: fromJson(booking.staff),
    customer: {
      name: booking.customer_name,
      email: booking.customer_email,
      phone: booking.customer_phone ?? null,
      notes: booking.customer_notes ?? null,
    },
    answers: fromJson(booking.answers),
    attribution: fromJson(booking.attribution),
    manageUrl: booking.manage_url ?? null,
    joinUrl: booking.join_url ?? null,
    isTest: booking.is_test ?? false,
    widgetId: booking.widget_id,
  };
}
