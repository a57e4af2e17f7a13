import { type TSchema, Type } from "typebox";
import { Analytics, Breakdown } from "./analytics/analytics.ts";
import {
  CHANNELS,
  DEVICES,
  DIMENSIONS,
  type Dimension,
  FILTER_LENGTH_MAX,
  FILTER_VALUES_MAX,
  NOT_SET,
  TIME_KEYS,
  type TimeDimension,
  toNegatedName,
} from "./analytics/dimensions.ts";
import { AnonymousBooking, AnonymousBookingPage, Booking, BookingPage } from "./bookings/booking.ts";
import { ChangePage, DeletionPage } from "./bookings/booking-changes.ts";
import { REFERENCE_PATTERN, WIDGET_ID_PATTERN } from "./ids.ts";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "./limits.ts";
import { KEY_SCOPES, type KeyScope } from "./scopes.ts";
import { DAY_PATTERN, INSTANT_PATTERN } from "./timestamps.ts";
import { DELIVERY_LOG_DAYS } from "./webhooks/delivery.ts";
import { CHOSEN_EVENT_TYPES } from "./webhooks/endpoint.ts";
import { EventTypeList, WebhookEventPage } from "./webhooks/webhook-event.ts";
import { WidgetList } from "./widgets/widget.ts";

// The read API's query parameters as OpenAPI describes them. server/http/parameters.ts decides what is valid.

const instant = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: INSTANT_PATTERN,
      description: `${description} A date, or a date and time. UTC is assumed without an offset.`,
      examples: ["2026-11-01T09:30:00.000Z"],
    }),
  );

const widget = Type.Optional(
  Type.String({
    pattern: WIDGET_ID_PATTERN,
    description: "Only this widget. 404 when it is not one of yours.",
    examples: ["w_4fTqD8sKmB2x"],
  }),
);

const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    default: PAGE_SIZE_DEFAULT,
    description: `Page size, 1 to ${PAGE_SIZE_MAX}. Larger values are treated as ${PAGE_SIZE_MAX}.`,
  }),
);

export const BookingsQuery = Type.Object({
  since: instant("Bookings created at or after this time."),
  until: instant("Bookings created before this time."),
  widget,
  limit,
  cursor: instant("The `nextCursor` of the previous page, unchanged. Replaces `until`."),
});

const DeletionsQuery = Type.Object({
  since: instant("Bookings deleted at or after this time."),
  limit,
  cursor: instant("The `nextCursor` of the previous page, unchanged."),
});

const EventsQuery = Type.Object({
  since: instant("Events created at or after this time, for the first request. Ignored if there is a cursor."),
  type: Type.Optional(Type.Enum([...CHOSEN_EVENT_TYPES], { description: "Only events of this type." })),
  limit,
  cursor: instant("The `nextCursor` of an earlier page, unchanged."),
});

const ChangesQuery = Type.Object({
  since: instant("Changes recorded at or after this time."),
  limit,
  cursor: instant("The `nextCursor` of the previous page, unchanged."),
});

const AnalyticsQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: WINDOW_DAYS_MAX,
      default: WINDOW_DAYS_DEFAULT,
      description: "Number of days up to and including today, in the organization's time zone.",
    }),
  ),
  widget,
});

const day = (description: string) => Type.Optional(Type.String({ format: "date", pattern: DAY_PATTERN, description }));

const keys = (dimension: Dimension, description: string) =>
  Type.Optional(Type.Array(toKeySchema(dimension), { maxItems: FILTER_VALUES_MAX, description }));

function toKeySchema(dimension: Dimension): TSchema {
  switch (dimension) {
    case "channel":
      return Type.Enum([...CHANNELS]);
    case "device":
      return Type.Enum([...DEVICES, NOT_SET]);
    case "country":
      return Type.String({ pattern: "^([A-Za-z]{2}|\\(not set\\))$", examples: ["DE"] });
    case "widget":
      return Type.String({ pattern: WIDGET_ID_PATTERN });
    default:
      return Type.String({ minLength: 1, maxLength: FILTER_LENGTH_MAX, pattern: "^[^\\u0000]*$" });
  }
}

