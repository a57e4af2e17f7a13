import { sql } from "kysely";
import type { MemberRole } from "#contract/app/role.ts";
import type { NoticeKind } from "#contract/delivery.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import { toStatementGroups } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";

export type UnmailedNotice = {
  organization_id: OrganizationId;
  organization_name: string;
  id: string;
  endpoint_id: EndpointId;
  description: string;
  url: string;
  kind: NoticeKind;
  detail: string;
};

/**
 * Across organizations, without notices of removed endpoints. A notice that is taken is not taken again until `triedBefore` has passed it: of two workers that find
 * the same notice, the second one waits for the first and then no longer finds it untried.
 */
export async function takeUnmailed(
  db: Db,
  unmailed: { now: Date; createdSince: Date; triedBefore: Date; limit: number },
): Promise<UnmailedNotice[]> {
  const isUntried = sql`notice.mailed_at is null
    and (notice.mail_tried_at is null or notice.mail_tried_at < ${unmailed.triedBefore})`;
  const { rows: found } = await sql<{ organizationId: OrganizationId; id: string }>`
    select notice.organization_id as "organizationId", notice.id from endpoint_notices notice
    join endpoints endpoint on endpoint.organization_id = notice.organization_id and endpoint.id = notice.endpoint_id
    where ${isUntried} and notice.created_at >= ${unmailed.createdSince} and endpoint.removed_at is null
    order by notice.created_at limit ${unmailed.limit}`.execute(db);
  const taken: UnmailedNotice[] = [];
  for (const { rows: group, owns } of toStatementGroups(db, found)) {
    const owners = group.map(({ organizationId }) => organizationId);
    const ids = group.map(({ id }) => id);
    const { rows } = await sql<UnmailedNotice>`
      update endpoint_notices notice set mail_tried_at = ${unmailed.now}
      from unnest(${owners}::text[], ${ids}::uuid[]) as untried (organization_id, id), organizations organization,
        endpoints endpoint
      where ${owns("notice.organization_id")} and ${owns("endpoint.organization_id")}
        and notice.organization_id = untried.organization_id and notice.id = untried.id and ${isUntried}
        and organization.id = notice.organization_id
        and endpoint.organization_id = notice.organization_id and endpoint.id = notice.endpoint_id
      returning notice.organization_id, organization.name as organization_name, notice.id, notice.endpoint_id,
        endpoint.description, endpoint.url, notice.kind, notice.detail`.execute(db);
    taken.push(...rows);
  }
  return taken;
}

export async function markMailed(db: Db, owner: OrganizationId, id: string, at: Date): Promise<void> {
  const notice = db.updateTable("endpoint_notices").set({ mailed_at: at });
  await notice.where("organization_id", "=", owner).where("id", "=", id).execute();
}

export async function listAddresses(db: Db, owner: OrganizationId, roles: readonly MemberRole[]): Promise<string[]> {
  const members = db.selectFrom("members").innerJoin("users", "users.id", "members.user_id");
  const rows = await members
    .select("users.email")
    .where("members.organization_id", "=", owner)
    .where("members.role", "in", roles)
    .orderBy("users.email")
    .execute();
  return rows.map(({ email }) => email);
}
