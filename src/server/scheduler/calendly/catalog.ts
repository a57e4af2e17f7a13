import { parseTimeZone } from "../../lib/time/calendar.ts";
import { toHttpsLink } from "../reply-limits.ts";
import { found, type OfferedService, type Question, type Read } from "../scheduling-system.ts";
import { type CalendlyApi, PAGE_SIZE, toUuid } from "./api.ts";
import { type CustomQuestion, type EventLocation, type EventType, shapes } from "./shapes.ts";

// What a Calendly user offers: the event types that they host. An event type is left out when a visitor could not book it
// with immediate confirmation, or when its bookings could not be found again by reference. "Test" shows why.

export type Catalog = {
  readonly userName: string;
  readonly userUri: string;
  readonly organizationUri: string;
  readonly timeZone: string | null;
  readonly bookingUrl: string | null;
  readonly services: readonly CalendlyService[];
  /** Sentences for "Test". */
  readonly warnings: readonly string[];
};

export type CalendlyService = {
  readonly offered: OfferedService;
  readonly eventTypeUri: string;
  readonly questions: ReadonlyMap<string, CustomQuestion>;
  /** The optional text question that carries the customer's notes and the reference. */
  readonly notesQuestion: CustomQuestion | null;
  /** Sent with a booking. Null if Calendly chooses: without locations, and for round robin, where each host has their own. */
  readonly location: EventLocation | null;
  /** Its bookings can be with other members of the organization. */
  readonly isPooled: boolean;
};

export async function readCatalog(api: CalendlyApi, signal: AbortSignal): Promise<Read<Catalog>> {
  const user = await api.read("/users/me", shapes.user, signal);
  if (user.kind !== "found") return user;
  const { uri, name, timezone, scheduling_url, current_organization } = user.value;
  const query = { user: uri, active: "true", ...PAGE_SIZE };
  const eventTypes = await api.list({ path: "/event_types", query }, shapes.eventTypes, signal);
  if (eventTypes.kind !== "found") return eventTypes;
  const visible = eventTypes.value.filter(({ active, secret }) => active !== false && secret !== true);
  const isAdmin = visible.some(isPooled) ? await readIsAdmin(api, current_organization, signal) : found(false);
  if (isAdmin.kind !== "found") return isAdmin;
  const judged = visible.map((eventType) => ({
    eventType,
    reason:
      findUnsupportedReason(eventType) ??
      (isPooled(eventType) && !isAdmin.value ? "the token's user is not an admin of the organization" : null),
  }));
  const services = judged.flatMap(({ eventType, reason }) => (reason === null ? [toService(eventType)] : []));
  return found({
    userName: name || "Calendly",
    userUri: uri,
    organizationUri: current_organization,
    timeZone: timezone ? parseTimeZone(timezone) : null,
    bookingUrl: toHttpsLink(scheduling_url),
    services,
    warnings: [
      ...judged.flatMap(({ eventType, reason }) =>
        reason === null ? [] : [`“${eventType.name}” is not offered: ${reason}.`],
      ),
      ...services.flatMap(({ offered, notesQuestion }) =>
        notesQuestion === null
          ? [`“${offered.name}” has no optional text question, so customers' notes don't reach Calendly.`]
          : [],
      ),
    ],
  });
}

/** An event type that may no longer be offered. */
export async function readService(api: CalendlyApi, id: string, signal: AbortSignal): Promise<Read<CalendlyService>> {
  const read = await api.read(`/event_types/${encodeURIComponent(id)}`, shapes.eventType, signal);
  return read.kind === "found" ? found(toService(read.value)) : read;
}

/** Only admins may list the events of an organization; others could not find a booking that a colleague got. */
async function readIsAdmin(api: CalendlyApi, organization: string, signal: AbortSignal): Promise<Read<boolean>> {
  const query = { organization, count: "1", status: "active" };
  const reply = await api.list(
    { path: "/scheduled_events", query: { ...query, ...FAR_AWAY } },
    shapes.scheduledEvents,
    signal,
  );
  if (reply.kind === "unavailable") return reply;
  return found(reply.kind === "found");
}

/** The question is whether the list may be read; nothing has to be in it. */
const FAR_AWAY = { min_start_time: "2100-01-01T00:00:00.000Z", max_start_time: "2100-01-02T00:00:00.000Z" };

const QUESTION_TYPES: ReadonlyMap<string, Question["type"]> = new Map([
  ["string", "text"],
  ["text", "text"],
  ["phone_number", "text"],
  ["single_select", "choice"],
]);
/** The invitee would have to name the place or a phone number. */
const ASKING_LOCATIONS: ReadonlySet<string> = new Set(["ask_invitee", "outbound_call"]);

/** Continues the sentence "… is not offered: ". */
function findUnsupportedReason(eventType: EventType): string | null {
  if (eventType.booking_method === "poll") return "it is a poll";
  if (eventType.kind === "group") return "it is for groups";
  if (eventType.is_paid) return "it requires payment";
  const locations = eventType.locations ?? [];
  if (locations.length > 0 && findLocation(eventType) === null) return "it asks visitors for the location";
  const unknown = listQuestions(eventType).find(({ required, type }) => required && !QUESTION_TYPES.has(type));
  return unknown ? `a required question has an unsupported type (${unknown.name})` : null;
}

function isPooled({ pooling_type }: EventType): boolean {
  return pooling_type !== null && pooling_type !== undefined;
}

function listQuestions(eventType: EventType): CustomQuestion[] {
  return (eventType.custom_questions ?? []).filter(({ enabled }) => enabled !== false);
}

function findLocation({ locations }: EventType): EventLocation | null {
  return (locations ?? []).find(({ kind }) => !ASKING_LOCATIONS.has(kind)) ?? null;
}

function toService(eventType: EventType): CalendlyService {
  const questions = listQuestions(eventType);
  const notesQuestion = questions.find(({ type, required }) => type === "text" && !required) ?? null;
  const asked = questions.filter((question) => question !== notesQuestion && QUESTION_TYPES.has(question.type));
  const location = findLocation(eventType);
  return {
    eventTypeUri: eventType.uri,
    questions: new Map(asked.map((question) => [toQuestionId(question), question])),
    notesQuestion,
    location: eventType.pooling_type === "round_robin" ? null : location,
    isPooled: isPooled(eventType),
    offered: {
      id: toUuid(eventType.uri),
      name: eventType.name,
      description: eventType.description_plain || null,
      durationMinutes: eventType.duration,
      isOnline: location?.kind.endsWith("_conference") ?? false,
      // Calendly picks the host when it books.
      staff: [],
      staffSelectable: false,
      questions: asked.map(toQuestion),
    },
  };
}

/** Questions have no id of their own, but a position within their event type. */
function toQuestionId({ position }: CustomQuestion): string {
  return `q${position}`;
}

function toQuestion(question: CustomQuestion): Question {
  const type = QUESTION_TYPES.get(question.type) ?? "text";
  return {
    id: toQuestionId(question),
    label: question.name,
    type,
    options: type === "choice" ? (question.answer_choices ?? []) : [],
    required: question.required === true,
  };
}
