import { Badge, Text } from "@mantine/core";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import { describeOutcome, STATE_COLORS, STATE_NAMES } from "../deliveries/delivery-words.ts";
import { pluralize } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { Clipped } from "../ui/tables/Clipped.tsx";
import { type Column, DataTable } from "../ui/tables/DataTable.tsx";

/** Where the booking was sent, and whether it arrived. */
export function DeliveriesSection({ deliveries }: { deliveries: readonly AppDelivery[] }) {
  const { paths, format } = useOrganization();
  const columns: Column<AppDelivery>[] = [
    {
      header: "Endpoint",
      isBare: true,
      width: "34%",
      cell: ({ id, endpoint }) => (
        <Clipped whole={endpoint.description || endpoint.url}>
          <TextLink to={paths.delivery(id)} size="sm" fw={500}>
            {endpoint.description || endpoint.url}
          </TextLink>
        </Clipped>
      ),
    },
    {
      header: "State",
      cell: (delivery) => <Badge color={STATE_COLORS[delivery.state]}>{STATE_NAMES[delivery.state]}</Badge>,
    },
    { header: "Last reply", cell: (delivery) => describeOutcome(delivery) || "–" },
    { header: "Attempts", isNumeric: true, cell: ({ attemptCount }) => pluralize(attemptCount, "attempt") },
    { header: "When", isNumeric: true, cell: ({ createdAt }) => format.dateTime(createdAt) },
  ];
  if (deliveries.length === 0)
    return (
      <Section title="Deliveries">
        <Text size="sm" c="dimmed">
          This booking was sent to no endpoint: there was none, or it is longer ago than the delivery log goes back.
        </Text>
      </Section>
    );
  return (
    <Section title="Deliveries" description="What webhooks were told of this booking." isFlush>
      <DataTable label="Deliveries" columns={columns} rows={deliveries} rowKey={({ id }) => id} />
    </Section>
  );
}
