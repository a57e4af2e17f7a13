import { Radio, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconMail } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { InvitationMail, InvitationShape } from "#contract/app/account.ts";
import { ROLES_OF_MEMBERS } from "#contract/app/role.ts";
import { INVITATION_DAYS } from "#contract/limits.ts";
import { call } from "../api/call.ts";
import { invitationsQuery } from "../api/queries.ts";
import { formatRelative } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { PERSISTENT, ShownOnce } from "../ui/copy/ShownOnce.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { ConfirmAction } from "../ui/forms/ConfirmDialog.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { BUTTONS, type Column, ListTable } from "../ui/tables/ListTable.tsx";
import { ROLE_MEANINGS, ROLE_NAMES } from "./role-words.ts";

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

type Shared = { link: string; intro: string };

/** The link is emailed. If the server sends no emails, or sending fails, it is shown here once for the inviter to share. */
export function InviteDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { name } = useOrganization();
  const [shared, setShared] = useState<Shared | null>(null);
  const close = () => {
    setShared(null);
    onClose();
  };
  return (
    <FormDialog
      opened={isOpen}
      onClose={close}
      title={shared === null ? `Invite someone to ${name}` : "Share this link"}
      {...(shared === null ? {} : PERSISTENT)}
    >
      {shared === null ? (
        <InviteForm onClose={close} onShared={setShared} />
      ) : (
        <ShownOnce
          intro={
            <Text size="sm">
              {shared.intro} The link works once, expires in {INVITATION_DAYS} days, and won’t be shown again.
            </Text>
          }
          label="Invitation link"
          value={shared.link}
          doneLabel="Done"
          onDone={close}
        />
      )}
    </FormDialog>
  );
}

/** Why the link was not emailed. */
const INTROS: Readonly<Record<Exclude<InvitationMail, "sent">, string>> = {
  off: "This server doesn’t send emails, so share the link with the person yourself.",
  too_soon:
    "You emailed this person an invitation a few minutes ago, and its link no longer works. Share the new link yourself.",
  failed: "The email couldn’t be sent, so share the link with the person yourself.",
};

function InviteForm({ onClose, onShared }: { onClose: () => void; onShared: (shared: Shared) => void }) {
  const { id, can } = useOrganization();
  const form = useForm({ initialValues: { email: "", role: "member" } });
  const invite = useAction({
    run: (values: { email: string; role: string }) => call("invite", { organization: id, body: values }),
    form,
    refreshes: [invitationsQuery(id).queryKey],
    successMessage: ({ invitation, mail }) =>
      mail === "sent" ? `Invitation sent to ${invitation.email}` : `Invitation for ${invitation.email} created`,
    onDone: ({ link, mail }) =>
      link === null || mail === "sent" ? onClose() : onShared({ link, intro: INTROS[mail] }),
  });
  const roles = ROLES_OF_MEMBERS.filter((role) => role !== "owner" || can("changeOwner").isAllowed);
  return (
    <ActionForm form={form} action={invite} label="Send invitation" onCancel={onClose}>
      <TextInput
        label="Email address"
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps("email")}
      />
      <Radio.Group label="Role" {...form.getInputProps("role")}>
        <Stack gap="sm" mt="xs">
          {roles.map((role) => (
            <Radio key={role} value={role} label={ROLE_NAMES[role]} description={ROLE_MEANINGS[role]} />
          ))}
        </Stack>
      </Radio.Group>
    </ActionForm>
  );
}
