import type { Selectable } from "kysely";
import type { ApiKeyId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import type { ApiKeysTable } from "../db/tables/tables.ts";

const COLUMNS = [
  "id",
  "name",
  "scopes",
  "networks",
  "first_characters",
  "last_characters",
  "created_by",
  "created_at",
  "expires_at",
  "revoked_at",
] as const;

export type ApiKeyRow = Pick<Selectable<ApiKeysTable>, (typeof COLUMNS)[number]> & { last_used_at: Date | null };

export async function listApiKeys(db: Db, owner: OrganizationId): Promise<ApiKeyRow[]> {
  return await db
    .selectFrom("api_keys")
    .leftJoin("api_key_uses as use", (join) =>
      join.onRef("use.key_id", "=", "api_keys.id").on("use.organization_id", "=", owner),
    )
    .select([...COLUMNS, "use.last_used_at"])
    .where("api_keys.organization_id", "=", owner)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

/** Call it in a transaction: the row lock lets one of two simultaneous requests win. The first revocation time stays. */
export async function revokeOwnKey(
  db: Db,
  owner: OrganizationId,
  { id, now }: { id: ApiKeyId; now: Date },
): Promise<{ kind: "revoked"; name: string } | { kind: "already_revoked" | "not_found" }> {
  const row = await db
    .selectFrom("api_keys")
    .select(["name", "revoked_at"])
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) return { kind: "not_found" };
  if (row.revoked_at !== null) return { kind: "already_revoked" };
  await db
    .updateTable("api_keys")
    .set({ revoked_at: now })
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .execute();
  return { kind: "revoked", name: row.name };
}
