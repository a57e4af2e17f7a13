import { isDeepStrictEqual } from "node:util";
import type { Reply } from "../local-server.ts";
import { toError } from "./calcom-error.ts";
import { allEventTypes, HIDDEN_LIMITS } from "./calcom-world.ts";

// For tests: which new bookings Cal.com refuses, and with which words.

type EventType = (typeof allEventTypes)[number];

export const BLOCKED_EMAIL = "blocked@example.com";
/** A number of valid length that libphonenumber rejects: no North American area code starts with 0. */
export const INVALID_PHONE = "+1 022 555 0100";
const TEXT_AREA_LENGTH_MAX = 1_000;

/** The first field of a new booking that doesn't match the documentation; our mistake, whoever the customer is. */
export function findInvalidField(wanted: Record<string, never>): string | null {
  const keys = ["attendee", "bookingFieldsResponses", "eventTypeId", "metadata", "start"];
  const { attendee, metadata, bookingFieldsResponses } = wanted as Record<string, Record<string, unknown>>;
  const eventType = allEventTypes.find(({ id }) => id === wanted["eventTypeId"]);
  const slugs = eventType?.bookingFields.map(({ slug }) => slug) ?? [];
  const checks: Record<string, boolean> = {
    members: isDeepStrictEqual(
      Object.keys(wanted)
        .filter((key) => key !== "location")
        .sort(),
      keys,
    ),
    start: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(wanted["start"] ?? ""),
    attendee: ["name", "email", "timeZone"].every((name) => typeof attendee?.[name] === "string"),
    phoneNumber: attendee?.["phoneNumber"] === undefined || /^\+\d{7,15}$/.test(String(attendee["phoneNumber"])),
    language: attendee?.["language"] === undefined || /^(en|de|fr|es|pt)$/.test(String(attendee["language"])),
    metadata: Object.values(metadata ?? {}).every((value) => typeof value === "string" && value.length <= 500),
    notes: String(bookingFieldsResponses?.["notes"]).endsWith(String(metadata?.["reference"])),
    responses: Object.keys(bookingFieldsResponses ?? {}).every((slug) => slug === "notes" || slugs.includes(slug)),
  };
  return Object.entries(checks).find(([, isRight]) => !isRight)?.[0] ?? null;
}

/** Cal.com's answer to a well-formed booking that it still rejects. */
export function findRefusal(wanted: Record<string, never>, eventType: EventType): Reply | null {
  const { attendee = {}, bookingFieldsResponses = {} } = wanted as Record<string, Record<string, unknown>>;
  const phone = attendee["phoneNumber"];
  if (typeof phone === "string" && phone === INVALID_PHONE.replaceAll(" ", "")) {
    const constraints = { customValidation: "Invalid phone number format. Please use international format." };
    const errors = [{ property: "attendee", children: [{ property: "phoneNumber", constraints }] }];
    return toError(400, "BadRequestException", "Bad Request Exception", { errors });
  }
  if (attendee["email"] === BLOCKED_EMAIL)
    return toError(403, "ForbiddenException", "Cannot use this email to create the booking.");
  if (eventType.requiresBookerEmailVerification)
    return toError(400, "BadRequestException", "email_verification_required");
  if (JSON.stringify(eventType.bookingFields).includes("smsReminderNumber") && phone === undefined)
    return toError(400, "BadRequestException", "Missing attendee phone number - it is required by the event type.");
  const wrongLocation = findWrongLocation(eventType, wanted["location"]);
  if (wrongLocation !== null) return toError(400, "BadRequestException", wrongLocation);
  if (eventType.bookingFields.some(requiresPhone) && phone === undefined)
    return toError(400, "BAD_REQUEST", "responses - {attendeePhoneNumber}error_required_field, ");
  return (
    findMissing(eventType, bookingFieldsResponses) ?? findWrongAnswer(eventType, { attendee, bookingFieldsResponses })
  );
}

