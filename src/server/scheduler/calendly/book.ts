import { MINUTE_MS } from "#contract/durations.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import type { HttpReply } from "../outbound.ts";
import { toFailure } from "../read-reply.ts";
import { toHttpsLink } from "../reply-limits.ts";
import type { Booked, BookOutcome, BookRequest, Lookup } from "../scheduling-system.ts";
import { type SystemLookups, settleConflict, settleReply, settleUnexplained } from "../settle-reply.ts";
import { type CalendlyApi, toUuid } from "./api.ts";
import type { CalendlyService } from "./catalog.ts";
import { type Invitee, type ScheduledEvent, shapes } from "./shapes.ts";

// Books an event type with Calendly's scheduling API. Calendly checks the time itself; a taken one is a 400 with the code
// `already_filled`.

type BookDeps = { api: CalendlyApi; service: CalendlyService };

const TAKEN_CODE = "already_filled";

export async function bookEventType(
  deps: BookDeps,
  request: BookRequest,
  signal: AbortSignal,
  lookups: SystemLookups,
): Promise<BookOutcome> {
  const reply = await deps.api.post("/invitees", toInviteeBody(deps.service, request), signal);
  return await settleReply(reply, {
    shape: shapes.invitee,
    lookups,
    settleMade: async ({ resource: invitee }) => {
      // The event has the end, the host and the link to join. If it cannot be read, the booking still exists.
      const event = await deps.api.read(`/scheduled_events/${toUuid(invitee.event)}`, shapes.scheduledEvent, signal);
      const known = event.kind === "found" ? event.value : null;
      return { kind: "booked", booked: toBooked(deps.service, { invitee, event: known }, request) };
    },
    settleRefusal: (refusal) => settleRefusal(refusal, lookups),
  });
}

async function settleRefusal(reply: HttpReply, lookups: SystemLookups): Promise<BookOutcome> {
  if (reply.status === 409) return await settleConflict(reply, lookups);
  // Calendly also answers 404 to a time that is gone.
  if (reply.status === 404) return await settleUnexplained(reply, lookups);
  if (reply.status !== 400) return toFailure(reply);
  const error = shapes.error.Check(reply.json) ? reply.json : {};
  const codes = [error.code, ...(error.details ?? []).map(({ code }) => code)];
  // It may be our own booking, whose reply was lost.
  return codes.includes(TAKEN_CODE) ? await settleConflict(reply, lookups) : await settleUnexplained(reply, lookups);
}

/**
 * The reference is in the tracking fields, by which the booking is found again, and in the notes, which people read. The
 * phone number is part of the notes: as a number for text messages it would subscribe the customer to them.
 */
function toInviteeBody(service: CalendlyService, request: BookRequest): unknown {
  const { customer, reference } = request;
  const { notesQuestion, location } = service;
  const notes = [customer.notes, customer.phone, reference].filter(Boolean).join("\n");
  const answers = request.answers.flatMap(({ questionId, answer }) => {
    const question = service.questions.get(questionId);
    return question ? [{ question: question.name, answer, position: question.position }] : [];
  });
  if (notesQuestion) answers.push({ question: notesQuestion.name, answer: notes, position: notesQuestion.position });
  return {
    event_type: service.eventTypeUri,
    start_time: request.startAt.toISOString(),
    invitee: { name: customer.name, email: customer.email, timezone: customer.timeZone },
    ...(location === null ? {} : { location: toLocation(location) }),
    questions_and_answers: answers,
    // All six are required once there are any.
    tracking: {
      utm_campaign: null,
      utm_source: "bookflow",
      utm_medium: null,
      utm_content: reference,
      utm_term: null,
      salesforce_uuid: null,
    },
  };
}

function toLocation({ kind, location }: { kind: string; location?: string | null }): object {
  return { kind, ...(location ? { location } : {}) };
}

export function toBooked(
  { offered }: CalendlyService,
  { invitee, event }: { invitee: Invitee; event: ScheduledEvent | null },
  lookup: Lookup,
): Booked {
  const startAt = parseIsoInstant(event?.start_time ?? "", "down") ?? lookup.startAt;
  const endMs = startAt.getTime() + offered.durationMinutes * MINUTE_MS;
  const [rescheduleUrl, cancelUrl] = [toHttpsLink(invitee.reschedule_url), toHttpsLink(invitee.cancel_url)];
  return {
    externalId: toUuid(invitee.event),
    startAt,
    endAt: parseIsoInstant(event?.end_time ?? "", "down") ?? new Date(endMs),
    service: { id: offered.id, name: offered.name },
    staff: (event?.event_memberships ?? []).map(({ user, user_name }) => ({ id: toUuid(user), name: user_name ?? "" })),
    manageUrl: rescheduleUrl ?? cancelUrl,
    ...(rescheduleUrl === null || cancelUrl === null ? {} : { cancelUrl }),
    joinUrl: toHttpsLink(event?.location?.join_url),
  };
}
