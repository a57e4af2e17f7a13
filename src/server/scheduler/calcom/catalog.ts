import { parseTimeZone } from "../../lib/time/calendar.ts";
import { toHttpsLink } from "../reply-limits.ts";
import { found, type OfferedService, type Question, type Read } from "../scheduling-system.ts";
import type { CalcomApi } from "./api.ts";
import type { HiddenQuestions } from "./hidden-questions.ts";
import { type BookingField, type EventType, shapes } from "./shapes.ts";

// What a Cal.com user offers: their own event types and those of their teams. An event type is left out when a visitor
// could not book it with immediate confirmation, or when its bookings could not be found again by reference. "Test
// connection" shows the reason.

export type Catalog = {
  readonly userName: string;
  readonly timeZone: string | null;
  readonly bookingUrl: string | null;
  readonly services: readonly CalcomService[];
  /** Sentences for "Test". */
  readonly leftOut: readonly string[];
};

export type CalcomService = {
  readonly offered: OfferedService;
  readonly eventTypeId: number;
  /** Bookings of a team's event type are listed with the team. */
  readonly teamId: number | null;
  /** The API's field type of every question that is answered as a booking field; other answers go into the notes. */
  readonly fieldTypes: ReadonlyMap<string, string>;
  readonly needsLastName: boolean;
  /** What the visitor says about the location; null if the event type has one. */
  readonly location: (typeof ASKING_LOCATIONS)[number] | null;
};

const ASKING_LOCATIONS = ["attendeeAddress", "attendeePhone", "attendeeDefined"] as const;

/** Each team takes two requests, and a key has 120 per minute. */
const TEAMS_MAX = 10;

export async function readCatalog(api: CalcomApi, signal: AbortSignal): Promise<Read<Catalog>> {
  const me = await api.read({ resource: "me", path: "/me" }, shapes.me, signal);
  if (me.kind !== "found") return me;
  const { username, name, timeZone } = me.value.data;
  const [own, teams] = await Promise.all([
    // Asks for those of the key's user. By username, Cal.com may find another organization's user of the same name.
    api.read({ resource: "eventTypes", path: "/event-types" }, shapes.eventTypes, signal),
    readTeams(api, signal),
  ]);
  if (own.kind !== "found") return own;
  if (teams.kind !== "found") return teams;
  const lists = [{ eventTypes: own.value.data, teamId: null }, ...teams.value.lists];
  const judged = lists.flatMap(({ eventTypes, teamId }) =>
    eventTypes
      .filter(({ hidden }) => hidden !== true)
      .map((eventType) => ({ eventType, teamId, reason: findUnsupportedReason(eventType) })),
  );
  return found({
    userName: name || username || "Cal.com",
    timeZone: timeZone ? parseTimeZone(timeZone) : null,
    bookingUrl: toProfileUrl(own.value.data),
    services: judged.flatMap(({ eventType, teamId, reason }) =>
      reason === null ? [toService(eventType, teamId)] : [],
    ),
    leftOut: [
      ...judged.flatMap(({ eventType, reason }) =>
        reason === null ? [] : [`“${eventType.title}” is not offered: ${reason}.`],
      ),
      ...teams.value.leftOut,
    ],
  });
}

export function leaveOutHidden(catalog: Catalog, hidden: HiddenQuestions): Catalog {
  const { services, leftOut } = catalog;
  return {
    ...catalog,
    services: services.filter(({ eventTypeId }) => hidden.find(eventTypeId) === null),
    leftOut: [
      ...leftOut,
      ...services.flatMap(({ eventTypeId, offered }) => {
        const question = hidden.find(eventTypeId);
        return question === null
          ? []
          : [`“${offered.name}” is not offered: a required question is hidden (${question}).`];
      }),
    ],
  };
}

/** An event type that may no longer be offered. */
export async function readService(api: CalcomApi, id: string, signal: AbortSignal): Promise<Read<CalcomService>> {
  const path = `/event-types/${encodeURIComponent(id)}`;
  const read = await api.read({ resource: "eventTypes", path }, shapes.eventType, signal);
  return read.kind === "found" ? found(toService(read.value.data, read.value.data.teamId ?? null)) : read;
}

