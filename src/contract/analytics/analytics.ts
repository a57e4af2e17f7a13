import { type Static, Type } from "typebox";
import { CAMPAIGNS_MAX, CHANNELS_MAX, SOURCES_MAX } from "../limits.ts";
import { DIMENSIONS, NOT_SET } from "./dimensions.ts";
import type { FUNNEL_STEPS } from "./steps.ts";

/** The examples fit together: 160 bookings ÷ 1,260 views is a rate of 0.127. */
const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

const Rate = Type.Number({ minimum: 0, maximum: 1, description: "bookings / views, from 0 to 1.", examples: [0.127] });

export const AnalyticsEntry = Type.Object(
  {
    key: Type.String({ examples: ["google / cpc"] }),
    views: count("Views: visits that saw the widget.", 630),
    bookings: count("Completed bookings.", 80),
    conversionRate: Rate,
  },
  { title: "AnalyticsEntry" },
);
export type AnalyticsEntry = Static<typeof AnalyticsEntry>;

export const DailyEntry = Type.Object({
  day: Type.String({ format: "date", description: "Date in the organization's time zone.", examples: ["2026-11-01"] }),
  views: count("Views: visits that saw the widget.", 42),
  bookings: count("Completed bookings.", 5),
});

const Funnel = Type.Object(
  {
    widget_viewed: count("Visits that saw the widget.", 1260),
    service_selected: count("Visits that chose a service, or got further.", 840),
    date_selected: count("Visits that chose a day, or got further.", 520),
    slot_selected: count("Visits that chose a time, or got further.", 402),
    form_started: count("Visits that started the form, or got further.", 231),
    booking_completed: count("Visits that booked.", 158),
  } satisfies Record<(typeof FUNNEL_STEPS)[number], unknown>,
  { description: "Visits that reached each step or a later one." },
);

export const Analytics = Type.Object(
  {
    days: Type.Integer({ description: "Number of days in the window.", examples: [30] }),
    timeZone: Type.String({
      description: "The organization's time zone; UTC when none is set.",
      examples: ["Europe/Berlin"],
    }),
    totals: Type.Object({
      views: count("Views: visits that saw the widget. Page views are not counted.", 1260),
      slotSessions: count("Visits that chose a time.", 402),
      formSessions: count("Visits that started the form.", 231),
      bookings: count("Completed bookings.", 160),
      failed: count("Failed bookings.", 3),
      noAvailability: count("Visits that found no available times.", 41),
      conversionRate: Rate,
      avgLeadDays: Type.Union([Type.Number(), Type.Null()], {
        description: "Average days between booking and appointment; null without bookings.",
        examples: [6.25],
      }),
    }),
    daily: Type.Array(DailyEntry, { description: "One entry per day in the window, zero days included." }),
    funnel: Funnel,
    channels: Type.Array(AnalyticsEntry, {
      description: `Up to ${CHANNELS_MAX} entries, most bookings first.`,
      examples: [[{ key: "Paid Search", views: 630, bookings: 80, conversionRate: 0.127 }]],
    }),
    sources: Type.Array(AnalyticsEntry, {
      description: `Up to ${SOURCES_MAX} source / medium pairs, most bookings first.`,
    }),
    campaigns: Type.Array(AnalyticsEntry, {
      description: `Up to ${CAMPAIGNS_MAX} entries, most bookings first; traffic without a campaign is "(not set)".`,
      examples: [[{ key: "autumn", views: 630, bookings: 80, conversionRate: 0.127 }]],
    }),
  },
  { title: "Analytics" },
);
export type Analytics = Static<typeof Analytics>;

export const Breakdown = Type.Object(
  {
    dimension: Type.Enum([...DIMENSIONS], { description: "The dimension of the rows.", examples: ["source"] }),
    from: Type.String({ format: "date", description: "First day of the window.", examples: ["2026-10-03"] }),
    to: Type.String({ format: "date", description: "Last day of the window, included.", examples: ["2026-11-01"] }),
    timeZone: Analytics.properties.timeZone,
    data: Type.Array(AnalyticsEntry, {
      description: `Most bookings first. The key is "${NOT_SET}" if the value is unknown, and the id for widgets.`,
    }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "Send it back as cursor to get the next page; null on the last page.",
      examples: [null],
    }),
  },
  { title: "Breakdown" },
);
export type Breakdown = Static<typeof Breakdown>;

export const DailyTotal = Type.Object(
  {
    day: DailyEntry.properties.day,
    timeZone: Analytics.properties.timeZone,
    dimension: Type.Enum(["total", ...DIMENSIONS], {
      description:
        "What the line counts: everything, or one key of a dimension. Never add up lines of several dimensions.",
      examples: ["source"],
    }),
    ...AnalyticsEntry.properties,
  },
  { title: "DailyTotal" },
);
export type DailyTotal = Static<typeof DailyTotal>;
