import { API_KEY_ID, type ApiKeyId, type OrganizationId } from "#contract/ids.ts";
import type { KeyScope } from "#contract/scopes.ts";
import type { Db } from "../db/connections/pool.ts";
import { type Random, randomId } from "../lib/secrets/random.ts";
import { parseIsoInstant } from "../lib/time/iso-instant.ts";
import { insertApiKey } from "./queries.ts";
import { hashApiKey, makeApiKey, toDisplayParts } from "./token.ts";

const LAST_YEAR = 9999;

/** Returns the key, which can't be read again: the database keeps only its hash. */
export async function makeKey(
  deps: { db: Db; random: Random },
  owner: OrganizationId,
  wanted: {
    id?: ApiKeyId;
    name: string;
    scopes: readonly KeyScope[];
    networks: readonly string[];
    createdBy: string | null;
    expiresAt: Date | null;
    now: Date;
  },
): Promise<{ id: ApiKeyId; key: string }> {
  const { name, scopes, networks, createdBy, expiresAt, now } = wanted;
  // Before the id: the demo derives its random bytes, and the first of them are its key (demo/credentials.ts).
  const key = makeApiKey(deps.random);
  const id = wanted.id ?? randomId<ApiKeyId>(deps.random, API_KEY_ID);
  const shown = toDisplayParts(key);
  await insertApiKey(deps.db, {
    id,
    organization_id: owner,
    name,
    scopes: [...scopes],
    networks: [...networks],
    key_hash: hashApiKey(key),
    first_characters: shown.first,
    last_characters: shown.last,
    created_by: createdBy,
    created_at: now,
    expires_at: expiresAt,
    revoked_at: null,
  });
  return { id, key };
}

/** Null if it is not a date in the future. A year after 9999 would not fit into our timestamps. */
export function parseExpiry(text: string, now: Date): Date | null {
  const expiresAt = parseIsoInstant(text, "up");
  return expiresAt && expiresAt > now && expiresAt.getUTCFullYear() <= LAST_YEAR ? expiresAt : null;
}

export function describeKey({
  name,
  scopes,
  networks,
}: {
  name: string;
  scopes: readonly KeyScope[];
  networks: readonly string[];
}) {
  const limits = networks.length > 0 ? { networks: networks.join(", ") } : {};
  return { name, detail: { scopes: scopes.join(", "), ...limits } };
}
