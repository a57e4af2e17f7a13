import { CHOICES_SEPARATOR } from "#contract/scheduling.ts";
import type { BookRequest } from "../scheduling-system.ts";
import { type CalcomService, LOCATION_QUESTION } from "./catalog.ts";

// The body of a new booking. Whatever Cal.com would reject goes into the notes instead, so that it reaches the business
// and the booking succeeds.

/** Cal.com's limit for text areas, the notes included, in UTF-16 units. */
const TEXT_AREA_LENGTH_MAX = 1_000;
/** For a field with a lower limit, which the API doesn't show. */
const SHORT_ANSWER_LENGTH = 50;
/** Stands in for the last name of a customer who gave one word, where the event type requires both. */
const NO_LAST_NAME = "–";

type BodyOptions = {
  /** Null: none, or Cal.com rejected it. */
  readonly phoneNumber: string | null;
  readonly language: string | undefined;
  /** Fields whose answers Cal.com rejected. */
  readonly rejected: ReadonlySet<string>;
};

export function toBookingBody(service: CalcomService, request: BookRequest, options: BodyOptions): unknown {
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
export function toPhoneNumber(phone: string | null): string | null {
  const digits = phone?.replace(/[\s().-]/g, "") ?? "";
  return /^\+[1-9][0-9]{6,14}$/.test(digits) ? digits : null;
}

/** A rejected answer goes into the notes. If it is required, Cal.com gets its beginning as well. */
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
    if (isAccepted) responses[questionId] = toResponse(type, answer);
    else if (isRejected && question.required) responses[questionId] = cut(answer, SHORT_ANSWER_LENGTH);
  }
  return { responses, leftOver };
}

function toResponse(type: string, answer: string): unknown {
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

/** The reference always fits: the rest is cut. */
function toNotes(notes: readonly (string | null)[], reference: string): string {
  const text = notes.filter(Boolean).join("\n");
  if (text === "") return reference;
  return `${cut(text, TEXT_AREA_LENGTH_MAX - reference.length - 1)}\n${reference}`;
}

/** Never ends in half a character. */
function cut(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, "");
}
