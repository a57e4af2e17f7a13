import type { Answer } from "#contract/bookings/booking.ts";
import { NOTES_LENGTH_MAX } from "#contract/limits.ts";
import { CHOICES_SEPARATOR, TICKED } from "#contract/scheduling.ts";
import {
  ANSWER_LENGTH_MAX,
  BookRequest,
  EMAIL_LENGTH_MAX,
  NAME_LENGTH_MAX,
  PHONE_LENGTH_MAX,
} from "#contract/widgets/embed-api.ts";
import { FIELD_FAULTS } from "../../http/errors/check-fields.ts";
import { describeSchemaFault } from "../../lib/schema-fault.ts";
import { shapeOf } from "../../lib/shape.ts";
import { isTooComplex, parseJsonText } from "../../lib/text/json-text.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import type { OfferedService } from "../../scheduler/scheduler.ts";

const TOO_LONG = "This is too long.";
/** Accepts a decimal point or comma, but not a comma before exactly three digits, which may separate thousands. */
const NUMBER = /^-?[0-9]{1,15}(\.[0-9]{1,15}|,(?![0-9]{3}$)[0-9]{1,15})?$/;
const NOT_INTERNATIONAL = "Please enter the number with its country code, for example +49 30 1234567.";
const NOT_A_NUMBER = "Please enter a number, for example 3 or 1.5.";

const schema = shapeOf(BookRequest);

export type CheckedRequest = {
  startAt: Date;
  timeZone: string;
  customer: { name: string; email: string; phone: string | null; notes: string | null };
  answers: Answer[];
};

type Fields = Record<string, string>;

/** Parses the body, or says in one sentence why it is not a request. */
export function parseBookRequest(body: string): { request: BookRequest } | { fault: string } {
  const parsed = parseBody(body);
  if ("fault" in parsed) return { fault: `The body could not be read: ${parsed.fault}.` };
  const { value } = parsed;
  if (schema.Check(value)) return { request: value };
  return { fault: `${describeSchemaFault(schema.Errors(value)[0], "The body")}.` };
}

/** Attribution and page never fail a booking: if the body is at fault, the rest of it is parsed without them. */
function parseBody(text: string): ReturnType<typeof parseJsonText> {
  const parsed = parseJsonText(text);
  if (!("fault" in parsed) || isTooComplex(text)) return parsed;
  try {
    const { attribution, page, ...rest }: Record<string, unknown> = JSON.parse(text);
    const strict = parseJsonText(JSON.stringify(rest));
    return "fault" in strict ? strict : { value: { ...(strict.value as object), attribution, page } };
  } catch {
    return parsed;
  }
}

/** Checks what the visitor entered against our limits and the chosen service, and lists every fault by field. */
export function checkBookRequest(
  request: BookRequest,
  service: OfferedService | undefined,
): { checked: CheckedRequest } | { fields: Fields } {
  const fields: Fields = {};
  const startAt = parseIsoInstant(request.start, "down");
  const timeZone = parseTimeZone(request.timeZone);
  if (!startAt) fields["start"] = "This is not a valid date and time.";
  if (!timeZone) fields["timeZone"] = "Unknown time zone.";
  if (!service) fields["serviceId"] = "This service is not offered.";
  if (request.staffId !== undefined && service && !service.staff.some(({ id }) => id === request.staffId))
    fields["staffId"] = "This person can't be booked for this service.";
  const customer = checkCustomer(request, service, fields);
  const answers = checkAnswers(request, service, fields);
  if (Object.keys(fields).length > 0 || !startAt || !timeZone) return { fields };
  return { checked: { startAt, timeZone, customer, answers } };
}

function checkCustomer(
  request: BookRequest,
  service: OfferedService | undefined,
  fields: Fields,
): CheckedRequest["customer"] {
  const name = toLine(request.customer.name);
  const email = request.customer.email.trim();
  const phone = toLine(request.customer.phone ?? "");
  const notes = (request.customer.notes ?? "").trim();
  if (name === "") fields["customer.name"] = FIELD_FAULTS.noName;
  else if (name.length > NAME_LENGTH_MAX) fields["customer.name"] = FIELD_FAULTS.longName;
  if (!isEmailAddress(email)) fields["customer.email"] = FIELD_FAULTS.notAnEmail;
  if (phone.length > PHONE_LENGTH_MAX) fields["customer.phone"] = "This number is too long.";
  else if (service?.phoneRequired && !isInternational(phone)) fields["customer.phone"] = NOT_INTERNATIONAL;
  if (notes.length > NOTES_LENGTH_MAX) fields["customer.notes"] = TOO_LONG;
  return { name, email, phone: phone || null, notes: notes || null };
}

/** The length is checked first: the pattern takes quadratic time. */
function isEmailAddress(text: string): boolean {
  return text.length <= EMAIL_LENGTH_MAX && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);
}

/** Answers in the order of the service's questions, without empty ones. */
function checkAnswers(request: BookRequest, service: OfferedService | undefined, fields: Fields): Answer[] {
  const given = new Map<string, string>();
  for (const { questionId, answer } of request.answers ?? []) {
    if (given.has(questionId)) fields[`answers.${questionId}`] = "This question was answered more than once.";
    given.set(questionId, answer.trim());
  }
  const questions = service?.questions ?? [];
  for (const id of given.keys())
    if (service && !questions.some((question) => question.id === id)) fields[`answers.${id}`] = "Unknown question.";
  return questions.flatMap((question) => {
    const answer = given.get(question.id) ?? "";
    const fault = checkAnswer(question, answer);
    if (fault) fields[`answers.${question.id}`] ??= fault;
    const kept = question.type === "number" ? answer.replace(",", ".") : answer;
    return answer === "" ? [] : [{ questionId: question.id, question: question.label, answer: kept }];
  });
}

function checkAnswer(question: OfferedService["questions"][number], answer: string): string | null {
  if (answer === "") return question.required ? "Please answer this question." : null;
  const chosen = question.type === "choices" ? answer.split(CHOICES_SEPARATOR) : [answer];
  const isOffered = question.options.length === 0 || chosen.every((option) => question.options.includes(option));
  if (!isOffered || new Set(chosen).size < chosen.length) return "Choose one of the options.";
  if (question.type === "tick" && answer !== TICKED) return "Please tick this box or leave it empty.";
  if (question.type === "phone" && !isInternational(answer)) return NOT_INTERNATIONAL;
  if (question.type === "number" && !NUMBER.test(answer)) return NOT_A_NUMBER;
  return answer.length > ANSWER_LENGTH_MAX ? TOO_LONG : null;
}

/** Scheduling systems know no other form. */
function isInternational(phone: string): boolean {
  return /^\+[1-9][0-9]{6,14}$/.test(phone.replace(/[\s().-]/g, ""));
}

function toLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").trim();
}
