import type { Selectable } from "kysely";
import type { OrganizationId, ReportLinkId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { AccountTables } from "../../db/tables/account-tables.ts";

export type ReportLinkRow = Selectable<AccountTables["report_links"]>;

/** Newest first. */
export async function listReportLinks(db: Db, owner: OrganizationId): Promise<ReportLinkRow[]> {
  return await db
    .selectFrom("report_links")
    .select(["organization_id", "id", "name", "query", "token", "created_by", "created_at"])
    .where("organization_id", "=", owner)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

export async function insertReportLink(db: Db, row: ReportLinkRow): Promise<void> {
  await db.insertInto("report_links").values(row).execute();
}

/** Its name; null if there is none with this id. */
export async function deleteReportLink(db: Db, owner: OrganizationId, id: ReportLinkId): Promise<string | null> {
  const gone = db.deleteFrom("report_links").where("organization_id", "=", owner).where("id", "=", id);
  return (await gone.returning("name").executeTakeFirst())?.name ?? null;
}

type Shared = {
  owner: OrganizationId;
  organizationName: string;
  plan: Plan;
  timeZone: string | null;
  name: string;
  query: string;
};

/** Searches all organizations, because the token itself leads to its organization. */
export async function findShared(db: Db, token: string): Promise<Shared | null> {
  const shared = db
    .selectFrom("report_links as link")
    .innerJoin("organizations", "organizations.id", "link.organization_id")
    .select(["link.organization_id as owner", "organizations.name as organizationName", "plan"])
    .select(["time_zone as timeZone", "link.name", "link.query"])
    .where("token", "=", token);
  return (await shared.executeTakeFirst()) ?? null;
}
