import { CHOICES_SEPARATOR } from "#contract/scheduling.ts";
import { findLanguage } from "#contract/widgets/languages.ts";
import type { HttpReply, OutboundReply } from "../outbound.ts";
import { isFailure, toCanceled, toFailure, toUpstream } from "../read-reply.ts";
import { type BookOutcome, type BookRequest, found, type Read, refused } from "../scheduling-system.ts";
import { type SystemLookups, settleConflict, settleReply, settleUnexplained } from "../settle-reply.ts";
import type { CalcomApi } from "./api.ts";
import { type CalcomService, LOCATION_QUESTION } from "./catalog.ts";
import { toBooked } from "./follow.ts";
import { type Booking, shapes } from "./shapes.ts";

// Books an event type. Cal.com checks the time itself and reports a taken one as 400 with one of several sentences, or 409.

type BookDeps = { api: CalcomApi; service: CalcomService; webUrl: string };

/** Every 400 has the same code, so the fixed part of its message decides. */
const TAKEN_MESSAGES = [
  "already has booking at this time or is not available",
  "either already has booking",
  "can't be booked at the",
  "book a meeting in the past",
];
const TAKEN_CODES: ReadonlySet<string> = new Set(["booking_conflict_error", "no_available_users_found_error"]);
const REJECTED_FIELD = /\{([\w-]+)\}/g;
/** In messages about a phone number that libphonenumber, or the event type's phone field, rejects. */
const PHONE_REFUSAL = /phone ?number|invalid_number/i;
/** In the only 403 about our key. Every other 403 rejects the customer, who is blocked or has too many bookings. */
const KEY_REFUSAL = "checkBookingRequiresAuthentication";

export async function bookEventType(
  deps: BookDeps,
  request: BookRequest,
  signal: AbortSignal,
  lookups: SystemLookups,
): Promise<BookOutcome> {
  const language = findLanguage([request.customer.locale])?.language;
  const send = (phoneNumber: string | null, rejected: ReadonlySet<string>) => {
    const json = toBookingBody(deps.service, request, { phoneNumber, language, rejected });
    return deps.api.post({ path: "/bookings", json }, signal);
  };
  const phoneNumber = toPhoneNumber(request.customer.phone);
  const first = await send(phoneNumber, new Set());
  if (isFailure(first)) return first;
  // A 400 means that nothing was booked, so asking again cannot book twice.
  const droppable = deps.service.offered.phoneRequired ? null : phoneNumber;
  const rejected = isRefusal(first, 400) ? findRejected(first, droppable) : null;
  const last = rejected ? await send(rejected.isPhone ? null : phoneNumber, rejected.fields) : first;
  if (isFailure(last)) return last;
  return await settleReply(last, {
    shape: shapes.booking,
    lookups,
    settleMade: ({ data: booking }, reply) => settleStatus(deps, { booking, request, reply }, signal),
    settleRefusal: (reply) => settleRefusal(reply, lookups),
  });
}

/** The fields that a 400 names, as in `responses - {history}max_characters_allowed, `. Null if it names none. */
function findRejected(
  reply: HttpReply,
  phoneNumber: string | null,
): { fields: ReadonlySet<string>; isPhone: boolean } | null {
  const message = toMessage(reply);
  const fields = new Set(message.matchAll(REJECTED_FIELD).map(([, slug]) => slug ?? ""));
  const isPhone = phoneNumber !== null && PHONE_REFUSAL.test(message);
  return fields.size > 0 || isPhone ? { fields, isPhone } : null;
}

/**
 * Event types that require confirmation are not offered. If an event type has just been changed to require it, the booking is
 * cancelled, because the visitor is told that it failed. The visitor is told so even if cancelling fails.
 */
async function settleStatus(
  { api, service, webUrl }: BookDeps,
  made: { booking: Booking; request: BookRequest; reply: HttpReply },
  signal: AbortSignal,
): Promise<BookOutcome> {
  const { booking, request, reply } = made;
  // Round robin: the customer already has an appointment at this time, and Cal.com returns that one.
  if (booking.metadata?.["reference"] !== request.reference) return { kind: "slot_taken" };
  if (booking.status === "accepted") {
    return { kind: "booked", booked: toBooked({ service, webUrl }, booking, request) };
  }
  if (booking.status === "pending") {
    await cancelBooking(
      api,
      { uid: booking.uid, reason: "Bookings that require confirmation aren't supported." },
      signal,
    );
  }
  return refused("not_confirmed", toUpstream(reply));
}

export async function cancelBooking(
  api: CalcomApi,
  { uid, reason }: { uid: string; reason: string },
  signal: AbortSignal,
): Promise<Read<"canceled">> {
  const path = `/bookings/${encodeURIComponent(uid)}/cancel`;
  const reply = await api.post({ path, json: { cancellationReason: reason } }, signal);
  if (isFailure(reply)) return reply;
  const wasCanceled = isRefusal(reply, 400) && toMessage(reply).includes("cancelled already");
  return wasCanceled ? found("canceled") : toCanceled(reply);
}

