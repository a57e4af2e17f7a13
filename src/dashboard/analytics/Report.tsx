import { Button, Group, Paper, SegmentedControl, Select, SimpleGrid } from "@mantine/core";
import { IconFilterOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode, Ref } from "react";
import { DIMENSIONS, type Dimension, TIME_KEYS } from "#contract/analytics/dimensions.ts";
import { type AppAnalytics, type BookingTimes, LISTED_DIMENSIONS } from "#contract/app/analytics.ts";
import { bookingTimesQuery } from "../api/analytics.ts";
import { formatZone } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { BreakdownSection, type Filtering } from "./breakdowns/BreakdownTable.tsx";
import { DIMENSION_WORDS } from "./breakdowns/dimension-words.ts";
import { INTERVAL_NAMES, type Interval, listIntervals } from "./charts/buckets.ts";
import { Funnel } from "./charts/Funnel.tsx";
import { HeatMap } from "./charts/HeatMap.tsx";
import { LeadTimes } from "./charts/LeadTimes.tsx";
import { SplitFunnel } from "./charts/SplitFunnel.tsx";
import { METRIC_NAMES, TimeChart } from "./charts/TimeChart.tsx";
import { countsOnlyBookedVisits, FILTER_DEFAULTS, listFilters, toggleKey } from "./filters/filter-state.ts";
import { LostBookings } from "./LostBookings.tsx";
import { NoViews } from "./NoViews.tsx";
import classes from "./Report.module.css";
import type { ChangeState, Parameters, ReportState } from "./report-state.ts";
import { METRICS, Totals } from "./Totals.tsx";

type ReportProps = {
  report: AppAnalytics;
  state: ReportState;
  change: ChangeState;
  scope: Parameters;
  filtering: Filtering;
};

export function Report({
  report,
  state,
  change,
  scope,
  filtering,
  totalsRef,
}: ReportProps & { totalsRef: Ref<HTMLDivElement> }) {
  const { totals } = report;
  const isFiltered = listFilters(state).some(({ dimension }) => dimension !== "widget");
  // Imported bookings can be counted without any view.
  const isEmpty = totals.views + totals.bookings === 0;
  if (isEmpty && isFiltered) return <NoMatches onClear={() => change(FILTER_DEFAULTS)} />;
  if (isEmpty && report.dataSince === null) return <NoViews widget={state.widget} />;
  const metric = METRICS.find((each) => each === state.metric) ?? "views";
  const showAll = (list: Dimension) => change({ list });
  return (
    <>
      <div ref={totalsRef}>
        <Totals report={report} chosen={metric} onChoose={(chosen) => change({ metric: chosen })} />
      </div>
      {metric === "lead" ? (
        <LeadTimeSection {...{ state, change, scope }} title="Bookings by lead time" />
      ) : (
        <ChartSection
          {...{ report, metric }}
          interval={state.interval}
          onInterval={(interval) => change({ interval })}
        />
      )}
      <FunnelSection {...{ report, state, change, scope, filtering }} />
      <SimpleGrid {...PAIRS}>
        {LISTED_DIMENSIONS.filter((dimension) => dimension !== "country").map((dimension) => (
          <BreakdownSection
            key={dimension}
            dimension={dimension}
            list={report.lists[dimension]}
            filtering={filtering}
            onShowAll={showAll}
          />
        ))}
      </SimpleGrid>
      <PlacesAndTimes {...{ report, state, change, scope, filtering }} onShowAll={showAll} />
      <LostBookings totals={totals} isBookedOnly={countsOnlyBookedVisits(state)} />
    </>
  );
}

type ChartProps = {
  report: AppAnalytics;
  metric: keyof typeof METRIC_NAMES;
  /** Another one is drawn if it doesn't suit the period. */
  interval: string;
  onInterval: (interval: string) => void;
  actions?: ReactNode;
};

export function ChartSection({ report, metric, interval: wanted, onInterval, actions }: ChartProps) {
  const intervals = listIntervals(report.days, report.hourly !== null);
  const interval = intervals.find((each) => each === wanted) ?? intervals[0] ?? "day";
  return (
    <Section
      title={`${METRIC_NAMES[metric]} by ${interval}`}
      actions={
        <Group gap="xs">
          {actions}
          <SegmentedControl
            size="xs"
            aria-label="Interval"
            value={interval}
            onChange={onInterval}
            data={["hour", "day", "week", "month"].flatMap((each) =>
              intervals.includes(each as Interval) ? [{ value: each, label: INTERVAL_NAMES[each as Interval] }] : [],
            )}
          />
        </Group>
      }
    >
      <TimeChart report={report} interval={interval} metric={metric} />
    </Section>
  );
}

/** Two sections side by side, of the same height. */
export const PAIRS = {
  cols: { base: 1, lg: 2 },
  spacing: "lg",
  verticalSpacing: 0,
  className: classes["pairs"] ?? "",
} as const;

