import "@mantine/charts/styles.layer.css";
import { CompositeChart } from "@mantine/charts";
import { Text } from "@mantine/core";
import { memo } from "react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { FIRST_DAY_OF_WEEK } from "../../first-day-of-week.ts";
import { formatCount } from "../../format.ts";
import { type Bucket, type Interval, toBuckets, toRoundTicks } from "./buckets.ts";
import { DayTable } from "./DayTable.tsx";
import { describeBuckets } from "./describe-buckets.ts";
import { type Earlier, toEarlier } from "./earlier.ts";
import { formatBucket, formatTick } from "./format-bucket.ts";
import classes from "./TimeChart.module.css";

type Name = "views" | "bookings";
type Point = { start: string; now?: number; before?: number };

/** With more points, bars would be too thin. */
const BARS_MAX = 100;

/**
 * Views above, bookings below, at the same times but with separate scales, so that neither flattens the other. The charts are
 * hidden from screen readers: the sentence and the table below say the same. They are drawn again only for a new report, not
 * whenever a dialog of the page opens.
 */
export const TimeChart = memo(function TimeChart({ report, interval }: { report: AppAnalytics; interval: Interval }) {
  const buckets = toBuckets(report, interval, FIRST_DAY_OF_WEEK);
  const earlier = toEarlier(report, interval, buckets.length);
  return (
    <figure className={classes["figure"]}>
      <div aria-hidden>
        <Panel name="views" label="Views" {...{ buckets, earlier, interval }} />
        <Panel name="bookings" label="Bookings" {...{ buckets, earlier, interval }} />
      </div>
      <figcaption>
        <Text size="sm" c="dimmed" component="p" m={0}>
          {[describeBuckets(buckets, interval), earlier.note].filter(Boolean).join(" ")}
        </Text>
        <DayTable buckets={buckets} earlier={earlier.buckets} interval={interval} />
      </figcaption>
    </figure>
  );
});

type PanelProps = {
  name: Name;
  label: string;
  buckets: readonly Bucket[];
  earlier: Earlier;
  interval: Interval;
};

function Panel({ name, label, buckets, earlier: { buckets: earlier, label: earlierLabel }, interval }: PanelProps) {
  const points = buckets.map((bucket, i): Point => {
    const [now, before] = [bucket[name], earlier[i]?.[name]];
    return { start: bucket.start, ...(now === undefined ? {} : { now }), ...(before === undefined ? {} : { before }) };
  });
  const ticks = toRoundTicks(Math.max(0, ...points.flatMap(({ now = 0, before = 0 }) => [now, before])));
  const color = `var(--chart-${name})`;
  const axis = {
    interval,
    hasYears: hasSeveral(buckets, "YYYY"),
    hasDays: hasSeveral(buckets, "YYYY-MM-DD"),
  };
  const toLabel = (start: string) => {
    const before = earlier[buckets.findIndex((bucket) => bucket.start === start)];
    const compared = before ? `, compared with ${formatBucket(before.start, interval)}` : "";
    return `${formatBucket(start, interval)}${compared}`;
  };
  return (
    <div className={classes["panel"]}>
      <div className={classes["title"]}>
        <span className={classes["key"]} data-name={name} />
        {label}
        {earlier.length > 0 && (
          <>
            <span className={classes["key"]} data-name="before" />
            {earlierLabel}
          </>
        )}
      </div>
      <CompositeChart
        h={190}
        dataKey="start"
        data={points}
        series={[
          {
            name: "now",
            label,
            color,
            type: buckets.length > BARS_MAX ? ("area" as const) : ("bar" as const),
          },
          ...(earlier.length > 0
            ? [{ name: "before", label: "Comparison", color: "var(--chart-before)", type: "line" as const }]
            : []),
        ]}
        {...SHARED}
        xAxisProps={{
          tickFormatter: (start: string) => formatTick(start, axis),
          minTickGap: 28,
          interval: "equidistantPreserveStart",
        }}
        yAxisProps={{ width: 44, ticks, domain: [0, ticks.at(-1) ?? 1], tickFormatter: formatCount }}
        tooltipProps={{
          // Called once without a point, before the first hover.
          labelFormatter: (start: unknown) => (typeof start === "string" ? toLabel(start) : ""),
          isAnimationActive: false,
        }}
      />
    </div>
  );
}

/** Whether the first and the last point differ in this part of their time. */
function hasSeveral(buckets: readonly Bucket[], part: string): boolean {
  return buckets[0]?.start.slice(0, part.length) !== buckets.at(-1)?.start.slice(0, part.length);
}

/** Hovering over a point shows its tooltip in both charts. */
const SYNCED = { syncId: "time", margin: { top: 10, right: 8, bottom: 4 } };
const BAR = { radius: 3, isAnimationActive: false };
const LINE = { strokeWidth: 1.5, strokeDasharray: "4 4", isAnimationActive: false };
const AREA = { strokeWidth: 1.5, fillOpacity: 0.25, isAnimationActive: false };

const SHARED = {
  composedChartProps: SYNCED,
  maxBarWidth: 36,
  barProps: BAR,
  lineProps: LINE,
  areaProps: AREA,
  withDots: false,
  curveType: "linear",
  accessibilityLayer: false,
  tickLine: "none",
  gridAxis: "x",
  gridColor: "var(--border)",
  strokeDasharray: "0",
  valueFormatter: formatCount,
} as const;
