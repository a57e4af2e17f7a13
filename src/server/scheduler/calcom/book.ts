import { findLanguage } from "#contract/languages.ts";
import type { HttpReply } from "../outbound.ts";
import { isSuccess, readReply, toFailure, toUnreadable, toUpstream } from "../read-reply.ts";
import { type BookOutcome, type BookRequest, refused } from "../scheduling-system.ts";
import { settleFault } from "../settle-fault.ts";
import type { CalcomApi } from "./api.ts";
import type { CalcomService } from "./catalog.ts";
import { type Booking, shapes } from "./shapes.ts";
import { toBooked } from "./to-booked.ts";

// Making a booking. cal.com checks the time itself; a time that is gone is a 400 with one of several sentences, or a 409.

type BookDeps = { api: CalcomApi; service: CalcomService; webUrl: string };

/** cal.com has one code for every 400, so of the message that comes with it the fixed part is all there is to go by. */
const TAKEN_MESSAGES = [
  "already has booking at this time or is not available",
  "either already has booking",
  "can't be booked at the",
];
const TAKEN_CODES: ReadonlySet<string> = new Set(["booking_conflict_error", "no_available_users_found_error"]);

export async function bookEventType(
  deps: BookDeps,
  request: BookRequest,
  signal: AbortSignal,
  ask: Parameters<typeof settleFault>[1],
): Promise<BookOutcome> {
  const reply = await deps.api.post({ resource: "bookings", path: "/bookings", json: toBody(deps, request) }, signal);
  if (reply.kind === "failure") {
    return reply.wasSent ? { kind: "unknown", upstream: toUpstream(reply) } : toFailure(reply);
  }
  if (isSuccess(reply)) {
    const read = readReply(reply, shapes.booking);
    if (read.kind !== "found") return { kind: "unknown", upstream: toUnreadable(reply) };
    return await settleStatus(deps, { booking: read.value.data, request, reply }, signal);
  }
  if (reply.status === 400) return await settleRefusal(reply, ask);
  // A conflict may be with our own request, if the network sent it twice.
  if (reply.status === 409) {
    const sought = await ask.find();
    return sought.kind === "found" ? { kind: "booked", booked: sought.value } : { kind: "slot_taken" };
  }
  return reply.status >= 500 && reply.status !== 503 ? await settleFault(reply, ask) : toFailure(reply);
}

/**
 * Event types whose bookings someone confirms later are not offered; one that was changed meanwhile is withdrawn, as the
 * visitor is told that it did not work. Whether the withdrawal works changes nothing about that.
 */
async function settleStatus(
  { api, service, webUrl }: BookDeps,
  made: { booking: Booking; request: BookRequest; reply: HttpReply },
  signal: AbortSignal,
): Promise<BookOutcome> {
  const { booking, request, reply } = made;
  if (booking.status === "accepted") {
    return { kind: "booked", booked: toBooked({ service, webUrl }, booking, request) };
  }
  if (booking.status === "pending") {
    const path = `/bookings/${encodeURIComponent(booking.uid)}/cancel`;
    const json = { cancellationReason: "This booking cannot wait for confirmation." };
    await api.post({ resource: "bookings", path, json }, signal);
  }
  return refused("not_confirmed", toUpstream(reply));
}

/** By its words where they are known, else by whether the time is still free. */
async function settleRefusal(reply: HttpReply, ask: Parameters<typeof settleFault>[1]): Promise<BookOutcome> {
  const { code, message } = shapes.error.Check(reply.json) ? reply.json.error : {};
  const isTaken = TAKEN_CODES.has(code ?? "") || TAKEN_MESSAGES.some((words) => (message ?? "").includes(words));
  if (isTaken) return { kind: "slot_taken" };
  const free = await ask.isFree();
  return free.kind === "found" && !free.value ? { kind: "slot_taken" } : toFailure(reply);
}

function toBody({ service }: BookDeps, request: BookRequest): unknown {
  const { customer, reference } = request;
  const phoneNumber = toInternational(customer.phone);
  // cal.com writes its mails in all of ours.
  const language = findLanguage([customer.locale])?.language;
  return {
    start: request.startAt.toISOString(),
    eventTypeId: service.eventTypeId,
    attendee: {
      name: customer.name,
      email: customer.email,
      timeZone: customer.timeZone,
      ...(phoneNumber === null ? {} : { phoneNumber }),
      ...(language === undefined ? {} : { language }),
    },
    bookingFieldsResponses: {
      ...toResponses(service, request),
      notes: [customer.notes, phoneNumber === null ? customer.phone : null, reference].filter(Boolean).join("\n"),
    },
    metadata: { reference },
  };
}

function toResponses({ offered }: CalcomService, request: BookRequest): Record<string, string | number> {
  const types = new Map(offered.questions.map(({ id, type }) => [id, type]));
  const responses: Record<string, string | number> = {};
  for (const { questionId, answer } of request.answers) {
    if (types.has(questionId)) responses[questionId] = types.get(questionId) === "number" ? Number(answer) : answer;
  }
  return responses;
}

/** cal.com refuses a booking with a phone number in any other form; such a number goes into the notes. */
function toInternational(phone: string | null): string | null {
  const digits = phone?.replace(/[\s().-]/g, "") ?? "";
  return /^\+[1-9][0-9]{6,14}$/.test(digits) ? digits : null;
}
