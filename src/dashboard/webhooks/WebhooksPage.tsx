import { Anchor } from "@mantine/core";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { endpointsQuery } from "../api/queries.ts";
import { can as canAs } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { AddEndpointDialog } from "./EndpointDialogs.tsx";
import { EndpointTable } from "./EndpointTable.tsx";

export function WebhooksPage() {
  const { id, can, plan } = useOrganization();
  const endpoints = useQuery(endpointsQuery(id));
  const [isAdding, setAdding] = useState(false);
  const addButton = (
    <ActionButton
      verdict={can("addEndpoint")}
      leftSection={<IconPlus size={18} stroke={1.6} />}
      onClick={() => setAdding(true)}
    >
      Add endpoint
    </ActionButton>
  );
  const hasSome = endpoints.data !== undefined && endpoints.data.data.length > 0;
  return (
    <Page
      title="Webhooks"
      description="New bookings are sent to these endpoints right away, if their widget has Store bookings on."
      actions={hasSome && addButton}
    >
      <LockedFeature verdict={canAs({ role: "owner", plan }, "addEndpoint")} title="Your plan doesn’t include webhooks">
        Nothing is sent on this plan. You can still turn off or delete endpoints.
      </LockedFeature>
      <StaleNotice query={endpoints} />
      <Section
        title="Endpoints"
        description={
          <>
            See the{" "}
            <Anchor href="/docs/webhooks" target="_blank" underline="always" inherit>
              webhook guide
            </Anchor>{" "}
            for the payload and how to verify it.
          </>
        }
        isFlush
      >
        <Loaded query={endpoints} rows={3}>
          {({ data }) =>
            data.length > 0 ? (
              <EndpointTable endpoints={data} />
            ) : (
              <EmptyState icon={IconWebhook} title="No endpoints yet" action={addButton}>
                Send bookings to your own software, or to a channel in Microsoft Teams or Slack.
              </EmptyState>
            )
          }
        </Loaded>
      </Section>
      <AddEndpointDialog isOpen={isAdding} onClose={() => setAdding(false)} />
    </Page>
  );
}
