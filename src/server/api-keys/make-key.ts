import { API_KEY_ID, type ApiKeyId, type OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { type Random, randomId } from "../lib/random.ts";
import { insertApiKey } from "./queries.ts";
import { hashApiKey, makeApiKey, toDisplayParts } from "./token.ts";

/** The key itself is returned this once; the database keeps its hash. */
export async function makeKey(
  deps: { db: Db; random: Random },
  owner: OrganizationId,
  about: { id?: ApiKeyId; name: string; createdBy: string | null; expiresAt: Date | null; now: Date },
): Promise<{ id: ApiKeyId; key: string }> {
  const key = makeApiKey(deps.random);
  const shown = toDisplayParts(key);
  const id = about.id ?? randomId<ApiKeyId>(deps.random, API_KEY_ID);
  await insertApiKey(deps.db, {
    id,
    organization_id: owner,
    name: about.name,
    key_hash: hashApiKey(key),
    first_characters: shown.first,
    last_characters: shown.last,
    created_by: about.createdBy,
    created_at: about.now,
    last_used_at: null,
    expires_at: about.expiresAt,
    revoked_at: null,
  });
  return { id, key };
}
