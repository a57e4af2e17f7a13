import { Anchor, Text } from "@mantine/core";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { endpointsQuery } from "../api/endpoints.ts";
import { can as canAs } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { StaleNotice } from "../ui/states/StaleNotice.tsx";
import { AddEndpointDialog } from "./AddEndpointDialog.tsx";
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
      description="Bookings of widgets with Store bookings on are sent to these endpoints within moments."
      actions={hasSome && addButton}
    >
      <LockedFeature verdict={canAs({ role: "owner", plan }, "addEndpoint")} title="Webhooks are not in your plan">
        Endpoints that are here already get nothing, and can be deleted.
      </LockedFeature>
      <StaleNotice query={endpoints} />
      <Section
        title="Endpoints"
        description={
          <>
            How to read and verify what they get is described in the{" "}
            <Anchor href="/docs/webhooks" target="_blank" underline="always" inherit>
              guide
            </Anchor>
            .
          </>
        }
        isFlush
      >
        <Loaded query={endpoints} rows={3}>
          {({ data }) =>
            data.length > 0 ? (
              <EndpointTable endpoints={data} />
            ) : (
              <EmptyState icon={IconWebhook} title="Nothing is sent anywhere yet" action={addButton}>
                <Text inherit>Add the address of a program of yours, or of a channel in Teams or Slack.</Text>
              </EmptyState>
            )
          }
        </Loaded>
      </Section>
      <AddEndpointDialog isOpen={isAdding} onClose={() => setAdding(false)} />
    </Page>
  );
}
