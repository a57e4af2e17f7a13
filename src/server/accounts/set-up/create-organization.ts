import { ORGANIZATION_ID, type OrganizationId } from "#contract/ids.ts";
import { writeAudit } from "../../audit/write-audit.ts";
import type { Deps } from "../../deps.ts";
import { randomId } from "../../lib/random.ts";
import { insertOrganization } from "../../organizations/queries.ts";
import { insertMember } from "../queries.ts";

/** In the caller's transaction: an organization on the default plan, and its owner. */
export async function createOrganization(
  deps: Pick<Deps, "db" | "clock" | "random" | "config">,
  about: { id?: OrganizationId; name: string; timeZone: string; owner: { userId: string; email: string } },
): Promise<OrganizationId> {
  const { db } = deps;
  const now = deps.clock.now();
  const id = about.id ?? randomId<OrganizationId>(deps.random, ORGANIZATION_ID);
  const plan = deps.config.defaultPlan;
  await insertOrganization(db, { id, name: about.name, plan, time_zone: about.timeZone, created_at: now });
  const member = { organization_id: id, user_id: about.owner.userId, role: "owner" as const, created_at: now };
  await insertMember(db, { ...member, last_used_at: now });
  await writeAudit(deps, {
    organizationId: id,
    actor: about.owner,
    action: "organization.created",
    target: id,
    name: about.name,
    detail: { plan },
    at: now,
  });
  return id;
}
