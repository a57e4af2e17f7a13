import { Badge } from "@mantine/core";
import { IconMapPinQuestion } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { endpointsQuery, widgetsQuery } from "../api/queries.ts";
import { EVENT_NAMES } from "../deliveries/delivery-words.ts";
import { pluralize } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyId } from "../ui/copy/CopyField.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Facts, Section } from "../ui/layout/Section.tsx";
import { NotFoundNote } from "../ui/states/EmptyState.tsx";
import { Loaded, LoadingCard, StaleNotice } from "../ui/states/Loaded.tsx";
import { EditEndpointDialog } from "./EndpointDialogs.tsx";
import { CONDITION_COLORS, CONDITION_NAMES, KINDS, nameOf, onlyWhileOn } from "./endpoint-words.ts";
import { HealthSection } from "./HealthSection.tsx";
import { RecentSection } from "./RecentSection.tsx";
import { SecretSection } from "./SecretSection.tsx";
import { StatisticsSection } from "./StatisticsSection.tsx";
import { TestDialog } from "./TestDialog.tsx";
import { TurnOffOrDeleteSection } from "./TurnOffOrDeleteSection.tsx";

export function EndpointPage() {
  const { id, paths } = useOrganization();
  const { endpoint: wanted } = useParams({ strict: false }) as { endpoint: string };
  const endpoints = useQuery(endpointsQuery(id));
  const endpoint = endpoints.data?.data.find((each) => each.id === wanted);
  const condition = endpoint?.health.condition;
  return (
    <Page
      title={endpoint ? nameOf(endpoint) : "Endpoint"}
      back={{ to: paths.webhooks, label: "Webhooks" }}
      mark={
        condition && (
          <Badge size="lg" color={CONDITION_COLORS[condition]}>
            {CONDITION_NAMES[condition]}
          </Badge>
        )
      }
      actions={endpoint && <Actions key={wanted} endpoint={endpoint} />}
    >
      <StaleNotice query={endpoints} />
      <Loaded query={endpoints} placeholder={<LoadingCard />}>
        {() => (endpoint ? <Sections key={wanted} endpoint={endpoint} /> : <Gone />)}
      </Loaded>
    </Page>
  );
}

function Gone() {
  const { paths } = useOrganization();
  const list = { to: paths.webhooks, label: "Go to webhooks" };
  return (
    <NotFoundNote icon={IconMapPinQuestion} title="Endpoint not found" list={list}>
      It may have been deleted. Its deliveries are still in the log.
    </NotFoundNote>
  );
}

function Actions({ endpoint }: { endpoint: AppEndpoint }) {
  const { can } = useOrganization();
  const [isTesting, setTesting] = useState(false);
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      <ActionButton variant="default" verdict={can("editEndpoint")} onClick={() => setEditing(true)}>
        Edit endpoint
      </ActionButton>
      <ActionButton verdict={onlyWhileOn(can("testEndpoint"), endpoint)} onClick={() => setTesting(true)}>
        Send test
      </ActionButton>
      <TestDialog endpoint={isTesting ? endpoint : null} onClose={() => setTesting(false)} />
      <EditEndpointDialog endpoint={endpoint} isOpen={isEditing} onClose={() => setEditing(false)} />
    </>
  );
}

function Sections({ endpoint }: { endpoint: AppEndpoint }) {
  return (
    <>
      <HealthSection endpoint={endpoint} />
      <StatisticsSection endpoint={endpoint} />
      <RecentSection endpoint={endpoint} />
      <SettingsSection endpoint={endpoint} />
      {endpoint.kind === "webhook" && <SecretSection endpoint={endpoint} />}
      <TurnOffOrDeleteSection endpoint={endpoint} />
    </>
  );
}

export function SettingsSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { format, id: organization } = useOrganization();
  const { id, kind, url, description, createdAt, widgetIds, headerNames, requestsPerMinute } = endpoint;
  const widgets = useQuery({ ...widgetsQuery(organization), enabled: widgetIds !== null });
  const nameOfWidget = (widget: string) => widgets.data?.data.find((each) => each.id === widget)?.name ?? widget;
  return (
    <Section title="Settings" description={kind === "webhook" ? undefined : CHAT}>
      <Facts
        facts={[
          ["URL", <code key="url">{url}</code>],
          ["Type", KINDS[kind].name],
          ["Name", description],
          ["Events", describeEvents(endpoint)],
          ["Widgets", widgetIds === null ? "All" : widgetIds.map(nameOfWidget).join(", ")],
          ["Channels", endpoint.channels?.join(", ")],
          ["Services", endpoint.services?.join(", ")],
          ["Sources", endpoint.sources?.join(", ")],
          ["Campaigns", endpoint.campaigns?.join(", ")],
          ["Custom headers", headerNames.join(", ")],
          ["Rate limit", requestsPerMinute !== null && `${pluralize(requestsPerMinute, "request")} per minute`],
          ["Added", format.dateTime(createdAt)],
          ["Endpoint ID", <CopyId key="id" value={id} label="Copy endpoint ID" />],
        ]}
      />
    </Section>
  );
}

function describeEvents({ eventTypes, reportsExpiry }: AppEndpoint): string {
  const names = eventTypes.map((type) => EVENT_NAMES[type]);
  return [...names, ...(reportsExpiry ? ["End of retention"] : [])].join(", ");
}

const CHAT = "Anyone with the full URL can post to the channel, so only part of it is shown.";
