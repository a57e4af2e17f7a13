import { Badge, Group, Text, ThemeIcon } from "@mantine/core";
import { useState } from "react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { formatCount } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { BUTTONS, Clipped, type Column, ListTable, When } from "../ui/tables/ListTable.tsx";
import classes from "./EndpointTable.module.css";
import { CONDITION_COLORS, CONDITION_NAMES, KINDS, nameOf, onlyWhileOn } from "./endpoint-words.ts";
import { TestDialog } from "./TestDialog.tsx";

export function EndpointTable({ endpoints }: { endpoints: readonly AppEndpoint[] }) {
  const { can } = useOrganization();
  const [tested, setTested] = useState<AppEndpoint | null>(null);
  const columns: Column<AppEndpoint>[] = [
    { header: "Endpoint", isBare: true, width: "34%", cell: (row) => <EndpointName endpoint={row} /> },
    { header: "Health", width: "28%", cell: (row) => <HealthCell endpoint={row} /> },
    { header: "Last 24 hours", isNumeric: true, cell: (row) => <LastDayCell endpoint={row} /> },
    {
      header: "Last delivered",
      isNumeric: true,
      cell: ({ health: { lastSuccessAt } }) => <When at={lastSuccessAt} never="Never" />,
    },
    {
      ...BUTTONS,
      cell: (row) => (
        <ActionButton
          size="xs"
          variant="default"
          verdict={onlyWhileOn(can("testEndpoint"), row)}
          aria-label={`Send test to ${nameOf(row)}`}
          onClick={() => setTested(row)}
        >
          Send test
        </ActionButton>
      ),
    },
  ];
  return (
    <>
      <ListTable hasRowLinks label="Endpoints" columns={columns} rows={endpoints} rowKey={(row) => row.id} />
      <TestDialog endpoint={tested} onClose={() => setTested(null)} />
    </>
  );
}

function EndpointName({ endpoint }: { endpoint: AppEndpoint }) {
  const { paths } = useOrganization();
  const { name, icon: Icon } = KINDS[endpoint.kind];
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <ThemeIcon variant="light" color="gray" size={36} radius="md" title={name}>
        <Icon size={20} stroke={1.6} aria-label={name} />
      </ThemeIcon>
      <div className={classes["texts"]}>
        <TextLink to={paths.endpoint(endpoint.id)} size="sm" fw={600}>
          {nameOf(endpoint)}
        </TextLink>
        <Text size="xs" c="dimmed" ff="monospace" component="div">
          <Clipped whole={endpoint.url} />
        </Text>
      </div>
    </Group>
  );
}

function HealthCell({ endpoint }: { endpoint: AppEndpoint }) {
  const { health, notices } = endpoint;
  const [latest] = notices;
  const isUnhealthy = health.condition === "failing" || health.condition === "disabled";
  return (
    <div>
      <Group gap={6} className={classes["health"]}>
        <Badge color={CONDITION_COLORS[health.condition]}>{CONDITION_NAMES[health.condition]}</Badge>
        {health.failingSince !== null && (
          <Text size="xs" c="dimmed">
            first failure <When at={health.failingSince} />
          </Text>
        )}
      </Group>
      {isUnhealthy && latest && (
        <Text size="xs" c="dimmed" mt={4}>
          {latest.detail}
        </Text>
      )}
    </div>
  );
}

function LastDayCell({ endpoint }: { endpoint: AppEndpoint }) {
  const { delivered, failed } = endpoint.health.lastDay;
  return (
    <div>
      <Text size="sm">{formatCount(delivered)} delivered</Text>
      <Text size="xs" c={failed > 0 ? "var(--mantine-color-error)" : "dimmed"}>
        {formatCount(failed)} failed
      </Text>
    </div>
  );
}