function NoMatches({ onClear }: { onClear: () => void }) {
  return (
    <Paper className={classes["instead"]}>
      <EmptyState
        icon={IconFilterOff}
        title="No visits match these filters"
        action={
          <Button variant="default" onClick={onClear}>
            Clear filters
          </Button>
        }
      >
        Remove a filter, or choose a longer period.
      </EmptyState>
    </Paper>
  );
}

function FunnelSection({ report, state, change, scope, filtering }: ReportProps) {
  const split = DIMENSIONS.find((dimension) => dimension === state.split);
  return (
    <Section
      title="Funnel"
      description="How many visits reached each step. “Booked” counts visits, so it can be lower than the number of bookings."
      actions={
        <Select
          size="xs"
          w={{ base: "100%", xs: "9.5rem" }}
          aria-label="Split funnel"
          allowDeselect={false}
          value={split ?? WHOLE}
          onChange={(chosen) => change({ split: chosen === null || chosen === WHOLE ? "" : chosen })}
          data={[
            { value: WHOLE, label: "All visits" },
            ...DIMENSIONS.filter((dimension) => dimension !== "service").map((dimension) => ({
              value: dimension,
              label: `By ${DIMENSION_WORDS[dimension].name.toLowerCase()}`,
            })),
          ]}
        />
      }
    >
      {split ? (
        <SplitFunnel dimension={split} scope={scope} widgetNames={filtering.widgetNames} />
      ) : (
        <Funnel funnel={report.funnel} />
      )}
    </Section>
  );
}

/** Not a dimension. */
const WHOLE = "whole";

type TimesProps = ReportProps & { onShowAll: (dimension: Dimension) => void };

/** Services, lead times and the hours of the week are counted from the visits themselves and come a moment later. */
function PlacesAndTimes({ report, state, change, scope, filtering, onShowAll }: TimesProps) {
  const { id } = useOrganization();
  const times = useQuery(bookingTimesQuery(id, scope));
  return (
    <>
      <SimpleGrid {...PAIRS}>
        <BreakdownSection dimension="country" list={report.lists.country} filtering={filtering} onShowAll={onShowAll} />
        <div className={classes["stack"]}>
          <Loaded query={times} rows={8}>
            {({ services }) => (
              <BreakdownSection dimension="service" list={services} filtering={filtering} onShowAll={onShowAll} />
            )}
          </Loaded>
          {state.metric !== "lead" && <LeadTimeSection {...{ state, change, scope }} title="Lead time" />}
        </div>
      </SimpleGrid>
      {times.data && <BusyHours times={times.data} {...{ state, change }} />}
    </>
  );
}

type LeadTimeProps = Pick<ReportProps, "state" | "change" | "scope"> & { title: string };

function LeadTimeSection({ state, change, scope, title }: LeadTimeProps) {
  const { id } = useOrganization();
  const times = useQuery(bookingTimesQuery(id, scope));
  return (
    <Section title={title} description="How far ahead visitors book.">
      <Loaded query={times} rows={6}>
        {({ leadTimes }) => (
          <LeadTimes
            counts={leadTimes}
            chosen={state.leadTime.split("\n")}
            onChoose={(key) => change(toggleKey(state, { dimension: "leadTime", key, isNegated: false }))}
          />
        )}
      </Loaded>
    </Section>
  );
}

const NO_HOUR = { weekday: "", hour: "", notWeekday: "", notHour: "" };

/** A cell filters by its weekday and its hour. */
function BusyHours({ times, state, change }: Pick<ReportProps, "state" | "change"> & { times: BookingTimes }) {
  const { details } = useOrganization();
  const isViews = state.heat === "views";
  const weekdays: readonly string[] = TIME_KEYS.weekday;
  const chosen =
    weekdays.includes(state.weekday) && TIME_KEYS.hour.includes(state.hour)
      ? { day: weekdays.indexOf(state.weekday), hour: Number(state.hour) }
      : null;
  return (
    <Section
      title="Busy hours"
      description={`By weekday and hour. Times in ${formatZone(details.timeZone)}.`}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Heat map"
          value={isViews ? "views" : "bookings"}
          onChange={(heat) => change({ heat })}
          data={[
            { value: "bookings", label: "Bookings" },
            { value: "views", label: "Views" },
          ]}
        />
      }
    >
      <HeatMap
        counts={isViews ? times.views : times.bookings}
        noun={isViews ? "view" : "booking"}
        chosen={chosen}
        onChoose={({ day, hour }) =>
          change({
            ...NO_HOUR,
            ...(chosen?.day === day && chosen.hour === hour
              ? {}
              : { weekday: weekdays[day] ?? "", hour: String(hour) }),
          })
        }
      />
    </Section>
  );
}
