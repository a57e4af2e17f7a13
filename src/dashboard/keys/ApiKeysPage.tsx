import { Anchor, Badge, Group, Text } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AppKey } from "#contract/app/keys.ts";
import { call } from "../api/call.ts";
import { keysQuery } from "../api/queries.ts";
import { can as canAs } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmAction } from "../ui/forms/ConfirmDialog.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { BUTTONS, type Column, Lines, ListTable, When } from "../ui/tables/ListTable.tsx";
import { CreateKeyDialog } from "./CreateKeyDialog.tsx";

export function ApiKeysPage() {
  const { id, can, plan } = useOrganization();
  const verdict = can("listKeys");
  const keys = useQuery({ ...keysQuery(id), enabled: verdict.isAllowed });
  const [isCreating, setCreating] = useState(false);
  const createButton = (
    <ActionButton
      verdict={can("createKey")}
      leftSection={<IconPlus size={18} stroke={1.6} />}
      onClick={() => setCreating(true)}
    >
      Create key
    </ActionButton>
  );
  const hasSome = keys.data !== undefined && keys.data.data.length > 0;
  return (
    <Page title="API keys" description={<Description />} actions={hasSome && createButton}>
      <LockedFeature verdict={verdict} title="You don’t have access to API keys" />
      {verdict.isAllowed && (
        <>
          <LockedFeature
            verdict={canAs({ role: "owner", plan }, "createKey")}
            title="Your plan doesn’t include the read API"
          >
            Your keys don’t work on this plan. You can still revoke them.
          </LockedFeature>
          <StaleNotice query={keys} />
          <Section
            title="Keys"
            description="Use a separate key for each application, so you can revoke one without affecting the others."
            isFlush
          >
            <Loaded query={keys} rows={3}>
              {({ data }) =>
                data.length > 0 ? (
                  <KeyTable keys={data} />
                ) : (
                  <EmptyState icon={IconKey} title="No API keys yet" action={createButton}>
                    You choose what each key can read, and from where.
                  </EmptyState>
                )
              }
            </Loaded>
          </Section>
        </>
      )}
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}

function Description() {
  return (
    <>
      Keys let your software read widgets, bookings and analytics through the{" "}
      <Anchor href="/docs/read-api" target="_blank" underline="always" inherit>
        read API
      </Anchor>
      .
    </>
  );
}

function KeyTable({ keys }: { keys: readonly AppKey[] }) {
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
