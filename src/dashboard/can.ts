import { type MemberRole, roleIncludes } from "#contract/app/role.ts";
import { ACCOUNT_ROUTES, APP_ROUTES, type AppRoute, type AppRouteName } from "#contract/app/routes.ts";
import { type Feature, PLAN_TERMS, PLANS, type Plan, planIncludes } from "#contract/plans.ts";

const { changeOrganization, saveLogo, deleteOrganization, listMembers, changeMember, invite, listAuditEntries } =
  ACCOUNT_ROUTES;

/** Actions on the organization and its members, and actions that are not a route by themselves. */
const OTHER_ACTIONS = {
  changeOrganization,
  saveLogo,
  deleteOrganization,
  listMembers,
  changeMember,
  changeOwner: { role: "owner" },
  invite,
  readAudit: listAuditEntries,
  seeCustomers: { role: "member" },
  /** Everything about an endpoint but turning it off, which any plan may. */
  editEndpoint: { role: "admin", feature: "webhooks" },
} as const satisfies Record<string, Pick<AppRoute, "role" | "feature">>;

export type Action = AppRouteName | keyof typeof OTHER_ACTIONS;
export type Verdict =
  | { readonly isAllowed: true }
  /** `plan`: the smallest plan that includes the action, if the plan is what forbids it. */
  | { readonly isAllowed: false; readonly reason: string; readonly plan?: Plan };

export const ALLOWED: Verdict = { isAllowed: true };

/** Whether a member may do something and, if not, a sentence that says why. The server enforces the same tables. */
export function can(member: { role: MemberRole; plan: Plan }, action: Action): Verdict {
  const needed: Pick<AppRoute, "role" | "feature"> = { ...APP_ROUTES, ...OTHER_ACTIONS }[action];
  if (!roleIncludes(member.role, needed.role)) return { isAllowed: false, reason: ROLE_REASONS[needed.role] };
  if (needed.feature && !planIncludes(member.plan, needed.feature))
    return { isAllowed: false, reason: describePlanLimit(needed.feature), plan: smallestPlanWith(needed.feature) };
  return ALLOWED;
}

const ROLE_REASONS: Record<MemberRole, string> = {
  owner: "Only owners can do this.",
  admin: "Only admins and owners can do this.",
  member: "Viewers can’t do this. Ask an admin to change your role to member.",
  viewer: "Only members of this organization can do this.",
};

function smallestPlanWith(feature: Feature): Plan {
  return PLANS.find((plan) => planIncludes(plan, feature)) ?? "business";
}

/** "Available on the Pro and Business plans." */
export function describePlanLimit(feature: Feature): string {
  const names = PLANS.filter((plan) => planIncludes(plan, feature)).map((plan) => PLAN_TERMS[plan].name);
  return `Available on the ${names.join(" and ")} ${names.length > 1 ? "plans" : "plan"}.`;
}
