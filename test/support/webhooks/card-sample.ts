import fc from "fast-check";
import type {
  BookingCancelledEvent,
  BookingCreatedEvent,
  BookingEvent,
  BookingRescheduledEvent,
  EndpointTestEvent,
  WebhookBooking,
} from "#contract/webhooks/webhook-event.ts";

// For card tests: one ordinary booking, a test event, and bookings with arbitrary texts.

export function bookingCreated(
  change: {
    booking?: Partial<WebhookBooking>;
    attribution?: Partial<BookingCreatedEvent["data"]["attribution"]>;
    business?: string;
    widget?: string;
  } = {},
): BookingCreatedEvent {
  return {
    id: "evt_4f2c8a90d1e74b6fa35c0b7e9d8a6c12",
    type: "booking.created",
    created: "2026-05-01T08:00:00.000Z",
    apiVersion: "2026-11-01",
    data: {
      booking: {
        reference: "SVC-AB23CD",
        id: "external-1",
        status: "confirmed",
        start: "2026-05-05T12:30:00.000Z",
        end: "2026-05-05T13:00:00.000Z",
        timeZone: "Europe/Berlin",
        service: { id: "s1", name: "Intro call" },
        staff: [
          { id: "p1", name: "Alex Kim" },
          { id: "p2", name: "Sam Lee" },
        ],
        customer: { name: "Jane Doe", email: "jane_doe@example.com", phone: null, notes: "never shown" },
        answers: [{ questionId: "q1", question: "Size?", answer: "never shown either" }],
        manageUrl: "https://book.example.com/manage?id=1&sig=a%2Fb",
        joinUrl: null,
        ...change.booking,
      },
      business: { id: "org_1111111111111111", name: change.business ?? "Acme Studio" },
      widget: { id: "w_111111111111", name: change.widget ?? "Main widget" },
      attribution: {
        source: "google",
        medium: "cpc",
        campaign: "spring_sale",
        utm: {},
        clickIds: {},
        ...change.attribution,
      },
    },
  };
}

export function cancelled(event: BookingCreatedEvent): BookingCancelledEvent {
  const { data } = event;
  return { ...event, type: "booking.cancelled", data: { ...data, booking: { ...data.booking, status: "cancelled" } } };
}

export function rescheduled(event: BookingCreatedEvent, previousStart: string): BookingRescheduledEvent {
  return { ...event, type: "booking.rescheduled", data: { ...event.data, previousStart } };
}

export const endpointTest: EndpointTestEvent = {
  id: "evt_00000000000000000000000000000001",
  type: "endpoint.test",
  created: "2026-05-01T08:00:00.000Z",
  apiVersion: "2026-11-01",
  data: {
    endpoint: { id: "we_1111111111111111" },
    business: { id: "org_1111111111111111", name: "Acme <Studio>" },
  },
};

const HOSTILE_PIECES = [
  "<!channel>",
  "<!here|here>",
  "<@U012AB3CD>",
  "<https://evil.example|Click>",
  "[Click](https://evil.example)",
  "![x](https://evil.example/x.png)",
  "<at>Everyone</at>",
  "{{DATE(2026-01-01T00:00:00Z)}}",
  "&amp;",
  "&lt;",
  "\\",
  "\\[",
  "**bold**",
  "_italic_",
  "`code`",
  "- list",
  "1. list",
  "\r\n\r\n# heading",
  "\u0000",
  "\u202e",
  "\u2028",
  '"',
  "😀",
  "\ud83d",
  "👩‍👩‍👧‍👦",
  "e\u0301",
  " ",
];

/** Includes lone surrogates. `fc.string({ unit: "binary" })` leaves them out, and takes seconds to set up. */
const anyCodePoints = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 40 })
  .map((points) => String.fromCodePoint(...points));

/** Any text: any code points, real scripts, known attacks, and all of them very long. */
const anyText: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      fc.string(),
      fc.string({ unit: "grapheme" }),
      anyCodePoints,
      fc.array(fc.constantFrom(...HOSTILE_PIECES), { maxLength: 12 }).map((pieces) => pieces.join("")),
    ),
    fc.constantFrom(1, 1, 1, 60, 2_000),
  )
  .map(([text, times]) => text.repeat(times));

const anyPerson = fc.record({ id: anyText, name: anyText });
const anyOptionalText = fc.option(anyText, { nil: undefined });

const anyBookingCreated: fc.Arbitrary<BookingCreatedEvent> = fc
  .record({
    reference: anyText,
    start: fc.oneof(
      anyText,
      fc.date().map((date) => (Number.isNaN(date.getTime()) ? "never" : date.toISOString())),
    ),
    end: fc.oneof(anyText, fc.constant("2026-05-05T13:00:00.000Z")),
    timeZone: fc.oneof(anyText, fc.constantFrom("Europe/Berlin", "America/Argentina/ComodRivadavia", "UTC", "+05:30")),
    service: anyPerson,
    staff: fc.array(anyPerson, { maxLength: 5 }),
    name: anyText,
    email: anyText,
    manageUrl: fc.oneof(
      anyText,
      fc.constant("javascript:alert(1)"),
      anyText.map((text) => `https://book.example.com/${text}`),
    ),
    source: anyOptionalText,
    medium: anyOptionalText,
    campaign: anyOptionalText,
    business: anyText,
    widget: anyText,
  })
  .map(({ name, email, source, medium, campaign, business, widget, ...booking }) => {
    const made = bookingCreated({
      booking: { ...booking, customer: { name, email, phone: null, notes: null } },
      business,
      widget,
    });
    const present = Object.entries({ source, medium, campaign }).filter(([, value]) => value !== undefined);
    return { ...made, data: { ...made.data, attribution: { ...Object.fromEntries(present), utm: {}, clickIds: {} } } };
  });

export const anyBookingEvent: fc.Arbitrary<BookingEvent> = fc
  .tuple(anyBookingCreated, fc.constantFrom("created", "cancelled", "rescheduled"), anyText)
  .map(([event, kind, text]) =>
    kind === "created" ? event : kind === "cancelled" ? cancelled(event) : rescheduled(event, text),
  );

export function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
