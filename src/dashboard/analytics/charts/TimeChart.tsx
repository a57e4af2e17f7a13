import "@mantine/charts/styles.layer.css";
import { CompositeChart } from "@mantine/charts";
import { Paper, Text } from "@mantine/core";
import { memo, type ReactNode } from "react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { FIRST_DAY_OF_WEEK } from "../../days.ts";
import { formatCount, formatRate } from "../../format.ts";
import {
  type Bucket,
  describeBuckets,
  type Earlier,
  formatBucket,
  formatTick,
  type Interval,
  toBuckets,
  toEarlier,
  toRoundTicks,
} from "./buckets.ts";
import { DayTable } from "./DayTable.tsx";
import classes from "./TimeChart.module.css";

/** What can be drawn over time. Average lead times are not counted by day. */
type DrawnMetric = "views" | "bookings" | "rate";

export const METRIC_NAMES: Readonly<Record<DrawnMetric, string>> = {
  views: "Views",
  bookings: "Bookings",
  rate: "Conversion rate",
};

type ChartProps = { report: AppAnalytics; interval: Interval; metric: DrawnMetric };

/**
 * One figure over time, with the earlier period as a second line. What isn't over yet, or is cut off by the period, is dashed: it will
 * still grow. The chart is hidden from screen readers: the sentence and the table below say the same. It is drawn again only for a new
 * report, not whenever a dialog of the page opens.
 */
