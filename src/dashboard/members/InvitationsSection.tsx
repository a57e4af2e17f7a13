import { Text } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { InvitationShape } from "#contract/app/account.ts";
import { INVITATION_DAYS } from "#contract/limits.ts";
import { call } from "../api/call.ts";
import { invitationsQuery } from "../api/queries.ts";
import { formatRelative } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmAction } from "../ui/forms/ConfirmAction.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { BUTTONS, type Column, ListTable } from "../ui/tables/ListTable.tsx";
import { ROLE_NAMES } from "./role-words.ts";

export function InvitationsSection() {
  const { id, can, format } = useOrganization();
  const invitations = useQuery(invitationsQuery(id));
  const [revoked, setRevoked] = useState<InvitationShape | null>(null);
  const columns: Column<InvitationShape>[] = [
    {
      header: "Email address",
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
      header: "Expires",
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
          aria-label={`Revoke invitation for ${row.email}`}
          onClick={() => setRevoked(row)}
        >
          Revoke
        </ActionButton>
      ),
    },
  ];
  return (
    <Section title="Pending invitations" isFlush>
      <Loaded query={invitations} rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon={IconMail} title="No pending invitations">
              Invited people get a link that expires after {INVITATION_DAYS} days.
            </EmptyState>
          ) : (
            <ListTable label="Pending invitations" columns={columns} rows={data} rowKey={(row) => row.id} />
          )
        }
      </Loaded>
      <RevokeDialog invitation={revoked} onClose={() => setRevoked(null)} />
    </Section>
  );
}

function RevokeDialog({ invitation, onClose }: { invitation: InvitationShape | null; onClose: () => void }) {
  const { id } = useOrganization();
  return (
    <ConfirmAction
      subject={invitation}
      title="Revoke invitation?"
      confirmLabel="Revoke invitation"
      action={{
        run: (revoked) => call("revokeInvitation", { organization: id, params: { id: revoked.id } }),
        refreshes: [invitationsQuery(id).queryKey],
        successMessage: (_, { email }) => `Invitation for ${email} revoked`,
      }}
      onClose={onClose}
    >
      The invitation link for {invitation?.email} will stop working immediately.
    </ConfirmAction>
  );
}
