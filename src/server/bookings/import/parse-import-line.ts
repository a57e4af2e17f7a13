import type { Selectable } from "kysely";
import { Attribution } from "#contract/analytics/attribution.ts";
import { type Answer, BOOKING_STATUS_CONFIRMED } from "#contract/bookings/booking.ts";
import { parseReference, parseWidgetId } from "#contract/ids.ts";
import { ImportedBooking } from "#contract/imported-lines.ts";
import { EMAIL_LENGTH_MAX } from "#contract/widgets/embed-api.ts";
import { TOUCHES_MAX } from "../../analytics/analytics.ts";
import type { BookingsTable } from "../../db/tables/tables.ts";
import { describeSchemaFault } from "../../lib/schema-fault.ts";
import { shapeOf } from "../../lib/shape.ts";
import { parseJsonText } from "../../lib/text/json-text.ts";
import { isSafeLink } from "../../lib/text/safe-link.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import type { BookingRow } from "../stored/queries.ts";
import { pickNamed, toApiJson } from "../stored/to-api-json.ts";

const schema = shapeOf(ImportedBooking);

/** The read API's timestamps have four-digit years. */
const NEWEST_INSTANT = new Date("9999-12-31T23:59:59.999Z");

/** The columns that a line fills. */
export type ImportRow = Omit<BookingRow, "is_test"> & Pick<Selectable<BookingsTable>, "api_json">;

/** Parses one line, or returns its fault as the rest of a sentence. */
export function parseImportLine(
  line: string,
  { now, baseUrl }: { now: Date; baseUrl: string },
): { row: ImportRow } | { fault: string } {
  const parsed = parseJsonText(line);
  if ("fault" in parsed) return parsed;
  const booking = parsed.value;
  if (!schema.Check(booking)) return { fault: describeSchemaFault(schema.Errors(booking)[0], "it") };

  const createdAt = parseInstant(booking.createdAt);
  const startAt = parseInstant(booking.start);
  const endAt = parseInstant(booking.end);
  const attribution = toKnown(booking.attribution ?? {});
  const firstSeenAt = attribution.firstSeenAt === undefined ? undefined : parseInstant(attribution.firstSeenAt);
  if (!createdAt) return { fault: "createdAt is not a valid date" };
  if (!startAt) return { fault: "start is not a valid date" };
  if (!endAt) return { fault: "end is not a valid date" };
  if (firstSeenAt === null) return { fault: "attribution.firstSeenAt is not a valid date" };
  // A future createdAt would push every later booking beyond it.
  if (createdAt > now) return { fault: "createdAt is in the future" };
  if (endAt < startAt) return { fault: "end is before start" };
  const reference = parseReference(booking.reference);
  if (reference === null) return { fault: "reference does not have the form SVC-XXXXXX" };
  const widgetId = parseWidgetId(booking.widgetId);
  if (widgetId === null) return { fault: "widgetId is not a widget ID" };
  const timeZone = parseTimeZone(booking.timeZone);
  if (timeZone === null) return { fault: "timeZone is not an IANA time zone" };
  if (booking.customer.email.length > EMAIL_LENGTH_MAX)
    return { fault: `customer.email is longer than ${EMAIL_LENGTH_MAX} characters` };
  if (hasRepeated(booking.answers ?? [])) return { fault: "answers has a questionId more than once" };
  if (booking.manageUrl && !isSafeLink(booking.manageUrl, baseUrl)) return { fault: "manageUrl is not an https URL" };
  if (booking.joinUrl && !isSafeLink(booking.joinUrl, baseUrl)) return { fault: "joinUrl is not an https URL" };

  const row = {
    reference,
    widget_id: widgetId,
    status: booking.status ?? BOOKING_STATUS_CONFIRMED,
    created_at: createdAt,
    start_at: startAt,
    end_at: endAt,
    time_zone: timeZone,
    service_id: booking.service.id,
    service_name: booking.service.name,
    staff: (booking.staff ?? []).map((name) => ({ id: null, name })),
    customer_name: booking.customer.name,
    customer_email: booking.customer.email,
    customer_phone: booking.customer.phone || null,
    customer_notes: booking.customer.notes || null,
    answers: (booking.answers ?? []).map(({ questionId, question, answer }) => ({ questionId, question, answer })),
    attribution: firstSeenAt ? { ...attribution, firstSeenAt: firstSeenAt.toISOString() } : attribution,
    external_id: booking.id || null,
    manage_url: booking.manageUrl || null,
    join_url: booking.joinUrl || null,
  };
  return { row: { ...row, api_json: toApiJson(row) } };
}

/** As the booking flow would store it. Fields that the schema doesn't name are dropped: they would never be shown. */
function toKnown(attribution: Attribution): Attribution {
  const known = pickNamed(Attribution, attribution);
  if (known.touches !== undefined) known.touches = Math.min(known.touches, TOUCHES_MAX);
  if (known.landingPage !== undefined && !/^https?:\/\//i.test(known.landingPage)) delete known.landingPage;
  return known;
}

function hasRepeated(answers: readonly Answer[]): boolean {
  return new Set(answers.map(({ questionId }) => questionId)).size < answers.length;
}

function parseInstant(text: string): Date | null {
  const instant = parseIsoInstant(text, "down");
  return instant && instant <= NEWEST_INSTANT ? instant : null;
}