/** A 403 is about the customer, unless its message is about our key. */
async function settleRefusal(reply: HttpReply, lookups: SystemLookups): Promise<BookOutcome> {
  if (reply.status === 409) return await settleConflict(reply, lookups);
  if (reply.status !== 400 && reply.status !== 403) return toFailure(reply);
  const message = toMessage(reply);
  if (message.includes(KEY_REFUSAL)) return refused("credentials", toUpstream(reply));
  const code = (shapes.error.Check(reply.json) && reply.json.error.code) || "";
  const isTaken = TAKEN_CODES.has(code) || TAKEN_MESSAGES.some((words) => message.includes(words));
  // It may be our own booking, whose reply was lost.
  if (isTaken) return await settleConflict(reply, lookups);
  const settled = await settleUnexplained(reply, lookups);
  return settled.kind === "slot_taken" ? settled : refused("invalid", toUpstream(reply));
}

function isRefusal(reply: OutboundReply, status: number): reply is HttpReply {
  return reply.kind === "reply" && reply.status === status;
}

/** Cal.com names rejected fields in the details, next to its message. */
function toMessage(reply: HttpReply): string {
  if (!shapes.error.Check(reply.json)) return "";
  const { message, details } = reply.json.error;
  return `${message ?? ""} ${JSON.stringify(details ?? "")}`;
}

// The body of a new booking. Whatever Cal.com would reject goes into the notes instead, so that it reaches the business
// and the booking succeeds.

/** Cal.com's limit for text areas, the notes included, in UTF-16 units. */
const TEXT_AREA_LENGTH_MAX = 1_000;
/** How much of a rejected answer is sent again: its field may have a lower limit, which the API doesn't show. */
const SHORT_ANSWER_LENGTH = 50;
/** Stands in for the last name of a customer who gave one word, where the event type requires both. */
const NO_LAST_NAME = "–";

type BodyOptions = {
  /** Null if the customer gave none, or Cal.com rejected it. */
  readonly phoneNumber: string | null;
  readonly language: string | undefined;
  /** Fields whose answers Cal.com rejected. */
  readonly rejected: ReadonlySet<string>;
};

function toBookingBody(service: CalcomService, request: BookRequest, options: BodyOptions): unknown {
  const { customer, reference } = request;
  const { phoneNumber, language, rejected } = options;
  const { responses, leftOver } = toResponses(service, request, rejected);
  const notes = [customer.notes, phoneNumber === null ? customer.phone : null, ...leftOver];
  return {
    start: request.startAt.toISOString(),
    eventTypeId: service.eventTypeId,
    attendee: {
      name: service.needsLastName && !/\s/.test(customer.name) ? `${customer.name} ${NO_LAST_NAME}` : customer.name,
      email: customer.email,
      timeZone: customer.timeZone,
      ...(phoneNumber === null ? {} : { phoneNumber }),
      ...(language === undefined ? {} : { language }),
    },
    ...toLocation(service, request, phoneNumber),
    bookingFieldsResponses: { ...responses, notes: rejected.has("notes") ? reference : toNotes(notes, reference) },
    metadata: { reference },
  };
}

/** Cal.com rejects numbers without a country code. It checks the rest with libphonenumber; see bookEventType. */
function toPhoneNumber(phone: string | null): string | null {
  const digits = phone?.replace(/[\s().-]/g, "") ?? "";
  return /^\+[1-9][0-9]{6,14}$/.test(digits) ? digits : null;
}

/** A rejected answer goes into the notes. If Cal.com requires an answer, it also gets the beginning of the rejected one. */
function toResponses({ fieldTypes, offered }: CalcomService, request: BookRequest, rejected: ReadonlySet<string>) {
  const responses: Record<string, unknown> = {};
  const leftOver: string[] = [];
  for (const { questionId, answer } of request.answers) {
    const question = offered.questions.find(({ id }) => id === questionId);
    if (question === undefined || questionId === LOCATION_QUESTION) continue;
    const type = fieldTypes.get(questionId);
    const isRejected = rejected.has(questionId);
    const isAccepted = type !== undefined && !isRejected && (type !== "url" || question.required || isUrl(answer));
    if (!isAccepted) leftOver.push(`${question.label}: ${answer}`);
    if (isAccepted) responses[questionId] = toFieldValue(type, answer);
    else if (isRejected && question.required) responses[questionId] = cut(answer, SHORT_ANSWER_LENGTH);
  }
  return { responses, leftOver };
}

function toFieldValue(type: string, answer: string): unknown {
  switch (type) {
    case "textarea":
      return cut(answer, TEXT_AREA_LENGTH_MAX);
    case "phone":
      return toPhoneNumber(answer) ?? answer;
    case "boolean":
      return true;
    case "checkbox":
    case "multiselect":
      return answer.split(CHOICES_SEPARATOR);
    default:
      return answer;
  }
}

function toLocation({ location: type }: CalcomService, { answers }: BookRequest, phone: string | null): object {
  const answer = answers.find(({ questionId }) => questionId === LOCATION_QUESTION)?.answer;
  switch (type) {
    case "attendeePhone":
      return { location: { type, phone } };
    case "attendeeAddress":
      return { location: { type, address: answer } };
    case "attendeeDefined":
      return { location: { type, location: answer } };
    default:
      return {};
  }
}

/** Cal.com adds the scheme where it is missing. */
function isUrl(answer: string): boolean {
  return URL.canParse(answer) || URL.canParse(`https://${answer}`);
}

/** Shortens the notes so that the reference fits. */
function toNotes(notes: readonly (string | null)[], reference: string): string {
  const text = notes.filter(Boolean).join("\n");
  if (text === "") return reference;
  return `${cut(text, TEXT_AREA_LENGTH_MAX - reference.length - 1)}\n${reference}`;
}

/** Never ends in half a character. */
function cut(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, "");
}
