import { Badge, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { AppConnection } from "#contract/app/connections.ts";
import { formatCount } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyId } from "../ui/copy/CopyField.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { BUTTONS, type Column, Lines, ListTable, When } from "../ui/tables/ListTable.tsx";
import { ConnectionDialog } from "./ConnectionDialog.tsx";
import classes from "./ConnectionTable.module.css";
import { describeLastError, wordsOf } from "./connection-words.ts";
import { DeleteConnectionDialog } from "./DeleteConnectionDialog.tsx";
import { TestConnectionDialog } from "./TestConnectionDialog.tsx";

type Opened = { id: string; what: "test" | "edit" | "delete" };

export function ConnectionTable({ connections }: { connections: readonly AppConnection[] }) {
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
      cell: ({ name, kind, id }) => <Lines first={name} weight={600} second={<System {...{ name, kind, id }} />} />,
    },
    { header: "Health", cell: (row) => <HealthCell connection={row} /> },
    { header: "Last success", cell: (row) => <When at={row.lastOkAt} never="Never" /> },
    { header: "Widgets", isNumeric: true, cell: (row) => formatCount(row.widgetCount) },
    {
      ...BUTTONS,
      cell: (row) => <ButtonsCell connection={row} onOpen={(what) => setOpened({ id: row.id, what })} />,
    },
  ];
  return (
    <>
      <ListTable label="Connections" columns={columns} rows={connections} rowKey={(row) => row.id} />
      <TestConnectionDialog connection={openedFor("test")} onClose={close} />
      <ConnectionDialog connection={openedFor("edit")} isOpen={openedFor("edit") !== null} onClose={close} />
      <DeleteConnectionDialog connection={openedFor("delete")} onClose={close} />
    </>
  );
}

const BUTTONS_OF_ROW = [
  { what: "test", call: "checkConnection", label: "Test" },
  { what: "edit", call: "changeConnection", label: "Edit" },
  { what: "delete", call: "removeConnection", label: "Delete" },
] as const;

type ButtonsCellProps = { connection: AppConnection; onOpen: (what: Opened["what"]) => void };

function ButtonsCell({ connection, onOpen }: ButtonsCellProps) {
  const { can } = useOrganization();
  return (
    <Group gap={6} wrap="nowrap" className={classes["actions"]}>
      {BUTTONS_OF_ROW.map(({ what, call, label }) => (
        <ActionButton
          key={what}
          size="xs"
          variant="default"
          verdict={can(call)}
          aria-label={`${label} ${connection.name}`}
          onClick={() => onOpen(what)}
        >
          {label}
        </ActionButton>
      ))}
    </Group>
  );
}

function System({ id, kind, name }: Pick<AppConnection, "id" | "kind" | "name">) {
  return (
    <>
      {wordsOf(kind).name}
      <div className={classes["id"]}>
        <CopyId value={id} label={`Copy ID of ${name}`} />
      </div>
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
