import { ORGANIZATION_ID, type OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Deps } from "../../deps.ts";
import { randomId } from "../../lib/secrets/random.ts";
import { insertOrganization } from "../../organizations/organizations.ts";
import { insertMember } from "../queries.ts";

/** Creates an organization with its owner, in the caller's transaction. Without a plan, it gets the default one. */
export async function createOrganization(
  deps: Pick<Deps, "db" | "clock" | "random" | "config">,
  organization: {
    id?: OrganizationId;
    name: string;
    timeZone: string;
    plan?: Plan | undefined;
    owner: { userId: string; email: string };
  },
): Promise<OrganizationId> {
  const { db } = deps;
  const now = deps.clock.now();
  const id = organization.id ?? randomId<OrganizationId>(deps.random, ORGANIZATION_ID);
  const plan = organization.plan ?? deps.config.defaultPlan;
  await insertOrganization(db, {
    id,
    name: organization.name,
    plan,
    time_zone: organization.timeZone,
    created_at: now,
  });
  const member = { organization_id: id, user_id: organization.owner.userId, role: "owner" as const, created_at: now };
  await insertMember(db, { ...member, last_used_at: now });
  const audit = auditBy(deps, { ...organization.owner, organizationId: id }, now);
  await audit(db, { action: "organization.created", target: id, name: organization.name, detail: { plan } });
  return id;
}
