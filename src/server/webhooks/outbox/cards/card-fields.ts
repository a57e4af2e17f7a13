import type {
  BookingEvent,
  BookingRescheduledEvent,
  CardEvent,
  EndpointTestEvent,
} from "#contract/webhooks/webhook-event.ts";

// What a card says, line by line, the same for every chat (contract, Events, rule 3). Each part has its own maximum length, so
// that a very long name cannot push the time, the email address or the campaign off the card.

export type CardFields = {
  /** At most 150 characters, Slack's limit of a header: its parts are cut. Teams has no limit. */
  readonly title: string;
  /** The title with the zone of its time; what a notification shows. */
  readonly summary: string;
  readonly facts: readonly { readonly label: string; readonly value: string }[];
  readonly footer: string;
  /** An http or https address of at most MANAGE_URL_LENGTH_MAX ASCII characters, or null. */
  readonly manageUrl: string | null;
};

const TEST_NOTE = "Test: no real appointment was made";
/** Slack's limit of a text, and far below that of a Teams card. */
const MANAGE_URL_LENGTH_MAX = 3_000;

/** `write` cleans, escapes and cuts; every text that is not ours goes through it. */
export function toCardFields(event: CardEvent, write: WriteText, isTest: boolean): CardFields {
  switch (event.type) {
    case "booking.created":
    case "booking.cancelled":
    case "booking.rescheduled":
      return toBookingFields(event, write, isTest);
    case "endpoint.test":
      return toTestFields(event, write);
    default:
      return event satisfies never;
  }
}

function toBookingFields(event: BookingEvent, write: WriteText, isTest: boolean): CardFields {
  const { booking, business, widget, attribution } = event.data;
  const { service, customer } = booking;
  const when = toLocalTimes(booking);
  const title = `${toTitleStart(event.type, isTest)}: ${write(customer.name, 50)}, ${write(service.name, 50)}, ${write(when.start, 30)}`;
  const source = toSourceText(attribution, write);
  return {
    title,
    summary: `${title} (${write(when.zone, 60)})`,
    facts: [
      { label: "Service", value: write(service.name, 200) },
      { label: "When", value: `${write(when.range, 100)} (${write(when.zone, 60)})` },
      ...(event.type === "booking.rescheduled" ? [toPreviousFact(event.data, write)] : []),
      { label: "With", value: write(booking.staff.map((person) => person.name).join(", "), 300) },
      { label: "Source", value: attribution.campaign ? `${source}, ${write(attribution.campaign, 120)}` : source },
      { label: "Customer", value: `${write(customer.name, 120)}, ${write(customer.email, 260)}` },
      { label: "Reference", value: write(booking.reference, 40) },
    ],
    footer: `${write(widget.name, 100)} | ${write(business.name, 100)}${isTest ? ` | ${TEST_NOTE}` : ""}`,
    manageUrl: event.type === "booking.cancelled" ? null : toManageUrl(booking.manageUrl),
  };
}

function toTitleStart(type: BookingEvent["type"], isTest: boolean): string {
  switch (type) {
    case "booking.created":
      return isTest ? "Test booking" : "New booking";
    case "booking.cancelled":
      return isTest ? "Test cancelled" : "Cancelled";
    case "booking.rescheduled":
      return isTest ? "Test moved" : "Moved";
    default:
      return type satisfies never;
  }
}

function toPreviousFact({ booking, previousStart }: BookingRescheduledEvent["data"], write: WriteText) {
  const { start, zone } = toLocalTimes({ start: previousStart, end: previousStart, timeZone: booking.timeZone });
  return { label: "Before", value: `${write(start, 100)} (${write(zone, 60)})` };
}

function toSourceText({ source, medium }: BookingEvent["data"]["attribution"], write: WriteText): string {
  if (!source && !medium) return "Direct";
  return `${write(source || "(direct)", 80)} / ${write(medium || "(none)", 80)}`;
}

