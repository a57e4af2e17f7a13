import type { AppAnalytics } from "#contract/app/analytics.ts";
import type { ReportPeriod } from "#contract/app/reports.ts";
import { toEndpointName } from "../webhooks/endpoints/shown-url.ts";
import type { FailingEndpoint } from "./queries.ts";
import type { Report } from "./read-report.ts";

// What a report says, for its HTML and its text part.

export type ReportWords = {
  /** 2–8 November 2026, or October 2026. */
  days: string;
  totals: readonly { label: string; value: string; change: string }[];
  lists: readonly { title: string; rows: readonly { key: string; views: string; bookings: string }[] }[];
  lost: readonly string[];
  failing: readonly { name: string; sentence: string }[];
};

const LIST_ROWS = 5;
const BEFORE: Readonly<Record<ReportPeriod, string>> = { weekly: "the week before", monthly: "the month before" };

const count = new Intl.NumberFormat("en-GB");
const percent = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });
const change = new Intl.NumberFormat("en-GB", {
  style: "percent",
  maximumFractionDigits: 0,
  signDisplay: "exceptZero",
});
const days = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

export function toWords({ period, analytics, failingEndpoints }: Report): ReportWords {
  const { timeZone } = analytics;
  return {
    days: toDaysText(analytics, period),
    totals: toTotals(analytics, BEFORE[period]),
    lists: (["channel", "source", "campaign"] as const).map((dimension) => ({
      title: LIST_TITLES[dimension],
      rows: analytics.lists[dimension].rows.slice(0, LIST_ROWS).map(({ key, views, bookings }) => ({
        key,
        views: count.format(views),
        bookings: count.format(bookings),
      })),
    })),
    lost: toLost(analytics.totals),
    failing: failingEndpoints.map((endpoint) => ({
      name: toEndpointName(endpoint),
      sentence: toFailing(endpoint, timeZone),
    })),
  };
}

const LIST_TITLES = { channel: "Top channels", source: "Top sources", campaign: "Top campaigns" } as const;

function toTotals({ totals, previous }: AppAnalytics, before: string): ReportWords["totals"] {
  const earlier = previous?.isComplete ? previous.totals : null;
  const compare = (name: "views" | "bookings") =>
    earlier && earlier[name] > 0
      ? `${change.format(totals[name] / earlier[name] - 1).replace("-", "−")} compared with ${before}`
      : "No earlier data";
  const wasText = (was: string | null) => (was === null ? "No earlier data" : `${was} ${before}`);
  const toDays = (lead: number | null) => (lead === null ? "–" : `${days.format(lead)} days`);
  return [
    { label: "Views", value: count.format(totals.views), change: compare("views") },
    { label: "Bookings", value: count.format(totals.bookings), change: compare("bookings") },
    {
      label: "Conversion rate",
      value: percent.format(totals.conversionRate),
      change: wasText(earlier && earlier.views > 0 ? percent.format(earlier.conversionRate) : null),
    },
    {
      label: "Average lead time",
      value: toDays(totals.avgLeadDays),
      change: wasText(earlier && earlier.avgLeadDays !== null ? toDays(earlier.avgLeadDays) : null),
    },
  ];
}

function toLost({ noAvailability, failed }: AppAnalytics["totals"]): string[] {
  return [
    noAvailability === 1
      ? "1 visit found no available times."
      : `${count.format(noAvailability)} visits found no available times.`,
    failed === 1 ? "1 booking attempt failed." : `${count.format(failed)} booking attempts failed.`,
  ];
}

function toFailing({ isOff, since }: FailingEndpoint, timeZone: string): string {
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone }).format(since);
  return isOff ? `Turned off on ${day} because deliveries failed.` : `Deliveries have been failing since ${day}.`;
}

function toDaysText({ from, to }: AppAnalytics, period: ReportPeriod): string {
  const [first, last] = [new Date(from), new Date(to)];
  if (period === "monthly")
    return new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(first);
  const range = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).formatRange(first, last);
  // Some mail clients show the thin spaces around the dash as boxes.
  return range.replaceAll("\u2009", " ");
}

export function toShortDay(day: string): string {
  return new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" }).format(
    new Date(day),
  );
}
