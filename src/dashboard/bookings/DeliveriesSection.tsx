import { Badge, Text } from "@mantine/core";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import { describeOutcome, STATE_COLORS, STATE_NAMES } from "../deliveries/delivery-words.ts";
import { formatCount } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { Clipped, type Column, ListTable } from "../ui/tables/ListTable.tsx";

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
      header: "Status",
      cell: (delivery) => <Badge color={STATE_COLORS[delivery.state]}>{STATE_NAMES[delivery.state]}</Badge>,
    },
    { header: "Last response", cell: (delivery) => describeOutcome(delivery) || "–" },
    { header: "Attempts", isNumeric: true, cell: ({ attemptCount }) => formatCount(attemptCount) },
    { header: "Created", isNumeric: true, cell: ({ createdAt }) => format.dateTime(createdAt) },
  ];
  if (deliveries.length === 0)
    return (
      <Section title="Deliveries">
        <Text size="sm" c="dimmed">
          This booking wasn’t sent to any endpoint, or its deliveries are no longer in the log.
        </Text>
      </Section>
    );
  return (
    <Section title="Deliveries" description="Webhook deliveries for this booking." isFlush>
      <ListTable hasRowLinks label="Deliveries" columns={columns} rows={deliveries} rowKey={({ id }) => id} />
    </Section>
  );
}
