import type { OrganizationShape } from "#contract/app/account.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { describeRetention, PLAN_TERMS } from "#contract/plans.ts";
import { auditBy, describeChanges } from "../audit/audit.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import type { Deps } from "../deps.ts";
import { FieldsError } from "../http/errors/api-error.ts";
import { checkName, checkTimeZone, requireFields } from "../http/errors/check-fields.ts";
import { requireUnchanged } from "../http/require-unchanged.ts";
import { assert } from "../lib/assert.ts";
import {
  findLogoTime,
  findOrganization,
  lockOrganization,
  removeOrganization,
  toKeptSince,
  updateOrganization,
} from "../organizations/organizations.ts";
import type { Routes } from "./auth/route-table.ts";

type OrganizationDeps = Pick<Deps, "db" | "longRunningDb" | "clock" | "random" | "log">;

/** The organization's settings. Behind the member guard. Only the operator can change its plan. */
export function organizationRoutes(routes: Routes, deps: OrganizationDeps): void {
  routes.add("getOrganization", async ({ member }) => {
    return await readOrganization(deps, member.organizationId);
  });

  routes.add("changeOrganization", async ({ member, body }) => {
    const { name, timeZone } = body;
    const checked = requireFields({
      ...(name === undefined ? {} : { name: checkName(name) }),
      ...(timeZone === undefined ? {} : { timeZone: checkTimeZone(timeZone) }),
    });
    const change = {
      ...(checked.name === undefined ? {} : { name: checked.name }),
      ...(checked.timeZone === undefined ? {} : { time_zone: checked.timeZone }),
    };
    if (Object.keys(checked).length === 0) return await readOrganization(deps, member.organizationId);
    await inTransaction(deps.db, async (db) => {
      const before = await lockOrganization(db, member.organizationId);
      assert(before, "a member's organization exists");
      requireUnchanged({ name: before.name, timeZone: before.time_zone ?? "UTC" }, body);
      await updateOrganization(db, member.organizationId, change);
      await auditBy(
        deps,
        member,
        deps.clock.now(),
      )(db, {
        action: "organization.changed",
        target: member.organizationId,
        name: change.name ?? before.name,
        formerName: before.name,
        detail: describeChanges({ timeZone: before.time_zone }, checked),
      });
    });
    return await readOrganization(deps, member.organizationId);
  });

  deletionRoute(routes, deps);
}

/** Owners only. The name is typed as confirmation. */
function deletionRoute(routes: Routes, deps: OrganizationDeps): void {
  routes.add("deleteOrganization", async ({ member, body }) => {
    const { organizationId: id, email } = member;
    const organization = await findOrganization(deps.db, id);
    assert(organization, "a member's organization exists");
    if (body.name.trim() !== organization.name) throw new FieldsError({ name: "This is not the organization's name." });
    await removeOrganization({ ...deps, db: deps.longRunningDb }, { id, name: organization.name, deletedBy: email });
    return null;
  });
}

async function readOrganization(deps: Pick<Deps, "db" | "clock">, id: OrganizationId): Promise<OrganizationShape> {
  const row = await findOrganization(deps.db, id);
  assert(row, "a member's organization exists");
  const terms = PLAN_TERMS[row.plan];
  const logoAt = await findLogoTime(deps.db, id);
  return {
    id: row.id,
    name: row.name,
    timeZone: row.time_zone ?? "UTC",
    createdAt: row.created_at.toISOString(),
    logoUrl: logoAt && `/logos/${row.id}?v=${logoAt.getTime()}`,
    plan: {
      id: row.plan,
      name: terms.name,
      features: [...terms.features],
      retention: describeRetention(terms),
      keptSince: toKeptSince(row.plan, deps.clock.now()).toISOString(),
    },
  };
}