/** The API's own check comes first, and doesn't care whether a field is hidden. */
function findMissing(eventType: EventType, responses: Record<string, unknown>): Reply | null {
  for (const { type, slug, required, isDefault, options } of eventType.bookingFields) {
    const answer = responses[String(slug)];
    if (isDefault || type === "unknown") continue;
    if (required && (answer === undefined || answer === null)) {
      const message = `Missing required booking field response: ${slug} - it is required by the event type booking fields, but missing in the bookingFieldsResponses. You can fetch the event type with ID ${eventType.id} to see the required fields.`;
      return toError(400, "BadRequestException", message);
    }
    const expected = EXPECTED_TYPES[String(type)];
    if (answer === undefined || expected === undefined) continue;
    const isArray = Array.isArray(answer);
    if ((isArray ? "array" : typeof answer) !== expected)
      return toError(
        400,
        "BadRequestException",
        `Invalid type for booking field '${slug}'. Expected type ${expected} (compatible with field type '${type}'), but received ${typeof answer}.`,
      );
    if (isArray && !answer.every((one) => (options as string[]).includes(one))) {
      const allowed = (options as string[]).join(", ");
      const message = `One or more invalid options for booking field '${slug}'. Allowed options are: ${allowed}.`;
      return toError(400, "BadRequestException", message);
    }
  }
  return null;
}

const EXPECTED_TYPES: Readonly<Record<string, string>> = {
  number: "number",
  phone: "string",
  boolean: "boolean",
  checkbox: "array",
  multiselect: "array",
};

function requiresPhone({ slug, required, hidden }: Record<string, unknown>): boolean {
  return slug === "attendeePhoneNumber" && required === true && hidden !== true;
}

/** Null: right. A location that nobody names is the event type's first one, which may need something from the visitor. */
function findWrongLocation({ id, locations }: EventType, given: Record<string, unknown> | undefined): string | null {
  const types = locations.map(({ type }) => type);
  const needed = { attendeePhone: "phone", attendeeAddress: "address", attendeeDefined: "location" }[String(types[0])];
  if (given === undefined) return needed === undefined ? null : "responses - {location}error_required_field, ";
  if (!types.includes(given["type"]))
    return `Booking location with type ${given["type"]} not valid for event type with id=${id}. The event type has following location types: ${types.join(", ")}, and only these types are allowed for booking location.`;
  return needed !== undefined && !given[needed]
    ? `BookingInputLocationValidator_2024_08_13 - Validation failed for ${given["type"]} location`
    : null;
}

/** The booking page's checks. */
function findWrongAnswer(
  eventType: EventType,
  { attendee, bookingFieldsResponses }: Record<string, Record<string, unknown>>,
): Reply | null {
  for (const { type, slug, lastNameRequired, required, hidden } of eventType.bookingFields) {
    const answer = bookingFieldsResponses?.[String(slug)];
    const toZod = (message: string) => toError(400, "BAD_REQUEST", `responses - {${slug}}${message}, `);
    if (lastNameRequired && !String(attendee?.["name"]).includes(" ")) return toZod("error_required_field");
    if (slug === "title" && required && !hidden && !answer) return toZod("error_required_field");
    if (answer === undefined) continue;
    if (type === "boolean" && required && answer !== true) return toZod("error_required_field");
    if (type === "phone" && !/^\+[1-9]\d{6,14}$/.test(String(answer))) return toZod("invalid_number");
    if (type === "number") return toZod("Invalid string");
    const lengthMax = HIDDEN_LIMITS[eventType.id]?.[String(slug)] ?? TEXT_AREA_LENGTH_MAX;
    if (type === "textarea" && String(answer).length > lengthMax) return toZod("max_characters_allowed");
    if (type === "url" && !URL.canParse(String(answer)) && !URL.canParse(`https://${answer}`))
      return toZod("url_validation_error");
  }
  return null;
}
