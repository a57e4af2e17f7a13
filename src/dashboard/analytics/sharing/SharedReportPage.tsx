import { Badge, SegmentedControl, SimpleGrid } from "@mantine/core";
import { IconClock, IconLinkOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { LISTED_DIMENSIONS, type SharedReport } from "#contract/app/analytics.ts";
import { sharedReportQuery } from "../../api/analytics.ts";
import { isNotFound } from "../../api/client.ts";
import { formatZone } from "../../format.ts";
import { Brand } from "../../shell/Brand.tsx";
import { Page } from "../../ui/layout/Page.tsx";
import { Section } from "../../ui/layout/Section.tsx";
import { EmptyState } from "../../ui/states/EmptyState.tsx";
import { Loaded } from "../../ui/states/Loaded.tsx";
import { BreakdownSection, type Filtering } from "../breakdowns/BreakdownTable.tsx";
import { Funnel } from "../charts/Funnel.tsx";
import { HeatMap } from "../charts/HeatMap.tsx";
import { LeadTimes } from "../charts/LeadTimes.tsx";
import { METRIC_NAMES } from "../charts/TimeChart.tsx";
import { ChartSection, PAIRS } from "../Report.tsx";
import { describeReportQuery } from "../report-state.ts";
import { describePeriodOf } from "../report-words.ts";
import { Totals } from "../Totals.tsx";
import classes from "./SharedReportPage.module.css";

/** One report, for people without an account. Nothing on it leads further into the organization's data. */
export function SharedReportPage() {
  const token = useLocation({ select: ({ hash }) => hash });
  const shared = useQuery(sharedReportQuery(token));
  return (
    <main className={classes["shared"]}>
      <header className={classes["top"]}>
        <Brand />
      </header>
      {isNotFound(shared.error) ? (
        <Page title="Shared report">
          <EmptyState icon={IconLinkOff} title="This report is no longer shared">
            The link was revoked or is incomplete. Ask the person who sent it to you.
          </EmptyState>
        </Page>
      ) : (
        <Loaded query={shared} rows={8}>
          {(data) => <Shared {...data} />}
        </Loaded>
      )}
    </main>
  );
}

function Shared({ organizationName, name, query, report, times, widgets }: SharedReport) {
  const widgetNames = new Map(widgets.map((widget) => [widget.id, widget.name]));
  const filtering: Filtering = { widgetNames, isReadOnly: true, ...NO_FILTERS };
  const shown = describeReportQuery(query, widgetNames);
  return (
    <Page
      title={name}
      mark={
        <Badge color="gray" size="lg" fw={500} leftSection={<IconClock size={14} stroke={1.75} aria-hidden />}>
          {formatZone(report.timeZone)}
        </Badge>
      }
      description={`${organizationName}. ${shown === name ? "" : `${shown}. `}${describePeriodOf(report)}`}
    >
      <Totals report={report} />
      <Chart report={report} />
      <Section
        title="Funnel"
        description="How many visits reached each step. “Booked” counts visits, so it can be lower than the number of bookings."
      >
        <Funnel funnel={report.funnel} />
      </Section>
      <SimpleGrid {...PAIRS}>
        {LISTED_DIMENSIONS.filter((dimension) => dimension !== "country").map((dimension) => (
          <BreakdownSection
            key={dimension}
            dimension={dimension}
            list={report.lists[dimension]}
            filtering={filtering}
          />
        ))}
      </SimpleGrid>
      <SimpleGrid {...PAIRS}>
        <BreakdownSection dimension="country" list={report.lists.country} filtering={filtering} />
        <div>
          <BreakdownSection dimension="service" list={times.services} filtering={filtering} />
          <Section title="Lead time" description="How far ahead visitors book.">
            <LeadTimes counts={times.leadTimes} />
          </Section>
        </div>
      </SimpleGrid>
      <Section
        title="Busy hours"
        description={`Bookings by weekday and hour. Times in ${formatZone(report.timeZone)}.`}
      >
        <HeatMap counts={times.bookings} noun="booking" chosen={null} />
      </Section>
    </Page>
  );
}

const NO_FILTERS = {
  isChosen: () => false,
  onShowOnly: () => undefined,
  canLeaveOut: () => false,
  onLeaveOut: () => undefined,
};

function Chart({ report }: Pick<SharedReport, "report">) {
  const [metric, setMetric] = useState<keyof typeof METRIC_NAMES>("views");
  const [interval, setInterval] = useState("");
  return (
    <ChartSection
      {...{ report, metric, interval }}
      onInterval={setInterval}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Figure"
          value={metric}
          onChange={(chosen) => setMetric(chosen as keyof typeof METRIC_NAMES)}
          data={Object.entries(METRIC_NAMES).map(([value, label]) => ({ value, label }))}
        />
      }
    />
  );
}
