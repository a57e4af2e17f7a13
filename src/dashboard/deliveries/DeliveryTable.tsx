import { Badge, type BadgeProps, Group, Text } from "@mantine/core";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { type Column, Lines, ListTable, When } from "../ui/tables/ListTable.tsx";
import { KINDS, nameOf } from "../webhooks/endpoint-words.ts";
import { ModeBadge } from "../widgets/mode/ModeBadge.tsx";
import classes from "./DeliveryTable.module.css";
import {
  describeDue,
  describeOutcome,
  EVENT_NAMES,
  formatDuration,
  STATE_COLORS,
  STATE_NAMES,
} from "./delivery-words.ts";

type DeliveryTableProps = {
  label: string;
  deliveries: readonly AppDelivery[];
  /** Leaves out the endpoint column, which would be the same in every row. */
  isForOneEndpoint?: boolean;
};

export function DeliveryTable({ label, deliveries, isForOneEndpoint = false }: DeliveryTableProps) {
  const columns: Column<AppDelivery>[] = [
    { header: "Event", isBare: true, width: "18%", cell: (row) => <EventCell delivery={row} /> },
    ...(isForOneEndpoint ? [] : [ENDPOINT_COLUMN]),
    { header: "Status", width: "27%", cell: (row) => <StateCell delivery={row} /> },
    { header: "Attempts", isNumeric: true, cell: (row) => row.attemptCount },
    {
      header: "Duration",
      isNumeric: true,
      isWideOnly: true,
      cell: ({ lastDurationMs }) => (lastDurationMs === null ? "–" : formatDuration(lastDurationMs)),
    },
    { header: "Created", isNumeric: true, cell: (row) => <When at={row.createdAt} /> },
  ];
  return <ListTable hasRowLinks label={label} columns={columns} rows={deliveries} rowKey={(row) => row.id} />;
}

const ENDPOINT_COLUMN: Column<AppDelivery> = {
  header: "Endpoint",
  width: "20%",
  cell: ({ endpoint }) => (
    <Lines first={nameOf(endpoint)} second={endpoint.isRemoved ? "Deleted" : KINDS[endpoint.kind].name} />
  ),
};

function EventCell({ delivery }: { delivery: AppDelivery }) {
  const { paths } = useOrganization();
  const { id, event, reference, mode } = delivery;
  const name = EVENT_NAMES[event.type];
  const isTest = event.type === "endpoint.test";
  const link = (
    <Group gap={6} component="span" display="inline-flex">
      <TextLink to={paths.delivery(id)} size="sm" fw={600}>
        {reference ?? name}
      </TextLink>
      {mode !== null && mode !== "live" && <ModeBadge mode={mode} isSmall />}
    </Group>
  );
  return <Lines first={link} second={isTest ? "No customer data" : reference === null ? "Booking erased" : name} />;
}

function StateCell({ delivery }: { delivery: AppDelivery }) {
  const { format } = useOrganization();
  const { state, nextAttemptAt, pending } = delivery;
  const isAccepted = delivery.endpoint.kind === "teams" && delivery.lastStatus === 202;
  const outcome = state === "delivered" && !isAccepted ? "" : describeOutcome(delivery);
  return (
    <div>
      <Group gap={6} className={classes["badges"]}>
        <StateBadge delivery={delivery} />
      </Group>
      {outcome !== "" && (
        <Text size="xs" c="dimmed" mt={4}>
          {outcome}
        </Text>
      )}
      {state === "retrying" && pending !== null && nextAttemptAt !== null && (
        <Text size="xs" c="dimmed" title={format.exact(nextAttemptAt)}>
          {describeDue(nextAttemptAt)}
        </Text>
      )}
    </div>
  );
}

export function StateBadge({ delivery, size = "md" }: { delivery: AppDelivery; size?: BadgeProps["size"] }) {
  const { state, pending } = delivery;
  return (
    <>
      <Badge size={size} color={STATE_COLORS[state]}>
        {STATE_NAMES[state]}
      </Badge>
      {pending === "manual" && <Badge size={size}>Redelivering</Badge>}
    </>
  );
}
