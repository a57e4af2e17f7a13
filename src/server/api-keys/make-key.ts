import { API_KEY_ID, type ApiKeyId, type OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { type Random, randomId } from "../lib/random.ts";
import { insertApiKey } from "./queries.ts";
import { hashApiKey, makeApiKey, toDisplayParts } from "./token.ts";

/** Returns the key, which can't be read again: the database keeps only its hash. */
export async function makeKey(
  deps: { db: Db; random: Random },
  owner: OrganizationId,
  {
    id = randomId<ApiKeyId>(deps.random, API_KEY_ID),
    name,
    createdBy,
    expiresAt,
    now,
  }: { id?: ApiKeyId; name: string; createdBy: string | null; expiresAt: Date | null; now: Date },
): Promise<{ id: ApiKeyId; key: string }> {
  const key = makeApiKey(deps.random);
  const shown = toDisplayParts(key);
  await insertApiKey(deps.db, {
    id,
    organization_id: owner,
    name,
    key_hash: hashApiKey(key),
    first_characters: shown.first,
    last_characters: shown.last,
    created_by: createdBy,
    created_at: now,
    last_used_at: null,
    expires_at: expiresAt,
    revoked_at: null,
  });
  return { id, key };
}
