import { Badge, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { AppConnection } from "#contract/app/connections.ts";
import { formatCount } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyId } from "../ui/copy/CopyId.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { BUTTONS, type Column, DataTable } from "../ui/tables/DataTable.tsx";
import { When } from "../ui/tables/When.tsx";
import { ConnectionDialog } from "./ConnectionDialog.tsx";
import classes from "./ConnectionTable.module.css";
import { describeLastError, wordsOf } from "./connection-words.ts";
import { DeleteConnectionDialog } from "./DeleteConnectionDialog.tsx";
import { TestConnectionDialog } from "./TestConnectionDialog.tsx";

type Opened = { id: string; what: "test" | "edit" | "delete" };

export function ConnectionTable({ connections }: { connections: readonly AppConnection[] }) {
  const { can } = useOrganization();
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  // Looked up on each render: someone else may change the connection while a dialog is open.
  const current = connections.find(({ id }) => id === opened?.id) ?? null;
  const openedFor = (what: Opened["what"]) => (opened?.what === what ? current : null);
  const columns: Column<AppConnection>[] = [
    {
      header: "Name",
      isBare: true,
      width: "26%",
      cell: (row) => <NameCell connection={row} />,
    },
    { header: "Health", cell: (row) => <HealthCell connection={row} /> },
    { header: "Last success", cell: (row) => <When at={row.lastOkAt} never="Never" /> },
    { header: "Widgets", isNumeric: true, cell: (row) => formatCount(row.widgetCount) },
    {
      ...BUTTONS,
      cell: (row) => (
        <Group gap={6} wrap="nowrap" className={classes["actions"]}>
          <ActionButton
            size="xs"
            variant="default"
            verdict={can("checkConnection")}
            aria-label={`Test ${row.name}`}
            onClick={() => setOpened({ id: row.id, what: "test" })}
          >
            Test
          </ActionButton>
          <ActionButton
            size="xs"
            variant="default"
            verdict={can("changeConnection")}
            aria-label={`Edit ${row.name}`}
            onClick={() => setOpened({ id: row.id, what: "edit" })}
          >
            Edit
          </ActionButton>
          <ActionButton
            size="xs"
            variant="default"
            verdict={can("removeConnection")}
            aria-label={`Delete ${row.name}`}
            onClick={() => setOpened({ id: row.id, what: "delete" })}
          >
            Delete
          </ActionButton>
        </Group>
      ),
    },
  ];
  return (
    <>
      <DataTable label="Connections" columns={columns} rows={connections} rowKey={(row) => row.id} />
      <TestConnectionDialog connection={openedFor("test")} onClose={close} />
      <ConnectionDialog connection={openedFor("edit")} isOpen={openedFor("edit") !== null} onClose={close} />
      <DeleteConnectionDialog connection={openedFor("delete")} onClose={close} />
    </>
  );
}

function NameCell({ connection: { id, kind, name } }: { connection: AppConnection }) {
  return (
    <>
      <Text size="sm" fw={600}>
        {name}
      </Text>
      <Text size="xs" c="dimmed" component="div">
        {wordsOf(kind).name}
        <CopyId value={id} label={`Copy ID of ${name}`} />
      </Text>
    </>
  );
}

function HealthCell({ connection }: { connection: AppConnection }) {
  const { isHealthy, lastErrorAt, lastErrorRequestId } = connection;
  if (isHealthy) return <Badge color="green">Healthy</Badge>;
  return (
    <div>
      <Group gap={6} className={classes["health"]}>
        <Badge color="red">Not working</Badge>
        <Text size="xs" c="dimmed">
          <When at={lastErrorAt} />
        </Text>
      </Group>
      <Text size="xs" c="dimmed" mt={4}>
        {describeLastError(connection)}
      </Text>
      {lastErrorRequestId !== null && (
        <Text size="xs" c="dimmed">
          Request ID: <code>{lastErrorRequestId}</code>
        </Text>
      )}
    </div>
  );
}
