import { Badge, Group, Paper, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { IconClock } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import { WINDOW_DAYS_DEFAULT } from "#contract/limits.ts";
import { analyticsQuery } from "../api/analytics.ts";
import { toDayCount } from "../day-range.ts";
import { formatDay, formatZone, pluralize } from "../format.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { StaleNotice } from "../ui/states/StaleNotice.tsx";
import { WidgetSelect } from "../widgets/WidgetSelect.tsx";
import { dayAhead } from "../zoned-time.ts";
import { DailyChart } from "./charts/DailyChart.tsx";
import { EntryTable } from "./charts/EntryTable.tsx";
import { Funnel } from "./charts/Funnel.tsx";
import { DroppedEvents } from "./DroppedEvents.tsx";
import { ExportMenu } from "./ExportMenu.tsx";
import { LostBookings } from "./LostBookings.tsx";
import { NoViews } from "./NoViews.tsx";
import classes from "./Report.module.css";
import { Totals } from "./Totals.tsx";
import { WindowSelect } from "./WindowSelect.tsx";

const DEFAULTS = { days: String(WINDOW_DAYS_DEFAULT), from: "", to: "", widget: "" };

export function AnalyticsPage() {
  const { id } = useOrganization();
  const [state, change] = useUrlState(DEFAULTS);
  const filters = { ...state, days: toDayCount(state.days) };
  const report = useQuery(analyticsQuery(id, filters));
  return (
    <Page
      title="Analytics"
      mark={<ZoneBadge />}
      description={<DataSince report={report.data} />}
      actions={<ExportMenu filters={filters} report={report.data} />}
    >
      <Group gap="sm" mb="lg" justify="space-between">
        <WindowSelect value={filters} onChange={change} />
        <WidgetSelect value={filters.widget} onChange={(widget) => change({ widget })} />
      </Group>
      <StaleNotice query={report} />
      <Loaded query={report} placeholder={<Placeholder />}>
        {(data) => (
          <div className={classes["report"]} aria-busy={report.isPlaceholderData} data-stale={report.isPlaceholderData}>
            <DroppedEvents count={data.droppedEvents} />
            <Report report={data} widget={filters.widget} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Report({ report, widget }: { report: AppAnalytics; widget: string }) {
  const { totals, daily, funnel } = report;
  // Imported bookings can be counted without any view.
  if (report.dataSince === null && totals.bookings === 0) return <NoViews widget={widget} />;
  return (
    <>
      <Totals report={report} />
      <Section title="Views and bookings by day">
        <DailyChart daily={daily} since={report.dataSince} />
      </Section>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg" verticalSpacing={0} className={classes["pairs"]}>
        <Section
          title="Funnel"
          description="Visits by the furthest step they reached. “Booked” counts visits, so it can be lower than the number of bookings."
        >
          <Funnel funnel={funnel} />
        </Section>
        <Section title="Channels" description="How visitors found you." isFlush>
          <EntryTable label="Channel" entries={report.channels} />
        </Section>
        <Section title="Sources" description="Where visitors came from: source and medium." isFlush>
          <EntryTable label="Source / medium" entries={report.sources} />
        </Section>
        <Section title="Campaigns" description="Taken from utm_campaign in your links." isFlush>
          <EntryTable label="Campaign" entries={report.campaigns} />
        </Section>
      </SimpleGrid>
      <LostBookings totals={totals} />
    </>
  );
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
function DataSince({ report }: { report: AppAnalytics | undefined }) {
  const { details } = useOrganization();
  const keptSinceDay = details.plan.keptSince.slice(0, "YYYY-MM-DD".length);
  const sentences = useMemo(() => {
    if (!report) return [];
    const isOneDay = report.from === report.to;
    return [
      isOneDay ? `${formatDay(report.from)}.` : `${formatDay(report.from)} – ${formatDay(report.to)}.`,
      report.to === dayAhead(0, details.timeZone) ? "Includes today so far." : "",
      report.dataSince === null ? "" : `Data since ${formatDay(report.dataSince)}.`,
      report.previous?.isComplete
        ? report.days === 1
          ? "Compared with the day before."
          : `Compared with the previous ${pluralize(report.days, "day")}.`
        : "",
      report.from < keptSinceDay ? `The ${details.plan.name} plan keeps ${details.plan.retention} of data.` : "",
    ].filter(Boolean);
  }, [report, keptSinceDay, details.timeZone, details.plan]);
  return sentences.length === 0 ? (
    <Text component="span" inherit>
      &nbsp;
    </Text>
  ) : (
    sentences.join(" ")
  );
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
