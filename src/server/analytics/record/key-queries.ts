import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { toStatementGroups } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";

export type OwnedKey = { readonly organizationId: OrganizationId; readonly id: number };

/** Those of the keys that are stored: some visit was recorded with them. */
export async function listStoredKeys(db: Db, keys: readonly OwnedKey[]): Promise<OwnedKey[]> {
  const stored: OwnedKey[] = [];
  for (const { rows, owns } of toStatementGroups(db, keys)) {
    const found = await sql<OwnedKey>`-- prepared: list_stored_keys
      select organization_id as "organizationId", id from funnel_keys
      where ${owns("organization_id")} and (organization_id, id) in (
        select owner, id from unnest(
          ${rows.map(({ organizationId }) => organizationId)}::text[], ${rows.map(({ id }) => id)}::bigint[]
        ) as wanted (owner, id)
      )`.execute(db);
    stored.push(...found.rows);
  }
  return stored;
}
