import type { FastifyInstance } from "fastify";
import { type AppKey, AppKeyList, KEY_NAME_LENGTH_MAX, MadeKey, NewKey } from "#contract/app/keys.ts";
import { parseApiKeyId } from "#contract/ids.ts";
import { memberOf } from "../accounts/member-auth.ts";
import { auditBy } from "../audit/audit-by.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/api-error.ts";
import { bodyReader, FormCheck } from "../http/body.ts";
import { assert } from "../lib/assert.ts";
import { parseIsoInstant } from "../lib/iso-instant.ts";
import { type ApiKeyRow, listApiKeys, revokeOwnKey } from "./app-queries.ts";
import { makeKey } from "./make-key.ts";

export function keyAppRoutes(api: FastifyInstance, deps: Pick<Deps, "db" | "clock" | "random">): void {
  const readNewKey = bodyReader(NewKey);

  api.get("/keys", { schema: { response: { 200: AppKeyList } } }, async (request) => {
    const rows = await listApiKeys(deps.db, memberOf(request).organizationId);
    return { data: rows.map((row) => toAppKey(row, deps.clock.now())) };
  });

  api.post("/keys", { schema: { response: { 201: MadeKey } } }, async (request, reply) => {
    const member = memberOf(request);
    const owner = member.organizationId;
    const now = deps.clock.now();
    const { name, expiresAt } = checkNewKey(readNewKey(request), now);
    const made = await deps.db.transaction().execute(async (transaction) => {
      const about = { name, expiresAt, createdBy: member.email, now };
      const { id, key } = await makeKey({ db: transaction, random: deps.random }, owner, about);
      await auditBy(member, now)(transaction, { action: "api_key.created", target: id, detail: { name } });
      return { id, key };
    });
    const row = (await listApiKeys(deps.db, owner)).find(({ id }) => id === made.id);
    assert(row, "the key was just made");
    return reply.code(201).send({ ...toAppKey(row, now), key: made.key });
  });

  api.delete<{ Params: { key: string } }>("/keys/:key", async (request, reply) => {
    const member = memberOf(request);
    const id = parseApiKeyId(request.params.key);
    if (id === null) throw noSuchKey();
    const now = deps.clock.now();
    await deps.db.transaction().execute(async (transaction) => {
      const outcome = await revokeOwnKey(transaction, member.organizationId, { id, now });
      if (outcome === "not_found") throw noSuchKey();
      if (outcome === "revoked") await auditBy(member, now)(transaction, { action: "api_key.revoked", target: id });
    });
    return reply.code(204).send();
  });
}

function checkNewKey(typed: NewKey, now: Date): { name: string; expiresAt: Date | null } {
  const form = new FormCheck();
  const name = form.line("name", typed.name, { lengthMax: KEY_NAME_LENGTH_MAX });
  const expiresAt = typed.expiresAt ? parseIsoInstant(typed.expiresAt, "up") : null;
  if (typed.expiresAt && (!expiresAt || expiresAt <= now))
    form.refuse("expiresAt", "This must be an ISO 8601 date in the future.");
  form.done();
  return { name, expiresAt };
}

function toAppKey(row: ApiKeyRow, now: Date): AppKey {
  return {
    id: row.id,
    name: row.name,
    condition: toCondition(row, now),
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

function noSuchKey(): ApiError {
  return new ApiError("not_found", "There is no such key.");
}
