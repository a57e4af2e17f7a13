import { useQuery } from "@tanstack/react-query";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { widgetsQuery } from "../api/widgets.ts";
import { EVENT_NAMES } from "../deliveries/delivery-words.ts";
import { pluralize } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyId } from "../ui/copy/CopyField.tsx";
import { Facts, Section } from "../ui/layout/Section.tsx";
import { KINDS } from "./endpoint-words.ts";

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
