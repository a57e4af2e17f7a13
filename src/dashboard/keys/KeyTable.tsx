import { Badge, Group, Text } from "@mantine/core";
import { useState } from "react";
import type { AppKey } from "#contract/app/keys.ts";
import { call } from "../api/call.ts";
import { keysQuery } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmAction } from "../ui/forms/ConfirmAction.tsx";
import { BUTTONS, type Column, Lines, ListTable, When } from "../ui/tables/ListTable.tsx";

export function KeyTable({ keys }: { keys: readonly AppKey[] }) {
  const { id, can, format } = useOrganization();
  const [revoked, setRevoked] = useState<AppKey | null>(null);
  const columns: Column<AppKey>[] = [
    { header: "Name", isBare: true, cell: (row) => <NameCell row={row} /> },
    {
      header: "Scopes",
      cell: ({ scopes, networks }) => (
        <Lines first={scopes.join(", ")} second={networks.length > 0 && `Only from ${networks.join(", ")}`} />
      ),
    },
    {
      header: "Created",
      cell: (row) => <Lines first={format.date(row.createdAt)} second={row.createdBy ?? "Command line"} />,
    },
    { header: "Last used", cell: (row) => <When at={row.lastUsedAt} never="Never" /> },
    { header: "Expires", cell: (row) => <ExpiryCell row={row} /> },
    {
      ...BUTTONS,
      cell: (row) =>
        row.condition === "active" && (
          <ActionButton
            size="xs"
            variant="default"
            verdict={can("revokeKey")}
            aria-label={`Revoke ${row.name}`}
            onClick={() => setRevoked(row)}
          >
            Revoke
          </ActionButton>
        ),
    },
  ];
  return (
    <>
      <ListTable label="API keys" columns={columns} rows={[...keys].sort(byUse)} rowKey={(row) => row.id} />
      <ConfirmAction
        subject={revoked}
        title={`Revoke ${revoked?.name ?? ""}?`}
        confirmLabel="Revoke key"
        action={{
          run: (key) => call("revokeKey", { organization: id, params: { key: key.id } }),
          refreshes: [keysQuery(id).queryKey],
          successMessage: (_, { name }) => `API key ${name} revoked`,
        }}
        onClose={() => setRevoked(null)}
      >
        Applications that use this key will lose access immediately. This can’t be undone.
      </ConfirmAction>
    </>
  );
}

/** Active keys first. */
function byUse(a: AppKey, b: AppKey): number {
  return Number(b.condition === "active") - Number(a.condition === "active");
}

function NameCell({ row }: { row: AppKey }) {
  return (
    <>
      <Group gap="xs">
        <Text size="sm" fw={600} c={row.condition === "active" ? "inherit" : "dimmed"}>
          {row.name}
        </Text>
        {row.condition === "revoked" && <Badge color="gray">Revoked</Badge>}
        {row.condition === "expired" && <Badge color="yellow">Expired</Badge>}
      </Group>
      <Text size="xs" c="dimmed" ff="monospace">
        svc_live_{row.firstCharacters}…{row.lastCharacters}
      </Text>
    </>
  );
}

function ExpiryCell({ row }: { row: AppKey }) {
  const { format } = useOrganization();
  const at = row.revokedAt ?? row.expiresAt;
  if (at === null) return "Never";
  return (
    <span title={format.exact(at)}>
      {row.revokedAt !== null && "Revoked "}
      {format.date(at)}
    </span>
  );
}
