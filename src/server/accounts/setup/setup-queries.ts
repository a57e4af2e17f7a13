import type { Db } from "../../db/pool.ts";

// Not scoped to an organization: setup happens before the first one exists.

export async function insertSetupLink(db: Db, row: { token_hash: Buffer; created_at: Date }): Promise<void> {
  await db.insertInto("setup_links").values(row).execute();
}

export async function hasSetupLink(db: Db, tokenHash: Buffer): Promise<boolean> {
  const link = db.selectFrom("setup_links").select("created_at").where("token_hash", "=", tokenHash);
  return (await link.executeTakeFirst()) !== undefined;
}

/** False if someone else was first: this waits for their transaction, and then finds nothing to delete. */
export async function takeSetupLinks(db: Db): Promise<boolean> {
  const gone = await db.deleteFrom("setup_links").returning("created_at").execute();
  return gone.length > 0;
}
