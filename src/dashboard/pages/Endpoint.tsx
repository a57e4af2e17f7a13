import { Badge } from "@mantine/core";
import { IconMapPinQuestion } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { endpointsQuery } from "../api/endpoints.ts";
import { CONDITION_COLORS, CONDITION_NAMES, nameOf } from "../endpoint-words.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/ActionButton.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { LoadingCard } from "../ui/LoadingRows.tsx";
import { NotHere } from "../ui/NotHere.tsx";
import { Page } from "../ui/Page.tsx";
import { StaleNotice } from "../ui/StaleNotice.tsx";
import { EditEndpointDialog } from "../webhooks/EditEndpointDialog.tsx";
import { EndSection } from "../webhooks/EndSection.tsx";
import { HealthSection } from "../webhooks/HealthSection.tsx";
import { onlyWhileOn } from "../webhooks/only-while-on.ts";
import { RecentSection } from "../webhooks/RecentSection.tsx";
import { SecretSection } from "../webhooks/SecretSection.tsx";
import { SettingsSection } from "../webhooks/SettingsSection.tsx";
import { TestDialog } from "../webhooks/TestDialog.tsx";

export function EndpointPage() {
  const { id, paths } = useOrganization();
  const { endpoint: wanted } = useParams({ strict: false }) as { endpoint: string };
  const endpoints = useQuery(endpointsQuery(id));
  const endpoint = endpoints.data?.data.find((each) => each.id === wanted);
  if (endpoint) return <Endpoint key={wanted} endpoint={endpoint} query={endpoints} />;
  return (
    <Page title="Endpoint" back={{ to: paths.webhooks, label: "Webhooks" }}>
      <Loaded query={endpoints} placeholder={<LoadingCard />}>
        {() => (
          <NotHere
            icon={IconMapPinQuestion}
            title="There is no such endpoint"
            list={{ to: paths.webhooks, label: "Show all endpoints" }}
          >
            It may have been deleted. Its deliveries stay in the log.
          </NotHere>
        )}
      </Loaded>
    </Page>
  );
}

type EndpointsResult = Parameters<typeof StaleNotice>[0]["query"];

function Endpoint({ endpoint, query }: { endpoint: AppEndpoint; query: EndpointsResult }) {
  const { can, paths } = useOrganization();
  const [isTesting, setTesting] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const { condition } = endpoint.health;
  return (
    <Page
      title={nameOf(endpoint)}
      back={{ to: paths.webhooks, label: "Webhooks" }}
      mark={
        <Badge size="lg" color={CONDITION_COLORS[condition]}>
          {CONDITION_NAMES[condition]}
        </Badge>
      }
      actions={
        <>
          <ActionButton variant="default" verdict={can("changeEndpoint")} onClick={() => setEditing(true)}>
            Edit
          </ActionButton>
          <ActionButton verdict={onlyWhileOn(can("testEndpoint"), endpoint)} onClick={() => setTesting(true)}>
            Send test
          </ActionButton>
        </>
      }
    >
      <StaleNotice query={query} />
      <HealthSection endpoint={endpoint} />
      <RecentSection endpoint={endpoint} />
      <SettingsSection endpoint={endpoint} />
      {endpoint.kind === "webhook" && <SecretSection endpoint={endpoint} />}
      <EndSection endpoint={endpoint} />
      <TestDialog endpoint={isTesting ? endpoint : null} onClose={() => setTesting(false)} />
      <EditEndpointDialog endpoint={endpoint} isOpen={isEditing} onClose={() => setEditing(false)} />
    </Page>
  );
}