type Teams = { lists: { eventTypes: EventType[]; teamId: number }[]; leftOut: string[] };

/** A server without teams refuses to list them. */
async function readTeams(api: CalcomApi, signal: AbortSignal): Promise<Read<Teams>> {
  const listed = await api.read({ resource: "teams", path: "/teams" }, shapes.teams, signal);
  if (listed.kind === "refused") return found({ lists: [], leftOut: [] });
  if (listed.kind !== "found") return listed;
  const reads = await Promise.all(
    listed.value.data.slice(0, TEAMS_MAX).map(async ({ id, name }) => ({
      team: { id, name: name || String(id) },
      eventTypes: await api.read(
        { resource: "eventTypes", path: `/teams/${id}/event-types` },
        shapes.eventTypes,
        signal,
      ),
      bookings: await api.listBookings({ path: `/teams/${id}/bookings`, query: { take: "1" } }, signal),
    })),
  );
  const teams: Teams = { lists: [], leftOut: [] };
  for (const { team, eventTypes, bookings } of reads) {
    if (eventTypes.kind === "unavailable") return eventTypes;
    if (bookings.kind === "unavailable") return bookings;
    if (eventTypes.kind === "found" && bookings.kind === "found")
      teams.lists.push({ eventTypes: eventTypes.value.data, teamId: team.id });
    else
      teams.leftOut.push(
        `The event types of team “${team.name}” are not offered: the key's user is not an admin of the team.`,
      );
  }
  const { length } = listed.value.data;
  if (length > TEAMS_MAX) teams.leftOut.push(`Only the first ${TEAMS_MAX} teams are offered; this user has ${length}.`);
  return found(teams);
}

const QUESTION_TYPES: ReadonlyMap<string, Question["type"]> = new Map([
  ["text", "text"],
  ["textarea", "text"],
  ["address", "text"],
  ["url", "text"],
  ["number", "number"],
  ["phone", "phone"],
  ["boolean", "tick"],
  ["select", "choice"],
  ["radio", "choice"],
  ["multiselect", "choices"],
  ["checkbox", "choices"],
]);
/** The API demands a number and then rejects it for not being a text, so such a field cannot be answered. */
const UNANSWERABLE_TYPES: ReadonlySet<string> = new Set(["number"]);
const ONLINE_LOCATIONS: ReadonlySet<string> = new Set(["integration", "link", "organizersDefaultApp", "conferencing"]);
/** Asks for what Cal.com calls the location. Its fields have no colon in their names. */
export const LOCATION_QUESTION = "location:visitor";
const LOCATION_LABELS: Readonly<Record<string, string>> = {
  attendeeAddress: "Your address",
  attendeeDefined: "Where should we meet?",
};
/** Cal.com's own questions that can be asked. Their labels are often names of translations. */
const OWN_QUESTIONS: ReadonlyMap<string, string> = new Map([["title", "What is this meeting about?"]]);
/** Sent with every booking. */
const ANSWERED_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "splitName",
  "email",
  "notes",
  "location",
  "rescheduleReason",
  "attendeePhoneNumber",
]);

/** Continues the sentence "… is not offered: ". */
function findUnsupportedReason(eventType: EventType): string | null {
  if (isOn(eventType.confirmationPolicy)) return "its bookings require confirmation";
  if (isPaid(eventType)) return "it requires payment";
  if (eventType.requiresBookerEmailVerification) return "it requires a verified email address";
  if (isOn(eventType.recurrence)) return "it is a recurring event";
  if (isOn(eventType.seats) || eventType.seatsPerTimeSlot) return "it is for groups";
  if (eventType.schedulingType === "managed") return "it is a managed event type";
  if (eventType.bookingFields.some(requiresTextMessages)) return "it requires a phone number for text messages";
  const unknown = eventType.bookingFields.find((field) => isAsked(field) && field.required && !isAnswerable(field));
  return unknown ? `a required question has an unsupported type (${unknown.label || unknown.type})` : null;
}

