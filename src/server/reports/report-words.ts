import { NOT_SET } from "#contract/analytics/dimensions.ts";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { describeMissingComparison } from "#contract/app/report-words.ts";
import type { ReportPeriod } from "#contract/app/reports.ts";
import { toEndpointName } from "../webhooks/webhooks.ts";
import type { FailingEndpoint } from "./queries.ts";
import type { Report } from "./read-report.ts";

// What a report says, for its HTML and its text part.

export type ReportWords = {
  /** 2–8 November 2026, 26 October – 1 November 2026, or October 2026. */
  days: string;
  totals: readonly { label: string; value: string; change: string }[];
  lists: readonly { title: string; rows: readonly ListRow[] }[];
  lost: readonly string[];
  failing: readonly { name: string; sentence: string }[];
};

/** `inWords` is for the text part: 1 booking, 2 views. */
type ListRow = { name: string; views: string; bookings: string; inWords: string };

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
        name: key === NOT_SET ? "No campaign" : key,
        views: count.format(views),
        bookings: count.format(bookings),
        inWords: `${pluralize(bookings, "booking")}, ${pluralize(views, "view")}`,
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

function toTotals({ totals, previous, dataSince }: AppAnalytics, before: string): ReportWords["totals"] {
  const earlier = previous?.isComplete ? previous.totals : null;
  const missing = describeMissingComparison(previous, dataSince);
  const compare = (name: "views" | "bookings") => {
    if (!earlier) return missing;
    if (earlier[name] === 0) return totals[name] === 0 ? `0 ${before} too` : `Up from 0 ${before}`;
    return `${change.format(totals[name] / earlier[name] - 1).replace("-", "−")} compared with ${before}`;
  };
  const wasText = (was: string) => (earlier ? `${was} ${before}` : missing);
  return [
    { label: "Views", value: count.format(totals.views), change: compare("views") },
    { label: "Bookings", value: count.format(totals.bookings), change: compare("bookings") },
    {
      label: "Conversion rate",
      value: totals.views > 0 ? percent.format(totals.conversionRate) : "–",
      change: wasText(earlier && earlier.views > 0 ? percent.format(earlier.conversionRate) : "No views"),
    },
    {
      label: "Average lead time",
      value: toDays(totals.avgLeadDays),
      change: wasText(earlier && earlier.avgLeadDays !== null ? toDays(earlier.avgLeadDays) : "No bookings"),
    },
  ];
}

function toDays(lead: number | null): string {
  if (lead === null) return "–";
  const text = days.format(lead);
  return `${text} ${text === "1" ? "day" : "days"}`;
}

function toLost({ noAvailability, failed }: AppAnalytics["totals"]): string[] {
  return [
    `${pluralize(noAvailability, "visit")} found no available times.`,
    `${pluralize(failed, "booking attempt")} failed.`,
  ];
}

function pluralize(number: number, noun: string): string {
  return `${count.format(number)} ${noun}${number === 1 ? "" : "s"}`;
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
  // Some mail clients show the thin spaces around the dash as boxes. Between two numbers there are none.
  return range.replaceAll("\u2009", " ").replace(/^(\d+) – /, "$1–");
}

export function toShortDay(day: string): string {
  return new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" }).format(
    new Date(day),
  );
}
