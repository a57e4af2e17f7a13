import { type Static, Type } from "typebox";
import { Analytics, AnalyticsEntry } from "../analytics/analytics.ts";
import { Timestamp } from "../timestamps.ts";
import { NullableText, nullable } from "./forms.ts";

/** YYYY-MM-DD in the organization's time zone. */
const Day = Type.String();
const Count = Type.Integer({ minimum: 0 });

/**
 * Periods that end with today or yesterday, instead of `days`, or `from` and `to`. `all` begins with the organization's first
 * day with data, or at the longest period.
 */
export const PERIODS = ["today", "yesterday", "month", "last-month", "year", "12-months", "all"] as const;
export type Period = (typeof PERIODS)[number];

/** What a report can be compared with. `custom` needs compareFrom and compareTo. */
export const COMPARISONS = ["previous", "year", "custom", "none"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/**
 * How the days of `previous` and `year` are found: `weekday` goes back whole weeks, so that Mondays are compared with Mondays; `date`
 * takes the days just before, or the same dates a year ago. A calendar month or year is compared with the one before it either way.
 */
export const MATCHES = ["weekday", "date"] as const;
export type Match = (typeof MATCHES)[number];

/** Windows of up to this many days also have counts per hour. */
export const HOURLY_DAYS_MAX = 2;

/** Rows per list in a report. Countries are complete; for the others, the breakdown has the rest. */
export const LIST_ROWS_MAX = 25;

/** `hour` is 2026-11-01T13, in the organization's time zone. Hours without views and bookings are left out. */
const Hours = Type.Array(Type.Object({ hour: Type.String(), views: Count, bookings: Count }));

const List = Type.Object({
  rows: Type.Array(AnalyticsEntry),
  /** Rows in all. */
  count: Count,
});

/** The dimensions that a report lists; services have their own request. */
export const LISTED_DIMENSIONS = ["channel", "source", "campaign", "page", "device", "country", "widget"] as const;
export type ListedDimension = (typeof LISTED_DIMENSIONS)[number];

/** The read API's analytics for any range of days and any filters, with another range for comparison. */
export const AppAnalytics = Type.Object({
  ...Analytics.properties,
  /** First and last day of the window, both included. */
  from: Day,
  to: Day,
  /** The local date and time of the response: 2026-11-01T12:00. */
  now: Type.String(),
  hourly: nullable(Hours),
  lists: Type.Object({
    channel: List,
    source: List,
    campaign: List,
    page: List,
    device: List,
    country: List,
    widget: List,
  } satisfies Record<ListedDimension, unknown>),
  /** Null if no comparison was asked for. */
  previous: nullable(
    Type.Object({
      from: Day,
      to: Day,
      /** If the window ends with today, the last day is counted up to the same time of day: 12:00. Else null. */
      untilTime: nullable(Type.String()),
      totals: Analytics.properties.totals,
      daily: Analytics.properties.daily,
      hourly: nullable(Hours),
      /** False if retention has deleted part of it, which makes a comparison unfair. */
      isComplete: Type.Boolean(),
    }),
  ),
  /** The oldest day with counts; null before the first view. */
  dataSince: nullable(Day),
  /** Events of visits over the widgets' daily budget, which were not recorded. 0 except during a flood. */
  droppedEvents: Count,
});
export type AppAnalytics = Static<typeof AppAnalytics>;
export type AppList = Static<typeof List>;

export const AppBreakdown = Type.Object({
  rows: Type.Array(
    Type.Object({
      ...AnalyticsEntry.properties,
      /** The name of a widget, country or device. */
      label: nullable(Type.String()),
    }),
  ),
  count: Count,
  /** The largest value of each column, on all pages. */
  most: Type.Object({ views: Count, bookings: Count, conversionRate: Type.Number() }),
});
export type AppBreakdown = Static<typeof AppBreakdown>;

export const FunnelSplit = Type.Object({
  groups: Type.Array(
    Type.Object({ key: Type.String(), label: nullable(Type.String()), funnel: Analytics.properties.funnel }),
  ),
});
export type FunnelSplit = Static<typeof FunnelSplit>;

export const BookingTimes = Type.Object({
  /** Seven rows from Monday to Sunday, each with 24 hours, in the organization's time zone. */
  views: Type.Array(Type.Array(Count)),
  bookings: Type.Array(Type.Array(Count)),
  /** Bookings per group of LEAD_DAYS, and one more for those beyond. Bookings without an appointment time are not counted. */
  leadTimes: Type.Array(Count),
  services: List,
});
export type BookingTimes = Static<typeof BookingTimes>;

/** What is happening now. Nothing in it identifies a visitor. */
export const LiveView = Type.Object({
  /** Visits with a step in the last five minutes, and in the last hour. */
  visits5Minutes: Count,
  visits60Minutes: Count,
  bookings60Minutes: Count,
  /** The newest bookings of the last hour, newest first. */
  bookings: Type.Array(
    Type.Object({
      /** Distinguishes it from the others; it does not lead to the stored booking. */
      id: Type.String(),
      at: Type.String(),
      widget: Type.String(),
      service: nullable(Type.String()),
      channel: Type.String(),
      country: Type.String(),
      device: Type.String(),
    }),
  ),
});
export type LiveView = Static<typeof LiveView>;

// Segments, which are sets of filters that an organization has saved under a name, and links that show one report to people without
// an account.

const Name = Type.String();

/** A query string such as `country=DE&country=AT`. */
const Query = Type.String({ maxLength: 8_000 });

export const Segment = Type.Object({ id: Type.String(), name: Name, query: Query });
export type Segment = Static<typeof Segment>;

export const SegmentList = Type.Object({ data: Type.Array(Segment) });

export const NewSegment = Type.Object({ name: Name, query: Query });

export const SegmentChange = Type.Object({ name: Name });

export const ReportLink = Type.Object({
  id: Type.String(),
  name: Name,
  query: Query,
  /** Whoever has it sees the report. */
  url: Type.String(),
  createdBy: NullableText,
  createdAt: Timestamp,
});
export type ReportLink = Static<typeof ReportLink>;

export const ReportLinkList = Type.Object({ data: Type.Array(ReportLink) });

export const NewReportLink = Type.Object({ name: Name, query: Query });

export const SharedReportRequest = Type.Object({ token: Type.String({ maxLength: 100 }) });
export type SharedReportRequest = Static<typeof SharedReportRequest>;

/** Counts only: nothing about customers, and no way to ask for other visits or days. */
export const SharedReport = Type.Object({
  organizationName: Type.String(),
  name: Name,
  /** What it shows: period, comparison and filters. */
  query: Query,
  report: AppAnalytics,
  times: BookingTimes,
  /** Those in the report. */
  widgets: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
});
export type SharedReport = Static<typeof SharedReport>;
