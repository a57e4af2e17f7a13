import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";

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
