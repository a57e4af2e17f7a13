import type { FilterTrial } from "#contract/app/endpoints.ts";
import type { OrganizationId } from "#contract/ids.ts";
import {
  CHOSEN_EVENT_TYPES,
  ENDPOINT_FILTERS,
  type EndpointFilters,
  FILTER_TRIAL_EVENTS,
} from "#contract/webhooks/endpoint.ts";
import type { BookingErasedEvent, BookingEvent } from "#contract/webhooks/webhook-event.ts";
import type { Db } from "../../db/connections/pool.ts";
import { matchesFilters } from "../outbox/outbox.ts";
import { checkSettings, type Refusal } from "./endpoints.ts";
import { listNewestBodies } from "./queries.ts";
import type { EndpointSettings } from "./settings.ts";

/** Says which of the organization's newest events an endpoint with these settings would get; sends nothing. */
export async function tryFilters(
  db: Db,
  owner: OrganizationId,
  settings: EndpointSettings,
): Promise<{ kind: "tried"; trial: FilterTrial } | Refusal> {
  const faults = await checkSettings(db, owner, { kind: "webhook", settings });
  if (faults) return faults;
  const bodies = await listNewestBodies(db, owner, FILTER_TRIAL_EVENTS);
  const events = bodies.map((body) => toTried(JSON.parse(body.toString()), settings));
  return { kind: "tried", trial: { events, matching: events.filter(({ matches }) => matches).length } };
}

type TriedEvent = FilterTrial["events"][number];

function toTried(event: BookingEvent | BookingErasedEvent, settings: EndpointSettings): TriedEvent {
  const { eventTypes = CHOSEN_EVENT_TYPES, widgetIds } = settings;
  const isChosen = eventTypes.includes(event.type) && (widgetIds?.includes(event.data.widget.id) ?? true);
  const shown = {
    id: event.id,
    type: event.type,
    createdAt: event.created,
    reference: event.data.booking.reference,
    widgetName: event.data.widget.name,
  };
  if (event.type === "booking.erased")
    return { ...shown, service: null, channel: null, source: null, campaign: null, matches: isChosen };
  const { booking, attribution } = event.data;
  const { channel = null, source = null, campaign = null } = attribution;
  const matches = isChosen && matchesFilters(toFilters(settings), { service: booking.service, attribution });
  return { ...shown, service: booking.service.name, channel, source, campaign, matches };
}

function toFilters(settings: EndpointSettings): EndpointFilters {
  return Object.fromEntries(ENDPOINT_FILTERS.map((name) => [name, settings[name] ?? null])) as EndpointFilters;
}
