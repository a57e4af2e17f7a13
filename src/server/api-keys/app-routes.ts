import type { AppKey, NewKey } from "#contract/app/keys.ts";
import { API_KEY_ID, type ApiKeyId, parseApiKeyId } from "#contract/ids.ts";
import { KEY_NAME_LENGTH_MAX } from "#contract/limits.ts";
import { KEY_SCOPES, KEY_SCOPES_DEFAULT, type KeyScope } from "#contract/scopes.ts";
import type { KeyLimits, Routes } from "../accounts/accounts.ts";
import { auditBy } from "../audit/audit.ts";
import type { Db } from "../db/connections/pool.ts";
import { makeOnce } from "../db/statements/make-once.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import type { Deps } from "../deps.ts";
import { ApiError, FieldsError, notFound } from "../http/errors/api-error.ts";
import { type Checked, checkLine, requireFields } from "../http/errors/check-fields.ts";
import { chooseId } from "../http/idempotency-key.ts";
import { sliceList } from "../http/paging.ts";
import { assert } from "../lib/assert.ts";
import { countLocked, describeCap, lockForCount } from "../organizations/organizations.ts";
import { type ApiKeyRow, listApiKeys, revokeOwnKey } from "./app-queries.ts";
import { describeKey, makeKey, parseExpiry } from "./make-key.ts";
import { isWithinNetworks } from "./networks.ts";

export function keyAppRoutes(routes: Routes, deps: Pick<Deps, "db" | "clock" | "random" | "config">): void {
  routes.add("listKeys", async ({ member, query }) => {
    const rows = await listApiKeys(deps.db, member.organizationId);
    const now = deps.clock.now();
    return sliceList(
      query,
      rows.map((row) => toAppKey(row, now)),
    );
  });

  routes.add("createKey", async ({ member, body, request }) => {
    const owner = member.organizationId;
    const now = deps.clock.now();
    const checked = checkNewKey(body, now);
    requireNoMore(member.key, checked);
    const id = chooseId<ApiKeyId>(deps, request, { owner, form: API_KEY_ID });
    const make = async (transaction: Db) => {
      const newKey = { ...checked, id, createdBy: member.isOperator ? null : member.email, now };
      await lockForCount(transaction, owner);
      const { key } = await makeKey({ db: transaction, random: deps.random }, owner, newKey);
      const most = deps.config.maxApiKeys;
      if (!member.isOperator && (await countLocked(transaction, owner, "api_keys")) > most)
        throw new ApiError("conflict", describeCap("api_keys", most));
      await auditBy(deps, member, now)(transaction, { action: "api_key.created", target: id, ...describeKey(checked) });
      return { key };
    };
    const made = await makeOnce(() => inTransaction(deps.db, make));
    if (made === null) throw new ApiError("conflict", ALREADY_CREATED);
    const row = (await listApiKeys(deps.db, owner)).find((each) => each.id === id);
    assert(row, "the key was just created");
    return { ...toAppKey(row, now), key: made.key };
  });

  routes.add("revokeKey", async ({ member, params }) => {
    const id = parseApiKeyId(params.key);
    if (id === null) throw notFound("API key");
    const now = deps.clock.now();
    await inTransaction(deps.db, async (transaction) => {
      const outcome = await revokeOwnKey(transaction, member.organizationId, { id, now });
      if (outcome.kind === "not_found") throw notFound("API key");
      if (outcome.kind === "revoked")
        await auditBy(deps, member, now)(transaction, { action: "api_key.revoked", target: id, name: outcome.name });
    });
    return null;
  });
}

/** Only the key's hash is stored, so the key can't be shown again. */
const ALREADY_CREATED =
  "Your first attempt already created this key, and a key is shown only once. Revoke it in the list, then create another.";

type CheckedKey = { name: string; scopes: KeyScope[]; networks: string[]; expiresAt: Date | null };

function checkNewKey(typed: NewKey, now: Date): CheckedKey {
  const checked = requireFields({
    name: checkLine(typed.name, { lengthMax: KEY_NAME_LENGTH_MAX }),
    expiresAt: checkExpiry(typed.expiresAt ?? null, now),
  });
  const { scopes = KEY_SCOPES_DEFAULT, networks = [] } = typed;
  return {
    ...checked,
    scopes: KEY_SCOPES.filter((scope) => scopes.includes(scope)),
    networks: [...new Set(networks.map((text) => text.trim()))],
  };
}

function checkExpiry(typed: string | null, now: Date): Checked<Date | null> {
  if (!typed) return { value: null };
  const value = parseExpiry(typed, now);
  return value ? { value } : { fault: "Choose a date in the future." };
}

function toAppKey(row: ApiKeyRow, now: Date): AppKey {
  return {
    id: row.id,
    name: row.name,
    condition: toCondition(row, now),
    scopes: row.scopes,
    networks: row.networks,
    firstCharacters: row.first_characters,
    lastCharacters: row.last_characters,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}

function toCondition(row: ApiKeyRow, now: Date): AppKey["condition"] {
  if (row.revoked_at !== null) return "revoked";
  return row.expires_at !== null && row.expires_at <= now ? "expired" : "active";
}

type Wanted = { scopes: readonly KeyScope[]; networks: readonly string[]; expiresAt: Date | null };

/** A key that creates a key can't give it more than it has: no other scope, no wider network, no longer life. */
function requireNoMore(own: KeyLimits | undefined, wanted: Wanted): void {
  if (own === undefined) return;
  const faults = {
    ...(wanted.scopes.every((scope) => includesScope(own.scopes, scope))
      ? {}
      : { scopes: `Your key can only give the scopes that it has: ${own.scopes.join(", ")}.` }),
    ...(isWithinNetworks(wanted.networks, own.networks)
      ? {}
      : { networks: `Your key can only be used from ${own.networks.join(", ")}, and so can the keys it creates.` }),
    ...(own.expiresAt === null || (wanted.expiresAt !== null && wanted.expiresAt <= own.expiresAt)
      ? {}
      : { expiresAt: `Your key expires at ${own.expiresAt.toISOString()}. The new key must expire by then.` }),
  };
  if (Object.keys(faults).length > 0) throw new FieldsError(faults);
}

/** A key that reads whole bookings can also read anonymous ones. */
function includesScope(scopes: readonly KeyScope[], scope: KeyScope): boolean {
  return scopes.includes(scope) || (scope === "bookings.anonymous" && scopes.includes("bookings"));
}