function toTestFields(event: EndpointTestEvent, write: WriteText): CardFields {
  const title = "Test message: new bookings will appear here";
  return {
    title,
    summary: title,
    facts: [
      { label: "Business", value: write(event.data.business.name, 200) },
      { label: "Endpoint", value: write(event.data.endpoint.id, 40) },
    ],
    footer: "No booking was made.",
    manageUrl: null,
  };
}

/** The appointment in the visitor's zone, or in UTC if the zone is unknown; an invalid time is shown unchanged. */
function toLocalTimes(booking: { start: string; end: string; timeZone: string }): {
  start: string;
  range: string;
  zone: string;
} {
  const inVisitorsZone = toFormat(booking.timeZone);
  const format = inVisitorsZone ?? toFormat("UTC");
  // The visitor's own name for the zone: Intl would call Asia/Kolkata by its old name.
  const zone = inVisitorsZone === null ? "UTC" : booking.timeZone;
  const [start, end] = [booking.start, booking.end].map((text) => toLocalTime(format, text));
  if (!start || !end) return { start: booking.start, range: `${booking.start} – ${booking.end}`, zone };
  const range =
    start.day === end.day
      ? `${start.day}, ${start.time}–${end.time}`
      : `${start.day}, ${start.time} – ${end.day}, ${end.time}`;
  return { start: `${start.day} ${start.time}`, range, zone };
}

function toFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-GB", {
      timeZone,
      weekday: "short",
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
    });
  } catch {
    // Only the visitor's zone can be invalid here, and it must not prevent the card.
    return null;
  }
}

/** "Tue 5 May 2026" and "14:30". Put together from the parts, because separators differ between ICU versions. */
function toLocalTime(format: Intl.DateTimeFormat | null, text: string): { day: string; time: string } | null {
  const instant = Date.parse(text);
  if (format === null || Number.isNaN(instant)) return null;
  const parts = format.formatToParts(instant);
  const [weekday, day, month, year, hour, minute] = (
    ["weekday", "day", "month", "year", "hour", "minute"] as const
  ).map((type) => parts.find((part) => part.type === type)?.value);
  return { day: `${weekday} ${day} ${month} ${year}`, time: `${hour}:${minute}` };
}

function toManageUrl(text: string | undefined): string | null {
  const url = text === undefined ? null : URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null;
  return url.href.length <= MANAGE_URL_LENGTH_MAX ? url.href : null;
}

// Prepares visitors' and businesses' text for a chat card: one clean line, escaped for the chat, then cut.

/** Escapes the character at `index` for a chat; may look at its neighbours. */
export type EscapeCharacter = (characters: readonly string[], index: number) => string;

/** Cleans and escapes; never longer than `maxLength`, never empty. */
type WriteText = (text: string, maxLength: number) => string;

/** Not a hyphen: Teams takes a hyphen at the start for a list. */
const NOTHING = "–";
const ELLIPSIS = "…";
/** More than any field of a card holds; keeps cleaning cheap for very long text. */
const CLEANED_LENGTH_MAX = 4_000;

/**
 * Lengths are counted in UTF-16 units of the escaped text, the strictest way a chat could count. The text is cut between
 * code points and never inside an escape sequence.
 */
export function textWriter(escapeCharacter: EscapeCharacter): WriteText {
  return (text, maxLength) => {
    const characters = [...toCleanLine(text)];
    if (characters.length === 0) return NOTHING;
    let whole = "";
    let cut = "";
    for (const index of characters.keys()) {
      whole += escapeCharacter(characters, index);
      if (whole.length > maxLength) return cut + ELLIPSIS;
      if (whole.length < maxLength) cut = whole;
    }
    return whole;
  };
}

/** Line breaks, control and direction-override characters cannot reach a card: they could fake lines or reverse text. */
function toCleanLine(text: string): string {
  return text
    .slice(0, CLEANED_LENGTH_MAX)
    .toWellFormed()
    .replace(/[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
}
