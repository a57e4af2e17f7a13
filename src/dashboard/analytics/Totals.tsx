import { Paper, SimpleGrid, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconArrowDownRight, IconArrowUpRight, IconMinus } from "@tabler/icons-react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { describeMissingComparison } from "#contract/app/report-words.ts";
import { describeDayRange } from "../days.ts";
import { formatCount } from "../format.ts";
import {
  type Change,
  formatConversionRate,
  formatDays,
  toCountChange,
  toDaysChange,
  toDayUnit,
  toRateChange,
} from "./report-words.ts";
import classes from "./Totals.module.css";

export const METRICS = ["views", "bookings", "rate", "lead"] as const;
type Metric = (typeof METRICS)[number];

type TotalsProps = {
  report: AppAnalytics;
  /** With these, a click on a figure draws it in the chart. */
  chosen?: Metric;
  onChoose?: (metric: Metric) => void;
};

export function Totals({ report, chosen, onChoose }: TotalsProps) {
  const { totals, previous, dataSince } = report;
  const compare = (to: (earlier: AppAnalytics["totals"]) => Change): Change | null => {
    if (!previous) return null;
    if (previous.isComplete) return to(previous.totals);
    return { direction: "none", text: describeMissingComparison(previous, dataSince) };
  };
  const period = previous ? describeDayRange(previous.from, previous.to) : "";
  const cards: TotalProps[] = [
    {
      metric: "views",
      label: "Views",
      hint: "Visits to your widgets",
      value: formatCount(totals.views),
      change: compare((earlier) => toCountChange(totals.views, earlier.views)),
      isMoreBetter: true,
    },
    {
      metric: "bookings",
      label: "Bookings",
      hint: "Made in this period",
      value: formatCount(totals.bookings),
      change: compare((earlier) => toCountChange(totals.bookings, earlier.bookings)),
      isMoreBetter: true,
    },
    {
      metric: "rate",
      label: "Conversion rate",
      hint: "Bookings ÷ views",
      value: formatConversionRate(totals),
      change: compare((earlier) => toRateChange(totals, earlier)),
      isMoreBetter: true,
    },
    {
      metric: "lead",
      label: "Average lead time",
      hint: "From booking to appointment",
      value: totals.avgLeadDays === null ? "–" : formatDays(totals.avgLeadDays),
      unit: totals.avgLeadDays === null ? "" : toDayUnit(totals.avgLeadDays),
      change: compare((earlier) => toDaysChange(totals.avgLeadDays, earlier.avgLeadDays)),
    },
  ];
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "sm", sm: "lg" }} mb="lg" component="dl" m={0}>
      {cards.map((card) => (
        <Total
          key={card.metric}
          {...card}
          period={period}
          isChosen={card.metric === chosen}
          {...(onChoose ? { onChoose: () => onChoose(card.metric) } : {})}
        />
      ))}
    </SimpleGrid>
  );
}

type TotalProps = {
  metric: Metric;
  label: string;
  hint: string;
  value: string;
  unit?: string;
  change: Change | null;
  /** If not set, a change is neither good nor bad. */
  isMoreBetter?: boolean;
};

function Total({
  label,
  hint,
  value,
  unit = "",
  change,
  period,
  isMoreBetter = false,
  isChosen,
  onChoose,
}: TotalProps & { period: string; isChosen: boolean; onChoose?: () => void }) {
  return (
    <Paper className={classes["card"]} data-chosen={isChosen}>
      <dt className={classes["label"]}>
        {onChoose ? (
          <UnstyledButton className={classes["choose"]} aria-pressed={isChosen} onClick={onChoose}>
            {label}
          </UnstyledButton>
        ) : (
          label
        )}
      </dt>
      <dd className={classes["value"]}>
        {value} {unit && <span className={classes["unit"]}>{unit}</span>}
      </dd>
      <dd className={classes["hint"]}>{hint}</dd>
      <dd className={classes["change"]}>
        {change && <ChangeMark change={change} period={period} isMoreBetter={isMoreBetter} />}
      </dd>
    </Paper>
  );
}

const ARROWS = { up: IconArrowUpRight, down: IconArrowDownRight, same: IconMinus };

function ChangeMark({ change, period, isMoreBetter }: { change: Change; period: string; isMoreBetter: boolean }) {
  if (change.direction === "none")
    return (
      <Text span inherit c="dimmed" className={classes["words"]}>
        {change.text}
      </Text>
    );
  const Arrow = ARROWS[change.direction];
  const tone = change.direction === "same" || !isMoreBetter ? "even" : change.direction === "up" ? "good" : "bad";
  return (
    <span title={`Compared with ${period}`}>
      <span className={classes["mark"]} data-tone={tone}>
        <Arrow size={16} stroke={2} aria-hidden />
        {change.direction === "same" ? (
          <span className={classes["words"]}>{change.text}</span>
        ) : (
          <span>
            <VisuallyHidden>{change.direction} by </VisuallyHidden>
            {change.text} {change.unit && <span className={classes["words"]}>{change.unit}</span>}
          </span>
        )}
      </span>
      <VisuallyHidden> compared with {period}</VisuallyHidden>
    </span>
  );
}
