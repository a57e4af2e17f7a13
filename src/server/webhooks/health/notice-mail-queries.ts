import { sql } from "kysely";
import type { MemberRole } from "#contract/app/role.ts";
import type { NoticeKind } from "#contract/delivery.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
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

/** Across organizations. A notice that was taken is not taken again until its last try is before `triedBefore`. */
export async function takeUnmailed(
  db: Db,
  unmailed: { now: Date; createdSince: Date; triedBefore: Date; limit: number },
): Promise<UnmailedNotice[]> {
  const { rows } = await sql<UnmailedNotice>`
    with taken as (
      select organization_id, id from endpoint_notices
      where mailed_at is null and created_at >= ${unmailed.createdSince}
        and (mail_tried_at is null or mail_tried_at < ${unmailed.triedBefore})
      order by created_at limit ${unmailed.limit} for update skip locked
    )
    update endpoint_notices notice set mail_tried_at = ${unmailed.now}
    from taken
    join organizations organization on organization.id = taken.organization_id, endpoints endpoint
    where notice.organization_id = taken.organization_id and notice.id = taken.id
      and endpoint.organization_id = notice.organization_id and endpoint.id = notice.endpoint_id
    returning notice.organization_id, organization.name as organization_name, notice.id, notice.endpoint_id,
      endpoint.description, endpoint.url, notice.kind, notice.detail`.execute(db);
  return rows;
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