export const TimeChart = memo(function TimeChart({ report, interval, metric }: ChartProps) {
  const buckets = toBuckets(report, interval, FIRST_DAY_OF_WEEK);
  const earlier = toEarlier(report, interval, buckets.length);
  return (
    <figure className={classes["figure"]}>
      <div aria-hidden>
        <Legend {...{ buckets, earlier, interval, metric }} />
        <Lines {...{ buckets, earlier, interval, metric }} />
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

type PanelProps = { buckets: readonly Bucket[]; earlier: Earlier; interval: Interval; metric: DrawnMetric };

function Legend({ buckets, earlier, interval, metric }: PanelProps) {
  return (
    <div className={classes["legend"]} data-metric={metric}>
      <Key name="now">{METRIC_NAMES[metric]}</Key>
      {buckets.some(({ isPartial }) => isPartial) && <Key name="partial">Incomplete {interval}</Key>}
      {earlier.buckets.length > 0 && <Key name="before">{earlier.label}</Key>}
    </div>
  );
}

function Key({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span className={classes["named"]}>
      <span className={classes["key"]} data-name={name} />
      <span>{children}</span>
    </span>
  );
}

/** `whole` and `partial` share the points where the line becomes dashed. */
type Point = { start: string; whole?: number; partial?: number; before?: number };

function Lines({ buckets, earlier, interval, metric }: PanelProps) {
  const points = toPoints(buckets, earlier.buckets, metric);
  const isRate = metric === "rate";
  const most = Math.max(0, ...points.flatMap(({ whole = 0, partial = 0, before = 0 }) => [whole, partial, before]));
  const ticks = isRate ? toRoundTicks(most * 100).map((tick) => tick / 100) : toRoundTicks(most);
  const axis = { interval, hasYears: hasSeveral(buckets, "YYYY"), hasDays: hasSeveral(buckets, "YYYY-MM-DD") };
  const color = `var(--chart-${metric})`;
  const before = { name: "before", color: "var(--chart-before)", type: "line" as const };
  return (
    <CompositeChart
      className={classes["chart"] ?? ""}
      h={{ base: 200, sm: 240 }}
      dataKey="start"
      data={points}
      series={[
        ...(earlier.buckets.length > 0 ? [before] : []),
        { name: "partial", color, type: "area" },
        { name: "whole", color, type: "area" },
      ]}
      {...SHARED}
      withDots={points.some((_, i) => isAlone(points, i))}
      xAxisProps={{
        tickFormatter: (start: string) => formatTick(start, axis),
        minTickGap: 28,
        interval: "equidistantPreserveStart",
      }}
      yAxisProps={{
        width: 48,
        ticks,
        domain: [0, ticks.at(-1) ?? 1],
        tickFormatter: isRate ? formatWholeRate : formatCount,
      }}
      tooltipProps={{
        isAnimationActive: false,
        content: ({ label }) => {
          const at = buckets.findIndex(({ start }) => start === label);
          const bucket = buckets[at];
          return bucket && <Tooltip {...{ bucket, interval, metric }} before={earlier.buckets[at]} />;
        },
      }}
    />
  );
}

function toPoints(buckets: readonly Bucket[], earlier: readonly Bucket[], metric: DrawnMetric): Point[] {
  return buckets.map((bucket, i) => {
    const now = toValue(bucket, metric);
    const before = toValue(earlier[i], metric);
    const touchesPartial = [buckets[i - 1], bucket, buckets[i + 1]].some((each) => each?.isPartial);
    return {
      start: bucket.start,
      ...(now === undefined || bucket.isPartial ? {} : { whole: now }),
      ...(now !== undefined && touchesPartial ? { partial: now } : {}),
      ...(before === undefined ? {} : { before }),
    };
  });
}

/** A point between two without a value has no line. */
function isAlone(points: readonly Point[], at: number): boolean {
  const has = (i: number) => (points[i]?.whole ?? points[i]?.partial) !== undefined;
  return has(at) && !has(at - 1) && !has(at + 1);
}

/** Without views there is no rate. */
function toValue(bucket: Bucket | undefined, metric: DrawnMetric): number | undefined {
  if (bucket?.views === undefined || metric !== "rate") return bucket?.[metric === "rate" ? "views" : metric];
  return bucket.views === 0 ? undefined : Math.min(1, (bucket.bookings ?? 0) / bucket.views);
}

type TooltipProps = { bucket: Bucket; before: Bucket | undefined; interval: Interval; metric: DrawnMetric };

function Tooltip({ bucket, before, interval, metric }: TooltipProps) {
  const rows = [
    { name: "now", start: bucket.start, value: toValue(bucket, metric), note: bucket.isPartial ? " (incomplete)" : "" },
    ...(before ? [{ name: "before", start: before.start, value: toValue(before, metric), note: "" }] : []),
  ];
  return (
    <Paper shadow="md" withBorder className={classes["tooltip"]} data-metric={metric}>
      <Text size="sm" fw={600}>
        {METRIC_NAMES[metric]}
      </Text>
      {rows.map(({ name, start, value, note }) => (
        <div key={name} className={classes["row"]}>
          <span className={classes["key"]} data-name={name} />
          <span>
            {formatBucket(start, interval)}
            {note}
          </span>
          <b>{value === undefined ? "–" : metric === "rate" ? formatRate(value) : formatCount(value)}</b>
        </div>
      ))}
    </Paper>
  );
}

/** Whether the first and the last point differ in this part of their time. */
function hasSeveral(buckets: readonly Bucket[], part: string): boolean {
  return buckets[0]?.start.slice(0, part.length) !== buckets.at(-1)?.start.slice(0, part.length);
}

const wholeRateFormat = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });
const formatWholeRate = (rate: number) => wholeRateFormat.format(rate);

const LINE = { strokeWidth: 1.75, isAnimationActive: false };
const AREA = { strokeWidth: 2.25, fillOpacity: 0.12, isAnimationActive: false };

const SHARED = {
  composedChartProps: { margin: { top: 10, right: 8, bottom: 4 } },
  lineProps: LINE,
  areaProps: ({ name }: { name: string }) => (name === "partial" ? { ...AREA, strokeDasharray: "5 4" } : AREA),
  connectNulls: false,
  curveType: "linear",
  accessibilityLayer: false,
  tickLine: "none",
  gridAxis: "x",
  gridColor: "var(--border)",
  strokeDasharray: "0",
} as const;
