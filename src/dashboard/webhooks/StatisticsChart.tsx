import "@mantine/charts/styles.layer.css";
import { BarChart, LineChart } from "@mantine/charts";
import { Table, Text } from "@mantine/core";
import { memo } from "react";
import type { EndpointStatistics } from "#contract/app/endpoints.ts";
import { formatDuration } from "../deliveries/delivery-words.ts";
import { formatCount, pluralize } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Collapsible } from "../ui/layout/Collapsible.tsx";
import classes from "./StatisticsChart.module.css";

type Intervals = EndpointStatistics["intervals"];

/** Hidden from screen readers: the sentence and the table say the same. Drawn again only for new statistics. */
export const StatisticsChart = memo(function StatisticsChart({
  statistics: { intervals, period },
}: {
  statistics: EndpointStatistics;
}) {
  const { format } = useOrganization();
  const toTick = { "24h": format.time, "7d": format.shortDateTime, "30d": format.shortDate }[period];
  const shared = { ...SHARED, xAxisProps: { ...SHARED.xAxisProps, tickFormatter: toTick }, data: intervals };
  const tooltipProps = {
    labelFormatter: (from: unknown) => (typeof from === "string" ? format.dateTime(from) : ""),
    ...STILL,
  };
  return (
    <figure className={classes["figure"]}>
      <div aria-hidden className={classes["charts"]}>
        <div>
          <div className={classes["title"]}>Attempts</div>
          <BarChart
            {...shared}
            type="stacked"
            series={COUNTS}
            barProps={STILL}
            tooltipProps={tooltipProps}
            valueFormatter={formatCount}
          />
        </div>
        <div>
          <div className={classes["title"]}>Response time</div>
          <LineChart
            {...shared}
            series={TIMES}
            lineProps={STILL}
            tooltipProps={tooltipProps}
            valueFormatter={formatDuration}
            {...LINE}
          />
        </div>
      </div>
      <figcaption>
        <Text size="sm" c="dimmed" component="p" m={0}>
          {describe(intervals)}
        </Text>
        <Collapsible label="Show as table">
          <IntervalTable intervals={intervals} />
        </Collapsible>
      </figcaption>
    </figure>
  );
});

function IntervalTable({ intervals }: { intervals: Intervals }) {
  const { format } = useOrganization();
  return (
    <Table data-figures aria-label="Attempts and response times">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>From</Table.Th>
          <Table.Th>Delivered</Table.Th>
          <Table.Th>Failed</Table.Th>
          <Table.Th>Median</Table.Th>
          <Table.Th>95th percentile</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {intervals
          .filter(({ delivered, failed }) => delivered + failed > 0)
          .toReversed()
          .map(({ from, delivered, failed, medianMs, p95Ms }) => (
            <Table.Tr key={from}>
              <Table.Td>{format.dateTime(from)}</Table.Td>
              <Table.Td>{formatCount(delivered)}</Table.Td>
              <Table.Td>{formatCount(failed)}</Table.Td>
              <Table.Td>{medianMs === null ? "–" : formatDuration(medianMs)}</Table.Td>
              <Table.Td>{p95Ms === null ? "–" : formatDuration(p95Ms)}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  );
}

const COUNTS = [
  { name: "delivered", label: "Delivered", color: "var(--chart-delivered)" },
  { name: "failed", label: "Failed", color: "var(--chart-failed)" },
];
const TIMES = [
  { name: "medianMs", label: "Median", color: "var(--chart-median)" },
  { name: "p95Ms", label: "95th percentile", color: "var(--chart-p95)" },
];
/** Drawn again and again for an animation, the charts would keep the page busy for two seconds, and again with every refresh. */
const STILL = { isAnimationActive: false };
const LINE = { curveType: "linear", strokeWidth: 1.5, connectNulls: true } as const;

const SHARED = {
  h: 180,
  dataKey: "from",
  accessibilityLayer: false,
  withLegend: true,
  tickLine: "none",
  gridAxis: "x",
  gridColor: "var(--border)",
  strokeDasharray: "0",
  xAxisProps: { minTickGap: 28, interval: "equidistantPreserveStart" },
  yAxisProps: { width: 56, allowDecimals: false },
} as const;

/** "412 delivered and 3 failed attempts. In the slowest interval, 95% of responses took at most 1.4 s." */
function describe(intervals: Intervals): string {
  const total = (name: "delivered" | "failed") => intervals.reduce((sum, each) => sum + each[name], 0);
  const [delivered, failed] = [total("delivered"), total("failed")];
  if (delivered + failed === 0) return "No attempts in this period.";
  const slowest = Math.max(...intervals.map(({ p95Ms }) => p95Ms ?? 0));
  return `${formatCount(delivered)} delivered and ${pluralize(failed, "failed attempt")}. In the slowest interval, 95% of responses took at most ${formatDuration(slowest)}.`;
}
