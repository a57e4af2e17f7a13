import { type MemberRole, roleIncludes } from "#contract/app/role.ts";
import { ACCOUNT_ROUTES, APP_ROUTES, type AppRoute, type AppRouteName } from "#contract/app/routes.ts";
import { type Feature, PLAN_TERMS, PLANS, type Plan, planIncludes } from "#contract/plans.ts";

const { changeOrganization, listMembers, changeMember, invite, listAuditEntries } = ACCOUNT_ROUTES;

/** What concerns the organization itself and its people, and what is no route of its own. */
const OTHER_ACTIONS = {
  changeOrganization,
  listMembers,
  changeMember,
  changeOwner: { role: "owner" },
  invite,
  readAudit: listAuditEntries,
  seeCustomers: { role: "member" },
} as const satisfies Record<string, Pick<AppRoute, "role" | "feature">>;

export type Action = AppRouteName | keyof typeof OTHER_ACTIONS;
export type Verdict = { readonly isAllowed: true } | { readonly isAllowed: false; readonly reason: string };

export const ALLOWED: Verdict = { isAllowed: true };

/** Whether a member may do a thing; if not, why, in words for them. The server decides by the same tables. */
export function can(member: { role: MemberRole; plan: Plan }, action: Action): Verdict {
  const needed: Pick<AppRoute, "role" | "feature"> = { ...APP_ROUTES, ...OTHER_ACTIONS }[action];
  if (!roleIncludes(member.role, needed.role)) return { isAllowed: false, reason: ROLE_REASONS[needed.role] };
  if (needed.feature && !planIncludes(member.plan, needed.feature))
    return { isAllowed: false, reason: describePlanLimit(needed.feature) };
  return ALLOWED;
}

const ROLE_REASONS: Record<MemberRole, string> = {
  owner: "Only owners of this organization can do this.",
  admin: "Only admins and owners of this organization can do this.",
  member: "Viewers can look, but not do this. Ask an admin for the role of a member.",
  viewer: "Only members of this organization can do this.",
};

/** "This is part of the Pro and Business plans." */
export function describePlanLimit(feature: Feature): string {
  const names = PLANS.filter((plan) => planIncludes(plan, feature)).map((plan) => PLAN_TERMS[plan].name);
  return `This is part of the ${names.join(" and ")} ${names.length > 1 ? "plans" : "plan"}.`;
}
