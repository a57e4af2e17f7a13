import { parseTimeZone } from "../../lib/calendar.ts";
import { found, type OfferedService, type Question, type Read, refused } from "../scheduling-system.ts";
import type { CalcomApi } from "./api.ts";
import { type BookingField, type EventType, shapes } from "./shapes.ts";

// What a cal.com user offers: event types. An event type that a visitor could not book and be confirmed at once, or whose
// booking could not be found again by its reference, is left out with a reason, which the connection's test shows.

export type Catalog = {
  readonly userName: string;
  readonly timeZone: string | null;
  readonly bookingUrl: string | null;
  readonly services: readonly CalcomService[];
  readonly leftOut: readonly { readonly title: string; readonly reason: string }[];
};

export type CalcomService = {
  readonly offered: OfferedService;
  readonly eventTypeId: number;
};

export async function readCatalog(api: CalcomApi, signal: AbortSignal): Promise<Read<Catalog>> {
  const me = await api.read({ resource: "me", path: "/me" }, shapes.me, signal);
  if (me.kind !== "found") return me;
  const { username, name, timeZone } = me.value;
  if (!username) return refused("invalid");
  const request = { resource: "eventTypes", path: "/event-types", query: { username } } as const;
  const eventTypes = await api.read(request, shapes.eventTypes, signal);
  if (eventTypes.kind !== "found") return eventTypes;
  const visible = eventTypes.value.filter(({ hidden }) => hidden !== true);
  const judged = visible.map((eventType) => ({ eventType, reason: findHindrance(eventType) }));
  return found({
    userName: name || username,
    timeZone: timeZone ? parseTimeZone(timeZone) : null,
    bookingUrl: toProfileUrl(visible),
    services: judged.flatMap(({ eventType, reason }) => (reason === null ? [toService(eventType)] : [])),
    leftOut: judged.flatMap(({ eventType, reason }) => (reason === null ? [] : [{ title: eventType.title, reason }])),
  });
}

const QUESTION_TYPES: ReadonlyMap<string, Question["type"]> = new Map([
  ["text", "text"],
  ["textarea", "text"],
  ["address", "text"],
  ["url", "text"],
  ["number", "number"],
  ["select", "choice"],
  ["radio", "choice"],
]);
const ONLINE_LOCATIONS: ReadonlySet<string> = new Set(["integration", "link", "organizersDefaultApp", "conferencing"]);
/** The attendee would have to say where; cal.com takes the first location when none is named. */
const ASKING_LOCATIONS: ReadonlySet<string> = new Set(["attendeeAddress", "attendeePhone", "attendeeDefined"]);
/** What we send with every booking. */
const ANSWERED_FIELDS: ReadonlySet<string> = new Set(["name", "email", "notes", "location", "rescheduleReason"]);

/** Continues the words "… is not offered: ". */
function findHindrance(eventType: EventType): string | null {
  if (isOn(eventType.confirmationPolicy)) return "its bookings wait for someone to confirm them";
  if (eventType.bookingRequiresAuthentication) return "only signed-in users may book it";
  if (isOn(eventType.recurrence)) return "it repeats";
  if (isOn(eventType.seats) || eventType.seatsPerTimeSlot) return "several people share one of its times";
  if (eventType.schedulingType === "managed") return "it is a template for members of a team";
  if (ASKING_LOCATIONS.has(eventType.locations?.[0]?.type ?? "")) return "it asks the visitor for the place";
  const unknown = eventType.bookingFields.find((field) => isAsked(field) && field.required && !isAnswerable(field));
  return unknown ? `it requires an answer of a kind that is not supported (${unknown.label ?? unknown.type})` : null;
}

function isOn(policy: { disabled?: boolean } | null | undefined): boolean {
  return policy !== null && policy !== undefined && policy.disabled !== true;
}

function isAsked(field: BookingField): boolean {
  return field.hidden !== true && !ANSWERED_FIELDS.has(field.slug ?? field.type);
}

/** Fields that cal.com has by itself (guests, a title, a phone) are not asked for. */
function isAnswerable(field: BookingField): boolean {
  return field.isDefault !== true && QUESTION_TYPES.has(field.type) && Boolean(field.slug);
}

function toService(eventType: EventType): CalcomService {
  const fields = eventType.bookingFields.filter((field) => isAsked(field) && isAnswerable(field));
  return {
    eventTypeId: eventType.id,
    offered: {
      id: String(eventType.id),
      name: eventType.title,
      description: eventType.description || null,
      durationMinutes: eventType.lengthInMinutes,
      isOnline: ONLINE_LOCATIONS.has(eventType.locations?.[0]?.type ?? ""),
      // Who it will be is known only from the booking.
      staff: [],
      staffSelectable: false,
      questions: fields.map(toQuestion),
    },
  };
}

function toQuestion(field: BookingField): Question {
  const type = QUESTION_TYPES.get(field.type) ?? "text";
  return {
    id: field.slug ?? "",
    label: field.label || (field.slug ?? ""),
    type,
    options: type === "choice" ? (field.options ?? []) : [],
    required: field.required === true,
  };
}

/** `https://cal.com/bob/intro` is on the page `https://cal.com/bob`. */
function toProfileUrl(eventTypes: readonly EventType[]): string | null {
  const url = eventTypes.map(({ bookingUrl }) => URL.parse(bookingUrl ?? "")).find((parsed) => parsed !== null);
  return url ? new URL(".", url).href.replace(/\/$/, "") : null;
}
