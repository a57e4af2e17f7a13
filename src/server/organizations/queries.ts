import type { Insertable, Selectable, Updateable } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import type { OrganizationsTable } from "../db/tables/tables.ts";

const COLUMNS = ["id", "name", "plan", "time_zone", "created_at"] as const;

export type OrganizationRow = Pick<Selectable<OrganizationsTable>, (typeof COLUMNS)[number]>;

/** Also creates the row that recording locks. */
export async function insertOrganization(db: Db, row: Insertable<OrganizationsTable>): Promise<void> {
  await db
    .with("made", (cte) => cte.insertInto("organizations").values(row).returning("id"))
    .insertInto("visit_progress")
    .columns(["organization_id"])
    .expression((select) => select.selectFrom("made").select("id as organization_id"))
    .execute();
}

export async function listOrganizations(db: Db): Promise<OrganizationRow[]> {
  return await db.selectFrom("organizations").select(COLUMNS).orderBy("created_at").orderBy("id").execute();
}

export async function findOrganization(db: Db, id: OrganizationId): Promise<OrganizationRow | null> {
  return (await db.selectFrom("organizations").select(COLUMNS).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** Locks the organization until the transaction ends. */
export async function lockOrganization(transaction: Db, id: OrganizationId): Promise<OrganizationRow | null> {
  const row = await transaction
    .selectFrom("organizations")
    .select(COLUMNS)
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function updateOrganization(
  db: Db,
  id: OrganizationId,
  change: Updateable<OrganizationsTable>,
): Promise<OrganizationRow | null> {
  const row = await db
    .updateTable("organizations")
    .set(change)
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export async function findLogo(
  db: Db,
  owner: OrganizationId,
): Promise<{ content_type: string; content: Buffer } | null> {
  const row = await db
    .selectFrom("organization_logos")
    .select(["content_type", "content"])
    .where("organization_id", "=", owner)
    .executeTakeFirst();
  return row ?? null;
}

/** When the logo was last changed; null if there is none. */
export async function findLogoTime(db: Db, owner: OrganizationId): Promise<Date | null> {
  const row = await db
    .selectFrom("organization_logos")
    .select("updated_at")
    .where("organization_id", "=", owner)
    .executeTakeFirst();
  return row?.updated_at ?? null;
}

export async function saveLogo(
  db: Db,
  owner: OrganizationId,
  logo: { contentType: string; content: Buffer; now: Date },
): Promise<void> {
  const row = { content_type: logo.contentType, content: logo.content, updated_at: logo.now };
  await db
    .insertInto("organization_logos")
    .values({ organization_id: owner, ...row })
    .onConflict((conflict) => conflict.column("organization_id").doUpdateSet(row))
    .execute();
}

export async function deleteLogo(db: Db, owner: OrganizationId): Promise<void> {
  await db.deleteFrom("organization_logos").where("organization_id", "=", owner).execute();
}

export type DeletedOrganization = {
  id: OrganizationId;
  name: string;
  deletedAt: Date;
  /** Null: the operator. */
  deletedBy: string | null;
  bookings: number;
  members: number;
};

/** An id can come back: the demo's is fixed, and others follow from an Idempotency-Key. Only its last deletion is kept. */
export async function upsertDeleted(db: Db, row: DeletedOrganization): Promise<void> {
  const { deletedAt, deletedBy, id, ...rest } = row;
  const deletion = { ...rest, deleted_at: deletedAt, deleted_by: deletedBy };
  await db
    .insertInto("deleted_organizations")
    .values({ id, ...deletion })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(deletion))
    .execute();
}

/** Newest first, for the operator. */
export async function listDeleted(db: Db): Promise<DeletedOrganization[]> {
  const rows = await db
    .selectFrom("deleted_organizations")
    .select(["id", "name", "deleted_at", "deleted_by", "bookings", "members"])
    .orderBy("deleted_at", "desc")
    .execute();
  return rows.map(({ deleted_at: deletedAt, deleted_by: deletedBy, ...rest }) => ({ ...rest, deletedAt, deletedBy }));
}
