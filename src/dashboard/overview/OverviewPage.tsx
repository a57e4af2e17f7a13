import { Alert, Group, List, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconCalendarEvent } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Overview } from "#contract/app/overview.ts";
import { Totals } from "../analytics/Totals.tsx";
import { analyticsQuery } from "../api/analytics.ts";
import { overviewQuery, widgetsQuery } from "../api/queries.ts";
import { BookingTable } from "../bookings/BookingTable.tsx";
import { StorageOff } from "../bookings/NoBookings.tsx";
import { FILTER_DEFAULTS } from "../bookings/shown-filters.ts";
import { formatZone, pluralize } from "../format.ts";
import { type AroundName, describeConnectionProblem, describeEndpointProblem, useAlerts } from "../shell/alerts.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ButtonLink, TextLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded, LoadingCard, StaleNotice } from "../ui/states/Loaded.tsx";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { TestNumbers } from "../widgets/mode/ModeBadge.tsx";
import { ChecklistSection } from "./ChecklistSection.tsx";
import { toChecklistSteps } from "./checklist-steps.ts";

const WEEK = { days: "7", from: "", to: "", widget: "" };

export function OverviewPage() {
  const { id, name } = useOrganization();
  const overview = useQuery(overviewQuery(id));
  return (
    <Page title="Overview" description={name}>
      <StaleNotice query={overview} />
      <Problems />
      <Loaded query={overview} placeholder={<LoadingCard />}>
        {(data) => <Home overview={data} />}
      </Loaded>
    </Page>
  );
}

function Home({ overview }: { overview: Overview }) {
  const { id, paths, details, can } = useOrganization();
  const widgets = useQuery(widgetsQuery(id));
  const week = useQuery(analyticsQuery(id, WEEK));
  const list = widgets.data?.data ?? [];
  const { visits, bookings } = overview.now;
  return (
    <>
      {!overview.isChecklistDismissed && (
        <ChecklistSection
          steps={toChecklistSteps(overview.checklist, {
            paths,
            widgets: list,
            isAllowed: (action) => can(action).isAllowed,
          })}
        />
      )}
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap="xs">
          <Title order={2} size="h4">
            Last 7 days
          </Title>
          <TestNumbers includesTests={overview.includesTests} />
        </Group>
        <TextLink to={paths.analytics} size="sm">
          View analytics
        </TextLink>
      </Group>
      <Text size="sm" role="status" mb="sm">
        {pluralize(visits, "visit")} in the last hour, {pluralize(bookings, "booking")} in the last 24 hours.
      </Text>
      <Loaded query={week} placeholder={<LoadingCard />}>
        {(report) => <Totals report={report} />}
      </Loaded>
      <Section
        title="Upcoming appointments"
        description={`Stored bookings, soonest first. Times in ${formatZone(details.timeZone)}.`}
        actions={
          <ButtonLink to={paths.bookings} search={{ when: "upcoming" }} variant="default" size="compact-sm">
            View all
          </ButtonLink>
        }
        isFlush
      >
        {overview.upcoming.length === 0 ? (
          <EmptyState icon={IconCalendarEvent} title="No upcoming appointments">
            <StorageOff widgets={list} fallback="New bookings appear here automatically." />
          </EmptyState>
        ) : (
          <BookingTable bookings={overview.upcoming} filters={FILTER_DEFAULTS} />
        )}
      </Section>
    </>
  );
}

/** Endpoints and connections that don't work; renders nothing if there are none. */
function Problems() {
  const { id, paths, can } = useOrganization();
  const { endpoints, connections } = useAlerts(id, can("listConnections").isAllowed);
  if (endpoints.length + connections.length === 0) return null;
  return (
    <Alert color="red" mb="lg" icon={<IconAlertTriangle size={20} stroke={1.6} />} title="Needs attention">
      <List size="sm" spacing={4}>
        {connections.map((connection) => (
          <Problem
            key={connection.id}
            name={connection.name}
            to={paths.connections}
            words={describeConnectionProblem(connection)}
          />
        ))}
        {endpoints.map((endpoint) => (
          <Problem
            key={endpoint.id}
            name={nameOf(endpoint)}
            to={paths.endpoint(endpoint.id)}
            words={describeEndpointProblem(endpoint)}
          />
        ))}
      </List>
    </Alert>
  );
}

function Problem({ name, to, words: [before, after] }: { name: string; to: string; words: AroundName }) {
  return (
    <List.Item>
      {before}
      <TextLink to={to} underline="always">
        {name}
      </TextLink>
      {after}
    </List.Item>
  );
}
