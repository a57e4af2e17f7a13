import { type TSchema, Type } from "typebox";
import { Analytics, Breakdown } from "./analytics.ts";
import { AnonymousBooking, AnonymousBookingPage, Booking, BookingPage } from "./booking.ts";
import { ChangePage } from "./change.ts";
import { DeletionPage } from "./deletion.ts";
import { REFERENCE_PATTERN } from "./ids.ts";
import {
  AnalyticsQuery,
  BookingsQuery,
  BreakdownQuery,
  ChangesQuery,
  DeletionsQuery,
  EventsQuery,
} from "./read-api.ts";
import { KEY_SCOPES, type KeyScope } from "./scopes.ts";
import { EventTypeList, WebhookEventPage } from "./webhook-event.ts";
import { WidgetList } from "./widget.ts";

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
  readonly answer: TSchema;
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
    answer: WidgetList,
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
    answer: Type.Union([BookingPage, AnonymousBookingPage]),
    meaning: "One page of bookings.",
  },
  getBooking: {
    path: "/bookings/:reference",
    scopes: BOOKING_SCOPES,
    tag: "bookings",
    summary: "Get a stored booking",
    description: "One stored booking, with the fields that it has in the list.",
    params: Type.Object({ reference: Type.String({ pattern: REFERENCE_PATTERN }) }),
    answer: Type.Union([Booking, AnonymousBooking]),
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
    answer: ChangePage,
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
    answer: DeletionPage,
    meaning: "One page of deletions.",
  },
  listEventTypes: {
    path: "/event-types",
    scopes: KEY_SCOPES,
    tag: "events",
    summary: "List event types",
    description: "Every type of event that webhooks receive, with its JSON Schema and an example.",
    answer: EventTypeList,
    meaning: "All event types.",
  },
  listEvents: {
    path: "/events",
    scopes: ["bookings"],
    tag: "events",
    summary: "List events",
    description:
      "The events of the last 30 days, as webhook endpoints receive them, oldest first in the order in which they became " +
      "visible. Send nextCursor back as cursor to get what came after it, at once or days later: no event is ever skipped. " +
      "Events about a booking disappear when it is erased. Test events of endpoints aren't included.",
    query: EventsQuery,
    answer: WebhookEventPage,
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
    answer: Analytics,
    meaning: "The analytics of the window.",
  },
  getBreakdown: {
    path: "/analytics/breakdown",
    scopes: ["analytics"],
    tag: "analytics",
    summary: "Get a breakdown",
    description:
      "Views and bookings by one dimension, for the last `days` days or from `from` to `to`, at most 730 days: for example " +
      "`?dimension=country&days=7` or `?dimension=country&from=2026-11-01&to=2026-11-07`. A visit " +
      "must match every filter; if a parameter is repeated, any of its values matches.",
    query: BreakdownQuery,
    answer: Breakdown,
    meaning: "One page of the breakdown.",
  },
} as const satisfies Record<string, ReadRoute>;

export type ReadRouteName = keyof typeof READ_ROUTES;
