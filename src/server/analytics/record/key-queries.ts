import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { atHomes, table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";

export type OwnedKey = { readonly organizationId: OrganizationId; readonly id: number };

/** Those of the keys that are stored: some visit was recorded with them. */
export async function listStoredKeys(db: Db, keys: readonly OwnedKey[]): Promise<OwnedKey[]> {
  const found = await atHomes(db, keys, async ({ reader }, rows) => {
    const stored = await sql<OwnedKey>`-- prepared: list_stored_keys
      select organization_id as "organizationId", id from ${table("funnel_keys")}
      where (organization_id, id) in (
        select owner, id from unnest(
          ${rows.map(({ organizationId }) => organizationId)}::text[], ${rows.map(({ id }) => id)}::bigint[]
        ) as wanted (owner, id)
      )`.execute(reader);
    return stored.rows;
  });
  return found.flatMap(({ result }) => result);
}
