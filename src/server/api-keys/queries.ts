import { type Insertable, sql } from "kysely";
import type { ApiKeyId, OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { KeyScope } from "#contract/scopes.ts";
import type { Db } from "../db/connections/pool.ts";
import { readAnywhere, table, writeAtHome } from "../db/home.ts";
import { FixedStatement, ofAnyLength } from "../db/statements/run-prepared.ts";
import type { ApiKeysTable } from "../db/tables/tables.ts";

export async function insertApiKey(db: Db, row: Insertable<ApiKeysTable>): Promise<void> {
  await db.insertInto("api_keys").values(row).execute();
}

export type KeyHolder = {
  id: ApiKeyId;
  name: string;
  expiresAt: Date | null;
  organizationId: OrganizationId;
  plan: Plan;
  timeZone: string | null;
  scopes: readonly KeyScope[];
  networks: readonly string[];
};

/**
 * The holder of each key, or null. Not scoped to an organization, because the key identifies it. Plan and revocation are read for every
 * request.
 */
export async function findKeyHolders(db: Db, keyHashes: readonly Buffer[], now: Date): Promise<(KeyHolder | null)[]> {
  return await readAnywhere(db, async (home) => {
    const rows = await keyHolders.run(home, { keyHashes, now });
    const holders = new Map(rows.map(({ position, ...holder }) => [position, holder]));
    return keyHashes.map((_, i) => holders.get(i + 1) ?? null);
  });
}

const keyHolders = new FixedStatement<KeyHolder & { position: number }, { keyHashes: readonly Buffer[]; now: Date }>(
  ({ keyHashes, now }) => sql`-- prepared: find_key_holders
    select position, api_keys.id, api_keys.name, expires_at as "expiresAt", organization_id as "organizationId", plan,
      time_zone as "timeZone", scopes, networks
    from unnest(${ofAnyLength(keyHashes, "bytea[]")}) with ordinality as sought (hash, position)
      join ${table("api_keys")} on api_keys.key_hash = sought.hash
      join ${table("organizations")} on organizations.id = api_keys.organization_id
    where revoked_at is null and (expires_at is null or expires_at > ${now})`,
);

/** Several processes note the same use; the condition lets one of them write it. */
export async function recordKeyUse(
  db: Db,
  owner: OrganizationId,
  use: { id: ApiKeyId; usedAt: Date; unlessUsedAfter: Date },
): Promise<void> {
  await writeAtHome(db, owner, (home) =>
    home
      .insertInto("api_key_uses")
      .values({ organization_id: owner, key_id: use.id, last_used_at: use.usedAt })
      .onConflict((conflict) =>
        conflict
          .columns(["organization_id", "key_id"])
          .doUpdateSet({ last_used_at: use.usedAt })
          .where("api_key_uses.last_used_at", "<=", use.unlessUsedAfter),
      )
      .execute(),
  );
}

/** Across organizations, for the operator's command line. */
export async function findKeyOwner(db: Db, id: ApiKeyId): Promise<OrganizationId | null> {
  const row = await db.selectFrom("api_keys").select("organization_id").where("id", "=", id).executeTakeFirst();
  return row?.organization_id ?? null;
}