/** The price stays when payment is turned off. Without the app's own setting, a price means payment by Stripe. */
function isPaid({ price, metadata }: EventType): boolean {
  const apps = metadata?.apps ?? {};
  const payments = Object.values(apps).filter((app) => app.price !== undefined || app.paymentOption !== undefined);
  if (payments.some((app) => app.enabled === true && (price || app.price || 0) > 0)) return true;
  return apps["stripe"] === undefined && (price ?? 0) > 0;
}

function isOn(policy: { disabled?: boolean } | null | undefined): boolean {
  return policy !== null && policy !== undefined && policy.disabled !== true;
}

/** The number for text messages is required even if the field is hidden, and the API has no type for that field. */
function requiresTextMessages(field: BookingField): boolean {
  if (field.type !== "unknown") return false;
  const stored = parseStoredField(field.bookingField);
  return stored !== null && stored.required === true && (stored.hidden !== true || stored.name === "smsReminderNumber");
}

function parseStoredField(stored: unknown) {
  try {
    const parsed: unknown = typeof stored === "string" ? JSON.parse(stored) : stored;
    return shapes.storedField.Check(parsed) ? parsed : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isAsked(field: BookingField): boolean {
  return field.hidden !== true && field.type !== "unknown" && !ANSWERED_FIELDS.has(field.slug ?? field.type);
}

function isAnswerable(field: BookingField): boolean {
  return isQuestion(field) && !UNANSWERABLE_TYPES.has(field.type);
}

/** Cal.com's own fields are asked only if they are required. */
function isQuestion(field: BookingField): boolean {
  if (field.isDefault === true) return field.required === true && OWN_QUESTIONS.has(field.slug ?? "");
  return QUESTION_TYPES.has(field.type) && Boolean(field.slug);
}

function needsPhone({ bookingFields, locations }: EventType): boolean {
  const field = bookingFields.find(({ slug }) => slug === "attendeePhoneNumber");
  const isRequired = field?.required === true && field.hidden !== true;
  return isRequired || locations?.[0]?.type === "attendeePhone";
}

/** Cal.com uses the first location when none is named. */
function toLocationQuestion(type: string | undefined): Question[] {
  const label = LOCATION_LABELS[type ?? ""];
  return label === undefined ? [] : [{ id: LOCATION_QUESTION, label, type: "text", options: [], required: true }];
}

function toService(eventType: EventType, teamId: number | null): CalcomService {
  const fields = eventType.bookingFields.filter((field) => isAsked(field) && isQuestion(field));
  const location = eventType.locations?.[0]?.type;
  return {
    eventTypeId: eventType.id,
    teamId,
    fieldTypes: new Map(fields.filter(isAnswerable).map(({ slug, type }) => [slug ?? "", type])),
    location: ASKING_LOCATIONS.find((type) => type === location) ?? null,
    needsLastName: eventType.bookingFields.some(({ lastNameRequired }) => lastNameRequired === true),
    offered: {
      id: String(eventType.id),
      name: eventType.title,
      description: eventType.description || null,
      durationMinutes: eventType.lengthInMinutes,
      isOnline: ONLINE_LOCATIONS.has(location ?? ""),
      ...(needsPhone(eventType) ? { phoneRequired: true } : {}),
      // Cal.com picks the host when it books.
      staff: [],
      staffSelectable: false,
      questions: [...toLocationQuestion(location), ...fields.map(toQuestion)],
    },
  };
}

function toQuestion(field: BookingField): Question {
  const type = QUESTION_TYPES.get(field.type) ?? "text";
  return {
    id: field.slug ?? "",
    label: toLabel(field),
    type,
    options: type === "choice" || type === "choices" ? (field.options ?? []) : [],
    required: field.required === true,
  };
}

function toLabel({ isDefault, label, slug }: BookingField): string {
  const isTranslationName = isDefault === true && /^[a-z_]*$/.test(label ?? "");
  return (isTranslationName ? OWN_QUESTIONS.get(slug ?? "") : label) || (slug ?? "");
}

/** `https://cal.com/bob/intro` is on the page `https://cal.com/bob`. */
function toProfileUrl(eventTypes: readonly EventType[]): string | null {
  const link = eventTypes.map(({ bookingUrl }) => toHttpsLink(bookingUrl)).find((url) => url !== null);
  return link ? new URL(".", link).href.replace(/\/$/, "") : null;
}
