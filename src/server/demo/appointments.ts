import { BOOKING_STATUS_CANCELLED } from "#contract/bookings/booking.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import { parseReference, type Reference, type WidgetId } from "#contract/ids.ts";
import { lockForChange, recordChange, updateBooking } from "../bookings/bookings.ts";
import { inHome } from "../db/statements/transactions.ts";
import type { Deps } from "../deps.ts";
import { assert } from "../lib/assert.ts";
import { randomUuid } from "../lib/secrets/random.ts";
import {
  insertAppointment,
  makeLinkSecret,
  toCells,
  toJoinUrl,
  toManageUrl,
  toResources,
} from "../scheduler/scheduler.ts";
import { DEMO_ID, DEMO_WIDGETS } from "./clinic.ts";
import { markSandboxBookings } from "./queries.ts";
import type { DemoBooking } from "./visit.ts";

// Upcoming bookings also exist in the sandbox, so their links work, their times are taken, and they can be cancelled and moved there.

type UpcomingAppointment = {
  readonly reference: Reference;
  readonly links: { readonly id: string; readonly manageUrl: string; readonly joinUrl: string | null };
  readonly appointment: Parameters<typeof insertAppointment>[2];
};

/** When the appointment takes place, or would have if it wasn't cancelled. */
export function findStart({ appointment, change }: DemoBooking): Date {
  return (change?.movedTo ?? appointment).startAt;
}

export function toUpcoming(deps: Pick<Deps, "random" | "config">, booking: DemoBooking): UpcomingAppointment {
  const { line, appointment, change } = booking;
  const { service, staffId } = appointment;
  const startAt = findStart(booking);
  const canceledAt = change?.movedTo === null ? change.at : null;
  const { reference, widgetId } = toKey(booking);
  const id = randomUuid(deps.random);
  const [manageSecret, joinSecret] = [makeLinkSecret(deps.random), makeLinkSecret(deps.random)];
  const { baseUrl } = deps.config;
  return {
    reference,
    links: {
      id,
      manageUrl: toManageUrl(baseUrl, { widgetId, reference, secret: manageSecret }),
      joinUrl: service.isOnline ? toJoinUrl(baseUrl, { widgetId, reference, secret: joinSecret }) : null,
    },
    appointment: {
      row: {
        widget_id: widgetId,
        reference,
        id,
        service_id: service.id,
        staff_id: staffId,
        start_at: startAt,
        end_at: findEnd(booking),
        manage_secret: manageSecret,
        join_secret: service.isOnline ? joinSecret : null,
        created_at: new Date(line.createdAt),
        canceled_at: canceledAt,
      },
      resources: toResources({ service, staffId }),
      cells: canceledAt === null ? toCells(service, startAt) : [],
    },
  };
}

function toKey({ line }: DemoBooking): { reference: Reference; widgetId: WidgetId } {
  const reference = parseReference(line.reference);
  const widgetId = DEMO_WIDGETS.find(({ id }) => id === line.widgetId)?.id;
  assert(reference && widgetId, "the demo's own ids have their form");
  return { reference, widgetId };
}

function findEnd(booking: DemoBooking): Date {
  return new Date(findStart(booking).getTime() + booking.appointment.service.durationMinutes * MINUTE_MS);
}

export async function keepAppointments(
  { db }: Pick<Deps, "db">,
  coming: readonly UpcomingAppointment[],
): Promise<void> {
  for (const { appointment } of coming) {
    const outcome = await insertAppointment(db, DEMO_ID, appointment);
    assert(outcome === "made", "the calendar that the demo was made with gives each time once");
  }
  await markSandboxBookings(
    db,
    DEMO_ID,
    coming.map(({ reference }) => reference),
  );
}

/** Like the import, it sends nothing to webhooks. */
export async function changeBookings({ db }: Pick<Deps, "db">, bookings: readonly DemoBooking[]): Promise<void> {
  const changes = bookings.flatMap((booking) => (booking.change ? [{ ...booking.change, booking }] : []));
  await inHome(db, DEMO_ID, async (transaction) => {
    for (const { at, movedTo, booking } of changes.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
      const before = await lockForChange(transaction, DEMO_ID, toKey(booking).reference);
      assert(before, "the booking was just imported");
      const moved = { start_at: findStart(booking), end_at: findEnd(booking) };
      const after = { ...before, ...(movedTo === null ? { status: BOOKING_STATUS_CANCELLED } : moved) };
      await updateBooking(transaction, DEMO_ID, after);
      const type = movedTo === null ? "cancelled" : "rescheduled";
      await recordChange(transaction, DEMO_ID, { change: { type, before, after }, clock: { now: () => at } });
    }
  });
}
