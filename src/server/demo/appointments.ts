import { parseReference, type Reference } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { assert } from "../lib/assert.ts";
import { randomUuid } from "../lib/secrets/random.ts";
import { toCells, toResources } from "../scheduler/sandbox/free-times.ts";
import { makeLinkSecret, toJoinUrl, toManageUrl } from "../scheduler/sandbox/links.ts";
import { insertAppointment } from "../scheduler/sandbox/queries.ts";
import { DEMO_ID, DEMO_WIDGETS } from "./clinic.ts";
import type { DemoBooking } from "./visit.ts";

// Upcoming bookings also exist in the sandbox, so their links work and their times are taken.

type UpcomingAppointment = {
  readonly reference: Reference;
  readonly links: { readonly id: string; readonly manageUrl: string; readonly joinUrl: string | null };
  readonly appointment: Parameters<typeof insertAppointment>[2];
};

export function toUpcoming(deps: Pick<Deps, "random" | "config">, booking: DemoBooking): UpcomingAppointment {
  const { line, appointment } = booking;
  const { service, staffId, startAt } = appointment;
  const reference = parseReference(line.reference);
  const widgetId = DEMO_WIDGETS.find(({ id }) => id === line.widgetId)?.id;
  assert(reference && widgetId, "the demo's own ids have their form");
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
        end_at: new Date(line.end),
        manage_secret: manageSecret,
        join_secret: service.isOnline ? joinSecret : null,
        created_at: new Date(line.createdAt),
        canceled_at: null,
      },
      resources: toResources({ service, staffId }),
      cells: toCells(service, startAt),
    },
  };
}

export async function keepAppointments(
  { db }: Pick<Deps, "db">,
  coming: readonly UpcomingAppointment[],
): Promise<void> {
  for (const { appointment } of coming) {
    const outcome = await insertAppointment(db, DEMO_ID, appointment);
    assert(outcome === "made", "the calendar that the demo was made with gives each time once");
  }
}
