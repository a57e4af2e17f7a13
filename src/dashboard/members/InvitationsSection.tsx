import { Text } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { InvitationShape } from "#contract/app/account.ts";
import { call } from "../api/call.ts";
import { invitationsQuery } from "../api/queries.ts";
import { formatRelative } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { BUTTONS, type Column, DataTable } from "../ui/tables/DataTable.tsx";
import { ROLE_NAMES } from "./role-words.ts";

export function InvitationsSection() {
  const { id, can, format } = useOrganization();
  const invitations = useQuery(invitationsQuery(id));
  const [withdrawn, setWithdrawn] = useState<InvitationShape | null>(null);
  const withdraw = useAction({
    run: (invitation: InvitationShape) =>
      call("withdrawInvitation", { organization: id, params: { id: invitation.id } }),
    refreshes: [invitationsQuery(id).queryKey],
    says: (_, { email }) => `The invitation of ${email} is withdrawn.`,
    onDone: () => setWithdrawn(null),
  });
  const columns: Column<InvitationShape>[] = [
    {
      header: "E-mail address",
      isBare: true,
      cell: (row) => (
        <Text size="sm" fw={500}>
          {row.email}
        </Text>
      ),
    },
    { header: "Role", cell: (row) => ROLE_NAMES[row.role] },
    { header: "Invited", isShort: true, isWideOnly: true, cell: (row) => format.date(row.createdAt) },
    {
      header: "Ends",
      isShort: true,
      cell: (row) => <span title={format.exact(row.expiresAt)}>{formatRelative(row.expiresAt)}</span>,
    },
    {
      ...BUTTONS,
      cell: (row) => (
        <ActionButton
          size="xs"
          variant="default"
          verdict={can(row.role === "owner" ? "changeOwner" : "invite")}
          aria-label={`Withdraw the invitation of ${row.email}`}
          onClick={() => setWithdrawn(row)}
        >
          Withdraw
        </ActionButton>
      ),
    },
  ];
  return (
    <Section title="Open invitations" isFlush>
      <Loaded query={invitations} rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon={IconMail} title="Nobody is invited at the moment">
              Whoever you invite gets a link that works for a week.
            </EmptyState>
          ) : (
            <DataTable label="Open invitations" columns={columns} rows={data} rowKey={(row) => row.id} />
          )
        }
      </Loaded>
      <ConfirmDialog
        isOpen={withdrawn !== null}
        title="Withdraw this invitation?"
        confirmLabel="Withdraw"
        isBusy={withdraw.isPending}
        onConfirm={() => withdrawn && withdraw.mutate(withdrawn)}
        onClose={() => setWithdrawn(null)}
      >
        The link of {withdrawn?.email} stops working at once.
      </ConfirmDialog>
    </Section>
  );
}