const filters = Object.fromEntries(
  DIMENSIONS.flatMap((dimension) => [
    [dimension, keys(dimension, `${describeFilter(dimension).only} Repeat the parameter for several values.`)],
    [
      toNegatedName(dimension),
      keys(dimension, `${describeFilter(dimension).not} Repeat the parameter for several values.`),
    ],
  ]),
);

function describeFilter(dimension: Dimension): { only: string; not: string } {
  return dimension === "service"
    ? {
        only: "Only bookings of this service, and the visits that made them.",
        not: "Excludes bookings of this service, and visits that made no others.",
      }
    : { only: `Only visits with this ${dimension}.`, not: `Excludes visits with this ${dimension}.` };
}

const timeKeys = (dimension: TimeDimension, description: string) =>
  Type.Optional(
    Type.Array(Type.Enum([...TIME_KEYS[dimension]]), {
      maxItems: FILTER_VALUES_MAX,
      description: `${description} Repeat the parameter for several values.`,
    }),
  );

const timeFilters = {
  weekday: timeKeys("weekday", "Only views and bookings on this weekday, in the organization's time zone."),
  notWeekday: timeKeys("weekday", "Excludes views and bookings on this weekday."),
  hour: timeKeys("hour", "Only views and bookings in this hour of the day, in the organization's time zone."),
  notHour: timeKeys("hour", "Excludes views and bookings in this hour of the day."),
  leadTime: timeKeys("leadTime", "Only bookings made this many days before the appointment, and their visits."),
  notLeadTime: timeKeys(
    "leadTime",
    "Excludes bookings made this many days before the appointment, and visits that made no others.",
  ),
};

export const BreakdownQuery = Type.Object({
  dimension: Type.Enum([...DIMENSIONS], { description: "The dimension to list." }),
  days: AnalyticsQuery.properties.days,
  from: day("First day, for example 2026-11-01, and not after `to` or today. Not together with `days`."),
  to: day("Last day, included, for example 2026-11-30. Default: today. Not together with `days`."),
  ...filters,
  ...timeFilters,
  limit: BookingsQuery.properties.limit,
  cursor: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_-]+$",
      description:
        "The `nextCursor` of the previous page, unchanged. Dimension, days and filters must be the same as on that page.",
    }),
  ),
});

/** Below it is everything that API keys are for. */
export const API_PREFIX = "/api/v1";

/** Changes when a program that follows the guide could break. */
export const API_VERSION = "1";

/** Sections of the API reference, in order: what most people look for comes first. */
export const API_TAGS = [
  "bookings",
  "analytics",
  "widgets",
  "events",
  "endpoints",
  "deliveries",
  "redeliveries",
  "connections",
  "keys",
  "organization",
] as const;
type ApiTag = (typeof API_TAGS)[number];

type ReadRoute = {
  readonly path: string;
  /** The key needs one of these. */
  readonly scopes: readonly KeyScope[];
  /** Its section in the API reference. */
  readonly tag: ApiTag;
  readonly summary: string;
  readonly description: string;
  readonly params?: TSchema;
  readonly query?: TSchema;
  /** What is sent, and what that is in words; nothing more than the schema names. */
  readonly response: TSchema;
  readonly meaning: string;
};

const BOOKING_SCOPES = ["bookings", "bookings.anonymous"] as const;

