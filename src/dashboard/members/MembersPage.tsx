import { Badge, Select, Tooltip } from "@mantine/core";
import { IconUserPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { MemberShape } from "#contract/app/account.ts";
import { DASHBOARD_ADDRESS } from "#contract/app/addresses.ts";
import { type MemberRole, ROLES_OF_MEMBERS } from "#contract/app/role.ts";
import { call } from "../api/call.ts";
import { meKey, membersQuery } from "../api/queries.ts";
import type { Verdict } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmAction } from "../ui/forms/ConfirmDialog.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { BUTTONS, type Column, Lines, ListTable } from "../ui/tables/ListTable.tsx";
import { InvitationsSection, InviteDialog } from "./InvitationsSection.tsx";
import { ROLE_MEANINGS, ROLE_NAMES } from "./role-words.ts";

export function MembersPage() {
  const { name, can } = useOrganization();
  const [isInviting, setInviting] = useState(false);
  const verdict = can("listMembers");
  return (
    <Page
      title="Members"
      description={`People with access to ${name}.`}
      guide={{ to: "bookings#roles", about: "roles" }}
      actions={
        <ActionButton
          verdict={can("invite")}
          leftSection={<IconUserPlus size={18} stroke={1.6} />}
          onClick={() => setInviting(true)}
        >
          Invite member
        </ActionButton>
      }
    >
      <LockedFeature verdict={verdict} title="You don’t have access to members" />
      {verdict.isAllowed && (
        <>
          <MembersSection />
          <InvitationsSection />
          <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} />
        </>
      )}
    </Page>
  );
}

type Change = { member: MemberShape; role: MemberRole };

export function MembersSection() {
  const { id, name, me, can, format } = useOrganization();
  const members = useQuery(membersQuery(id));
  const [change, setChange] = useState<Change | null>(null);
  const [removed, setRemoved] = useState<MemberShape | null>(null);
  const mayChange = (member: MemberShape) => can(member.role === "owner" ? "changeOwner" : "changeMember");
  const columns: Column<MemberShape>[] = [
    { header: "Name", isBare: true, cell: (row) => <MemberName member={row} isMe={row.userId === me.user.id} /> },
    {
      header: "Two-factor authentication",
      isWideOnly: true,
      cell: (row) => (row.isTwoFactorOn ? <Badge color="green">On</Badge> : <Badge color="gray">Off</Badge>),
    },
    { header: "Joined", isShort: true, isWideOnly: true, cell: (row) => format.date(row.joinedAt) },
    {
      header: "Role",
      width: "10rem",
      cell: (row) => (
        <RoleSelect
          label={`Role of ${row.name}`}
          value={row.role}
          verdict={mayChange(row)}
          onChoose={(role) => setChange({ member: row, role })}
        />
      ),
    },
    {
      ...BUTTONS,
      cell: (row) => (
        <ActionButton
          size="xs"
          variant="default"
          verdict={mayChange(row)}
          aria-label={row.userId === me.user.id ? `Leave ${name}` : `Remove ${row.name}`}
          onClick={() => setRemoved(row)}
        >
          {row.userId === me.user.id ? "Leave" : "Remove"}
        </ActionButton>
      ),
    },
  ];
  return (
    <Section title="All members" isFlush>
      <StaleNotice query={members} />
      <Loaded query={members} rows={3}>
        {({ data }) => (
          <ListTable label="Members" columns={columns} rows={data.toSorted(byRole)} rowKey={(row) => row.userId} />
        )}
      </Loaded>
      <ChangeRoleDialog change={change} onClose={() => setChange(null)} />
      <RemoveDialog member={removed} onClose={() => setRemoved(null)} />
    </Section>
  );
}

function MemberName({ member: { name, email }, isMe }: { member: MemberShape; isMe: boolean }) {
  const mark = isMe && (
    <Badge key="me" color="gray">
      You
    </Badge>
  );
  return <Lines first={[`${name} `, mark]} weight={500} second={email} />;
}

function ChangeRoleDialog({ change, onClose }: { change: Change | null; onClose: () => void }) {
  const { id } = useOrganization();
  return (
    <ConfirmAction
      subject={change}
      title={change ? `Change ${change.member.name}’s role to ${ROLE_NAMES[change.role].toLowerCase()}?` : ""}
      confirmLabel="Change role"
      isDangerous={false}
      action={{
        run: ({ member, role }) =>
          call("changeMember", {
            organization: id,
            params: { userId: member.userId },
            body: { role, was: { role: member.role } },
          }),
        refreshes: [meKey, membersQuery(id).queryKey],
        successMessage: (_, { member, role }) => `${member.name}’s role changed to ${ROLE_NAMES[role].toLowerCase()}`,
      }}
      onClose={onClose}
    >
      {change && ROLE_MEANINGS[change.role]}
    </ConfirmAction>
  );
}

function RemoveDialog({ member, onClose }: { member: MemberShape | null; onClose: () => void }) {
  const { id, name, me } = useOrganization();
  const navigate = useNavigate();
  const isMe = member?.userId === me.user.id;
  return (
    <ConfirmAction
      subject={member}
      title={isMe ? `Leave ${name}?` : `Remove ${member?.name ?? ""}?`}
      confirmLabel={isMe ? "Leave organization" : "Remove member"}
      action={{
        run: ({ userId }) => call("removeMember", { organization: id, params: { userId } }),
        refreshes: [meKey, membersQuery(id).queryKey],
        successMessage: (_, removed) =>
          removed.userId === me.user.id ? `You left ${name}` : `${removed.name} removed`,
        onDone: (_, removed) => {
          if (removed.userId === me.user.id) void navigate({ to: DASHBOARD_ADDRESS, replace: true });
        },
      }}
      onClose={onClose}
    >
      {isMe ? "You’ll" : `${member?.email} will`} lose access to {name} immediately. Past actions stay in the audit log.
    </ConfirmAction>
  );
}

/** Highest role first, then by name. */
function byRole(a: MemberShape, b: MemberShape): number {
  return ROLES_OF_MEMBERS.indexOf(a.role) - ROLES_OF_MEMBERS.indexOf(b.role) || a.name.localeCompare(b.name);
}

type RoleSelectProps = {
  label: string;
  value: MemberRole;
  verdict: Verdict;
  onChoose: (role: MemberRole) => void;
};

/** Shows a member's role. Choosing another only asks for confirmation. */
function RoleSelect({ label, value, verdict, onChoose }: RoleSelectProps) {
  const { can } = useOrganization();
  const mayMakeOwners = can("changeOwner").isAllowed;
  const data = ROLES_OF_MEMBERS.filter((role) => role !== "owner" || mayMakeOwners || value === "owner");
  return (
    <Tooltip label={verdict.isAllowed ? "" : verdict.reason} disabled={verdict.isAllowed}>
      <Select
        aria-label={label}
        size="xs"
        data={data.map((role) => ({ value: role, label: ROLE_NAMES[role] }))}
        value={value}
        readOnly={!verdict.isAllowed}
        allowDeselect={false}
        checkIconPosition="right"
        onChange={(role) => role !== null && role !== value && onChoose(role as MemberRole)}
      />
    </Tooltip>
  );
}
