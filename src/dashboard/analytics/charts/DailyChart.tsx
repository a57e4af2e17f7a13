import "@mantine/charts/styles.layer.css";
import { AreaChart, BarChart } from "@mantine/charts";
import { Text } from "@mantine/core";
import type { Analytics } from "#contract/analytics.ts";
import { formatCount, formatDay, formatShortDay, pluralize } from "../../format.ts";
import classes from "./DailyChart.module.css";
import { DayTable } from "./DayTable.tsx";

type Daily = Analytics["daily"];

/** With more days, bars would be too thin. */
const BARS_MAX = 100;

/**
 * Views above, bookings below, on the same days but with separate scales, so that neither flattens the other. The charts are
 * hidden from screen readers, which get the sentence and the table below instead.
 */
export function DailyChart({ daily, since }: { daily: Daily; since: string | null }) {
  // Leave days before the first count empty: zero would mean no visitors.
  const drawn = daily.map((entry) => (since !== null && entry.day < since ? { day: entry.day } : entry));
  return (
    <figure className={classes["figure"]}>
      <div aria-hidden>
        <Panel drawn={drawn} name="views" label="Views" />
        <Panel drawn={drawn} name="bookings" label="Bookings" />
      </div>
      <figcaption>
        <Text size="sm" c="dimmed" component="p" m={0}>
          {describeDays(daily)}
        </Text>
        <DayTable daily={daily} />
      </figcaption>
    </figure>
  );
}

function Panel({ drawn, name, label }: { drawn: Partial<Daily[number]>[]; name: "views" | "bookings"; label: string }) {
  const series = [{ name, label, color: `var(--chart-${name})` }];
  return (
    <div className={classes["panel"]}>
      <div className={classes["title"]} data-name={name}>
        {label}
      </div>
      {drawn.length > BARS_MAX ? (
        <AreaChart {...SHARED} data={drawn} series={series} areaChartProps={SYNCED} {...LINE} />
      ) : (
        <BarChart {...SHARED} data={drawn} series={series} barChartProps={SYNCED} maxBarWidth={36} barProps={BAR} />
      )}
    </div>
  );
}

/** Hovering over a day shows its tooltip in both charts. */
const SYNCED = { syncId: "days", margin: { top: 10, right: 8, bottom: 4 } };
const BAR = { radius: 3 };
const LINE = { curveType: "linear", strokeWidth: 1.5, withDots: false, fillOpacity: 0.25 } as const;

const SHARED = {
  h: 190,
  dataKey: "day",
  accessibilityLayer: false,
  tickLine: "none",
  gridAxis: "x",
  gridColor: "var(--border)",
  strokeDasharray: "0",
  valueFormatter: formatCount,
  xAxisProps: { tickFormatter: formatShortDay, minTickGap: 28, interval: "equidistantPreserveStart" },
  yAxisProps: { width: 44, allowDecimals: false },
  tooltipProps: {
    // Called once without a day, before the first hover.
    labelFormatter: (day: unknown) => (typeof day === "string" ? formatDay(day) : ""),
    isAnimationActive: false,
  },
} as const;

/** "412 views and 31 bookings in 30 days. Most views on 4 Nov 2026 (38); most bookings on 6 Nov 2026 (5)." */
function describeDays(daily: Daily): string {
  const total = (name: "views" | "bookings") => daily.reduce((sum, entry) => sum + entry[name], 0);
  const [views, bookings] = [total("views"), total("bookings")];
  const counts = `${pluralize(views, "view")} and ${pluralize(bookings, "booking")} in ${pluralize(daily.length, "day")}.`;
  const best = [
    views > 0 ? `most views on ${describeBest(daily, "views")}` : "",
    bookings > 0 ? `most bookings on ${describeBest(daily, "bookings")}` : "",
  ].filter(Boolean);
  const sentence = best.join("; ");
  return best.length === 0 ? counts : `${counts} ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function describeBest(daily: Daily, name: "views" | "bookings"): string {
  const best = daily.reduce((top, entry) => (entry[name] > top[name] ? entry : top));
  return `${formatDay(best.day)} (${formatCount(best[name])})`;
}
