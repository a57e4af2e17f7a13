import { Group } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { DELIVERY_LOG_DAYS } from "#contract/webhooks/delivery.ts";
import { deliveriesQuery } from "../api/deliveries.ts";
import { DeliveryTable } from "../deliveries/DeliveryTable.tsx";
import { RedeliverDialog } from "../deliveries/RedeliverDialog.tsx";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { onlyWhileOn } from "./endpoint-words.ts";

const SHOWN = "5";

export function RecentSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, paths, can } = useOrganization();
  const query = { endpoint: endpoint.id, limit: SHOWN };
  const deliveries = useInfiniteQuery(deliveriesQuery(id, `latest of ${endpoint.id}`, () => query));
  const [isRedelivering, setRedelivering] = useState(false);
  return (
    <Section
      title="Latest deliveries"
      isFlush
      actions={
        <Group gap="xs">
          <ActionButton
            variant="default"
            verdict={onlyWhileOn(can("startRedelivery"), endpoint)}
            onClick={() => setRedelivering(true)}
          >
            Redeliver events
          </ActionButton>
          <ButtonLink variant="default" to={paths.deliveries} search={{ endpoint: endpoint.id }}>
            View all deliveries
          </ButtonLink>
        </Group>
      }
    >
      <Loaded query={deliveries} rows={3}>
        {({ pages }) => {
          const rows = pages[0]?.data ?? [];
          return rows.length > 0 ? (
            <DeliveryTable label="Latest deliveries" deliveries={rows} isForOneEndpoint />
          ) : (
            <EmptyState icon={IconSend} title={`No deliveries in the last ${DELIVERY_LOG_DAYS} days`}>
              Send a test to check that your receiver works.
            </EmptyState>
          );
        }}
      </Loaded>
      <RedeliverDialog
        isOpen={isRedelivering}
        filters={{ endpoint: endpoint.id }}
        onClose={() => setRedelivering(false)}
      />
    </Section>
  );
}
