import { Badge, Group, Paper, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { IconClock } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { DIMENSIONS } from "#contract/dimensions.ts";
import { analyticsQuery } from "../api/analytics.ts";
import { widgetsQuery } from "../api/widgets.ts";
import { formatDay, formatZone, pluralize } from "../format.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Page } from "../ui/layout/Page.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { StaleNotice } from "../ui/states/StaleNotice.tsx";
import { WidgetSelect } from "../widgets/WidgetSelect.tsx";
import type { Filtering } from "./breakdowns/BreakdownTable.tsx";
import { WholeListDialog } from "./breakdowns/WholeListDialog.tsx";
import { DroppedEvents } from "./DroppedEvents.tsx";
import { ExportMenu } from "./ExportMenu.tsx";
import { FilterChips } from "./filters/FilterChips.tsx";
import { listFilters, toggleFilter } from "./filters/filter-state.ts";
import { LiveStrip } from "./LiveStrip.tsx";
import { CompareSelect } from "./period/CompareSelect.tsx";
import { PeriodSelect } from "./period/PeriodSelect.tsx";
import classes from "./Report.module.css";
import { Report } from "./Report.tsx";
import { ReportsButton } from "./ReportsButton.tsx";
import { type ChangeState, REPORT_DEFAULTS, type ReportState, toComparison, toScope } from "./report-state.ts";

export function AnalyticsPage() {
  const { id } = useOrganization();
  const [state, change] = useUrlState(REPORT_DEFAULTS);
  const scope = toScope(state);
  const report = useQuery(analyticsQuery(id, { ...scope, ...toComparison(state) }));
  const filtering = useFiltering(state, change);
  const list = DIMENSIONS.find((dimension) => dimension === state.list);
  return (
    <Page
      title="Analytics"
      mark={<ZoneBadge />}
      description={<Summary report={report.data} />}
      actions={
        <>
          <ReportsButton />
          <ExportMenu scope={scope} isReady={report.data !== undefined} />
        </>
      }
    >
      <LiveStrip widgetNames={filtering.widgetNames} />
      <Group gap="sm" mb="lg" justify="space-between">
        <Group gap="xs">
          <PeriodSelect value={state} onChange={change} />
          <CompareSelect
            compare={state.compare}
            range={{ from: state.compareFrom, to: state.compareTo }}
            onChange={(compare, { from, to }) => change({ compare, compareFrom: from, compareTo: to })}
          />
        </Group>
        <WidgetSelect
          value={state.widget.includes("\n") ? "" : state.widget}
          onChange={(widget) => change({ widget, notWidget: "" })}
        />
      </Group>
      <FilterChips state={state} change={change} widgetNames={filtering.widgetNames} />
      <StaleNotice query={report} />
      <Loaded query={report} placeholder={<Placeholder />}>
        {(data) => (
          <div className={classes["report"]} aria-busy={report.isPlaceholderData} data-stale={report.isPlaceholderData}>
            <DroppedEvents count={data.droppedEvents} />
            <Report report={data} {...{ state, change, scope, filtering }} />
          </div>
        )}
      </Loaded>
      <WholeListDialog dimension={list} scope={scope} filtering={filtering} onClose={() => change({ list: "" })} />
    </Page>
  );
}

/** Rows of all breakdowns become filters in the same way. Choosing one closes the whole list. */
function useFiltering(state: ReportState, change: ChangeState): Filtering {
  const { id } = useOrganization();
  const widgets = useQuery(widgetsQuery(id));
  const widgetNames = useMemo(
    () => new Map((widgets.data?.data ?? []).map((widget) => [widget.id as string, widget.name])),
    [widgets.data],
  );
  const shown = listFilters(state);
  return {
    widgetNames,
    isChosen: (dimension, key) =>
      shown.some((filter) => !filter.isNegated && filter.dimension === dimension && filter.key === key),
    onShowOnly: (dimension, key) => change({ ...toggleFilter(state, { dimension, key, isNegated: false }), list: "" }),
    onLeaveOut: (dimension, key) => change({ ...toggleFilter(state, { dimension, key, isNegated: true }), list: "" }),
  };
}

function ZoneBadge() {
  const { details } = useOrganization();
  return (
    <Badge
      color="gray"
      size="lg"
      fw={500}
      leftSection={<IconClock size={14} stroke={1.75} aria-hidden />}
      title="Days are counted in this time zone. Change it in Settings."
    >
      {formatZone(details.timeZone)}
    </Badge>
  );
}

/** The period, the comparison, and how far back there is data. */
function Summary({ report }: { report: AppAnalytics | undefined }) {
  const { details } = useOrganization();
  const keptSinceDay = details.plan.keptSince.slice(0, "YYYY-MM-DD".length);
  if (!report)
    return (
      <Text component="span" inherit>
        &nbsp;
      </Text>
    );
  return [
    `${describeRange(report)}.`,
    report.now.startsWith(report.to) ? "Includes today so far." : "",
    report.dataSince !== null && report.from < report.dataSince ? `Data since ${formatDay(report.dataSince)}.` : "",
    report.previous?.isComplete ? describeComparison(report, report.previous) : "",
    report.from < keptSinceDay ? `The ${details.plan.name} plan keeps ${details.plan.retention} of data.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

function describeComparison(report: AppAnalytics, previous: NonNullable<AppAnalytics["previous"]>): string {
  const until = previous.untilTime === null ? "" : ` up to the same time of day`;
  const isJustBefore =
    previous.to < report.from && previous.daily.length === report.days && isNextDay(previous.to, report.from);
  if (!isJustBefore) return `Compared with ${describeRange(previous)}${until}.`;
  return report.days === 1
    ? `Compared with the day before${until}.`
    : `Compared with the previous ${pluralize(report.days, "day")}${until}.`;
}

function isNextDay(day: string, next: string): boolean {
  return Date.parse(next) - Date.parse(day) === 86_400_000;
}

function describeRange({ from, to }: { from: string; to: string }): string {
  return from === to ? formatDay(from) : `${formatDay(from)} – ${formatDay(to)}`;
}

/** A placeholder of about the report's height. */
function Placeholder() {
  return (
    <Stack gap="lg" role="status" aria-label="Loading">
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing={{ base: "sm", sm: "lg" }}>
        {["views", "bookings", "conversion", "lead"].map((each) => (
          <Paper key={each} className={classes["empty-card"]}>
            <Skeleton h={14} w="40%" />
            <Skeleton h={28} w="65%" />
            <Skeleton h={12} w="85%" />
          </Paper>
        ))}
      </SimpleGrid>
      <Paper className={classes["empty-chart"]}>
        <Skeleton h={20} w={220} />
        <Skeleton h={190} />
        <Skeleton h={190} />
      </Paper>
    </Stack>
  );
}
