import { Select, Tooltip } from "@mantine/core";
import { type MemberRole, ROLES_OF_MEMBERS } from "#contract/app/role.ts";
import type { Verdict } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ROLE_NAMES } from "./role-words.ts";

type RoleSelectProps = {
  label: string;
  value: MemberRole;
  verdict: Verdict;
  onChoose: (role: MemberRole) => void;
};

/** Shows a member's role. Choosing another only asks for confirmation. */
export function RoleSelect({ label, value, verdict, onChoose }: RoleSelectProps) {
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
