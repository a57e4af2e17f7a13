// Roles in an organization. Each role includes the rights of those after it.

export const ROLES_OF_MEMBERS = ["owner", "admin", "member", "viewer"] as const;
export type MemberRole = (typeof ROLES_OF_MEMBERS)[number];

export function roleIncludes(role: MemberRole, needed: MemberRole): boolean {
  return ROLES_OF_MEMBERS.indexOf(role) <= ROLES_OF_MEMBERS.indexOf(needed);
}
