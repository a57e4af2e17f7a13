import { sql } from "kysely";
import type { MemberRole } from "#contract/app/role.ts";
import type { NoticeKind } from "#contract/delivery.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import { table, writeAtHome } from "../../db/home.ts";
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
 * Of a shard group, without notices of removed endpoints. A notice that is taken is not taken again until `triedBefore` has passed it: of two workers that find
 * the same notice, the second one waits for the first and then no longer finds it untried.
 */
export async function takeUnmailed(
  home: Db,
  unmailed: { now: Date; createdSince: Date; triedBefore: Date; limit: number },
): Promise<UnmailedNotice[]> {
  const isUntried = sql`notice.mailed_at is null
    and (notice.mail_tried_at is null or notice.mail_tried_at < ${unmailed.triedBefore})`;
  const { rows } = await sql<UnmailedNotice>`
    update ${table("endpoint_notices", "notice")} set mail_tried_at = ${unmailed.now}
    from (
      select notice.organization_id, notice.id, organization.name as organization_name, endpoint.description, endpoint.url
      from ${table("endpoint_notices", "notice")}
      join ${table("organizations", "organization")} on organization.id = notice.organization_id
      join ${table("endpoints", "endpoint")}
        on endpoint.organization_id = notice.organization_id and endpoint.id = notice.endpoint_id
      where ${isUntried} and notice.created_at >= ${unmailed.createdSince} and endpoint.removed_at is null
      order by notice.created_at limit ${unmailed.limit}
    ) untried
    where notice.organization_id = untried.organization_id and notice.id = untried.id and ${isUntried}
    returning notice.organization_id, untried.organization_name, notice.id, notice.endpoint_id, untried.description, untried.url,
      notice.kind, notice.detail`.execute(home);
  return rows;
}

export async function markMailed(db: Db, owner: OrganizationId, id: string, at: Date): Promise<void> {
  await writeAtHome(db, owner, (home) => {
    const notice = home.updateTable("endpoint_notices").set({ mailed_at: at });
    return notice.where("organization_id", "=", owner).where("id", "=", id).execute();
  });
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
