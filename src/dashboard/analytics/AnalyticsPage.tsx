import { Alert, Badge, Button, Paper, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { IconClock, IconLinkOff, IconShieldHalf } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { DIMENSIONS } from "#contract/analytics/dimensions.ts";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { analyticsQuery } from "../api/analytics.ts";
import { ApiFailure } from "../api/client.ts";
import { widgetsQuery } from "../api/queries.ts";
import { dayAhead } from "../days.ts";
import { formatCount, formatZone, pluralize } from "../format.ts";
import { useIsPhone } from "../hooks/screen-width.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { GuideLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { TestNumbers } from "../widgets/mode/ModeBadge.tsx";
import { WidgetSelect } from "../widgets/WidgetSelect.tsx";
import type { Filtering } from "./breakdowns/BreakdownTable.tsx";
import { WholeListDialog } from "./breakdowns/WholeListDialog.tsx";
import { ExportMenu } from "./ExportMenu.tsx";
import { AddFilter, FilterChips } from "./filters/FilterChips.tsx";
import { isFull, listFilters, passesFilters, splitKeys, toggleKey } from "./filters/filter-state.ts";
import { Segments } from "./filters/Segments.tsx";
import { LiveStrip } from "./LiveStrip.tsx";
import { CompareSelect, PeriodSelect } from "./period/PeriodSelect.tsx";
import classes from "./Report.module.css";
import { Report } from "./Report.tsx";
import { ReportsButton } from "./ReportsButton.tsx";
import {
  type ChangeState,
  cleanState,
  REPORT_DEFAULTS,
  type ReportState,
  toComparison,
  toScope,
} from "./report-state.ts";
import { describeReport, formatConversionRate } from "./report-words.ts";
import { ShareButton } from "./sharing/ShareButton.tsx";

export function AnalyticsPage() {
  const { id, details } = useOrganization();
  const [address, change] = useUrlState(REPORT_DEFAULTS);
  const state = cleanState(address, dayAhead(0, details.timeZone));
  const scope = toScope(state);
  const report = useQuery(analyticsQuery(id, { ...scope, ...toComparison(state) }));
  const filtering = useFiltering(state, change);
  const { ref: totalsRef, entry } = useIntersection<HTMLDivElement>({ rootMargin: `-${BAR_HEIGHT_PX}px 0px 0px` });
  const isStuck = entry !== null && !entry.isIntersecting && entry.boundingClientRect.top < 0;
  const list = DIMENSIONS.find((dimension) => dimension === state.list);
  return (
    <Page
      title="Analytics"
      mark={
        <>
          <ZoneBadge />
          <TestNumbers isCounted={(key) => passesFilters(state, { dimension: "widget", key })} />
        </>
      }
      description={<Summary report={report.data} />}
      isCompact
      actions={
        <>
          <ShareButton state={state} report={report.data} widgetNames={filtering.widgetNames} />
          <ReportsButton />
          <ExportMenu scope={scope} isReady={report.data !== undefined} />
        </>
      }
    >
      <LiveStrip widgetNames={filtering.widgetNames} />
      <div className={classes["bar"]} data-stuck={isStuck}>
        <Controls state={state} change={change} widgetNames={filtering.widgetNames} />
        <FilterChips state={state} change={change} widgetNames={filtering.widgetNames} />
        {isStuck && report.data && <StuckFigures totals={report.data.totals} />}
      </div>
      <StaleNotice query={report} />
      {isRefused(report.error) && report.data === undefined ? (
        <WrongAddress onReset={() => change(REPORT_DEFAULTS)} />
      ) : (
        <Loaded query={report} placeholder={<Placeholder />}>
          {(data) => (
            <div
              className={classes["report"]}
              aria-busy={report.isPlaceholderData}
              data-stale={report.isPlaceholderData}
            >
              <DroppedEvents count={data.droppedEvents} />
              <Report report={data} {...{ state, change, scope, filtering, totalsRef }} />
            </div>
          )}
        </Loaded>
      )}
      <WholeListDialog dimension={list} scope={scope} filtering={filtering} onClose={() => change({ list: "" })} />
    </Page>
  );
}

/** What covers the figures when they are scrolled under it. */
const BAR_HEIGHT_PX = 80;

/** While the cards are scrolled away, a filter's effect still shows beside it. */
function StuckFigures({ totals }: Pick<AppAnalytics, "totals">) {
  return (
    <Text size="sm" role="status" className={classes["figures"]}>
      <b>{formatCount(totals.views)}</b> views, <b>{formatCount(totals.bookings)}</b> bookings,{" "}
      <b>{formatConversionRate(totals)}</b>
    </Text>
  );
}

type ControlsProps = { state: ReportState; change: ChangeState; widgetNames: Filtering["widgetNames"] };

function Controls({ state, change, widgetNames }: ControlsProps) {
  return (
    <div className={classes["controls"]}>
      <PeriodSelect value={state} onChange={change} />
      <CompareSelect
        compare={state.compare}
        match={state.match}
        range={{ from: state.compareFrom, to: state.compareTo }}
        onChange={(compare, { from, to }) => change({ compare, compareFrom: from, compareTo: to })}
        onMatch={(match) => change({ match })}
      />
      <AddFilter state={state} change={change} widgetNames={widgetNames} />
      <Segments state={state} change={change} />
      <div className={classes["widget"]}>
        <WidgetSelect
          value={state.widget}
          excluded={splitKeys(state.notWidget).length}
          onChange={(widget) => change({ widget, notWidget: "" })}
        />
      </div>
    </div>
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
      shown.some((filter) => !filter.isNegated && filter.dimension === dimension && filter.keys.includes(key)),
    onShowOnly: (dimension, key) => change({ ...toggleKey(state, { dimension, key, isNegated: false }), list: "" }),
    canLeaveOut: (dimension) => !isFull(state, { dimension, isNegated: true }),
    onLeaveOut: (dimension, key) => change({ ...toggleKey(state, { dimension, key, isNegated: true }), list: "" }),
  };
}

/** Trying again would not help: the address is wrong, for example because it has a widget of another organization. */
function isRefused(error: Error | null): boolean {
  return error instanceof ApiFailure && (error.status === 400 || error.status === 404);
}

function WrongAddress({ onReset }: { onReset: () => void }) {
  return (
    <Paper className={classes["instead"]}>
      <EmptyState
        icon={IconLinkOff}
        title="Report not found"
        action={
          <Button variant="default" onClick={onReset}>
            Reset report
          </Button>
        }
      >
        The link is incomplete, or points to a widget that doesn’t exist.
      </EmptyState>
    </Paper>
  );
}

function ZoneBadge() {
  const { details } = useOrganization();
  return (
    <Badge
      color="gray"
      size="lg"
      fw={500}
      visibleFrom="sm"
      leftSection={<IconClock size={14} stroke={1.75} aria-hidden />}
      title="Days are counted in this time zone. Change it in Settings."
    >
      {formatZone(details.timeZone)}
    </Badge>
  );
}

function Summary({ report }: { report: AppAnalytics | undefined }) {
  const { details } = useOrganization();
  const isPhone = useIsPhone();
  const keptSinceDay = details.plan.keptSince.slice(0, "YYYY-MM-DD".length);
  if (!report)
    return (
      <Text component="span" inherit>
        &nbsp;
      </Text>
    );
  return (
    <>
      {describeReport(report, { ...details.plan, keptSinceDay })}{" "}
      {!isPhone && <GuideLink to="analytics" about="analytics" />}
    </>
  );
}

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
        <Skeleton h={240} />
      </Paper>
    </Stack>
  );
}

/** Says how many events were dropped because a widget had too many new visits; renders nothing if none were. */
export function DroppedEvents({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Alert
      color="yellow"
      mb="lg"
      icon={<IconShieldHalf size={20} stroke={1.6} />}
      title={`${pluralize(count, "event")} not counted`}
    >
      A widget exceeded its daily limit for new visits, usually because of a bot. These events aren’t included below. If
      they were real visitors, ask the person who runs Bookflow to raise RATE_LIMIT_EVENTS_PER_MINUTE.
    </Alert>
  );
}