/** Every route of the read API, which are all GET. What keys can change is in app/routes.ts. */
export const READ_ROUTES = {
  listWidgets: {
    path: "/widgets",
    scopes: KEY_SCOPES,
    tag: "widgets",
    summary: "List widgets",
    description: "Every widget of the organization, newest first.",
    response: WidgetList,
    meaning: "All widgets.",
  },
  listBookings: {
    path: "/bookings",
    scopes: BOOKING_SCOPES,
    tag: "bookings",
    summary: "List stored bookings",
    description:
      "Stored bookings, newest first by createdAt. Only bookings of widgets that had Store bookings on when the " +
      "booking was made exist here. Filters apply to createdAt, not to the appointment time. With `bookings.anonymous` and " +
      "without `bookings`, everything about the customer is left out.",
    query: BookingsQuery,
    response: Type.Union([BookingPage, AnonymousBookingPage]),
    meaning: "One page of bookings.",
  },
  getBooking: {
    path: "/bookings/:reference",
    scopes: BOOKING_SCOPES,
    tag: "bookings",
    summary: "Get a stored booking",
    description: "One stored booking, with the fields that it has in the list.",
    params: Type.Object({ reference: Type.String({ pattern: REFERENCE_PATTERN }) }),
    response: Type.Union([Booking, AnonymousBooking]),
    meaning: "The booking.",
  },
  listChanges: {
    path: "/changes",
    scopes: BOOKING_SCOPES,
    tag: "bookings",
    summary: "List changes of bookings",
    description:
      "Appointments of stored bookings that were cancelled or moved, newest first by changedAt. Use it to keep your copy of the " +
      "bookings up to date. Changes of a booking that was deleted are gone with it. No personal data is included.",
    query: ChangesQuery,
    response: ChangePage,
    meaning: "One page of changes.",
  },
  listDeletions: {
    path: "/deletions",
    scopes: BOOKING_SCOPES,
    tag: "bookings",
    summary: "List deleted bookings",
    description:
      "Stored bookings that were erased, deleted, or reached the end of their retention, newest first by deletedAt. Use it " +
      "to delete them from your copy too. No personal data is included.",
    query: DeletionsQuery,
    response: DeletionPage,
    meaning: "One page of deletions.",
  },
  listEventTypes: {
    path: "/event-types",
    scopes: KEY_SCOPES,
    tag: "events",
    summary: "List event types",
    description: "Every type of event that webhooks receive, with its JSON Schema and an example.",
    response: EventTypeList,
    meaning: "All event types.",
  },
  listEvents: {
    path: "/events",
    scopes: ["bookings"],
    tag: "events",
    summary: "List events",
    description:
      `The events of the last ${DELIVERY_LOG_DAYS} days, as webhook endpoints receive them, oldest first in the order in which they became ` +
      "visible. Send nextCursor back as cursor to get what came after it, at once or days later: no event is ever skipped. " +
      "Events about a booking disappear when it is erased. Test events of endpoints aren't included.",
    query: EventsQuery,
    response: WebhookEventPage,
    meaning: "One page of events.",
  },
  getAnalytics: {
    path: "/analytics",
    scopes: ["analytics"],
    tag: "analytics",
    summary: "Get analytics",
    description:
      "Views, funnel and bookings for the last `days` days, counted in the organization's time zone. Built from " +
      "anonymous funnel events, so it does not depend on Store bookings. When days reaches beyond the retained period, the " +
      "data that is left is returned.",
    query: AnalyticsQuery,
    response: Analytics,
    meaning: "The analytics of the window.",
  },
  getBreakdown: {
    path: "/analytics/breakdown",
    scopes: ["analytics"],
    tag: "analytics",
    summary: "Get a breakdown",
    description:
      "Views and bookings by one dimension, for the last `days` days or from `from` to `to`, at most " +
      `${WINDOW_DAYS_MAX} days: for example ` +
      "`?dimension=country&days=7` or `?dimension=country&from=2026-11-01&to=2026-11-07`. A visit " +
      "must match every filter; if a parameter is repeated, any of its values matches.",
    query: BreakdownQuery,
    response: Breakdown,
    meaning: "One page of the breakdown.",
  },
} as const satisfies Record<string, ReadRoute>;

export type ReadRouteName = keyof typeof READ_ROUTES;
