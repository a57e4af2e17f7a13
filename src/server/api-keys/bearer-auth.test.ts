import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { MINUTE_MS } from "#contract/durations.ts";
import type { ApiKeyId } from "#contract/ids.ts";
import { PLANS } from "#contract/plans.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { errorResponse, getJson, makeCaller } from "../../../test/support/app/read-api.ts";
import { makeKey, NOON } from "../../../test/support/builders.ts";
import { queryOnce } from "../../../test/support/database/citus-cluster.ts";
import { listDatabaseUrls } from "../../../test/support/database/database.ts";
import { buildApp } from "../app.ts";
import { systemRandom } from "../lib/secrets/random.ts";
import { updateOrganization } from "../organizations/queries.ts";
import { revokeOwnKey } from "./app-queries.ts";
import { makeApiKey } from "./token.ts";

const { app, deps, clock, lines, url: databaseUrl } = await createTestApp();

const ROUTES = ["/api/v1/widgets", "/api/v1/bookings"];

const NO_KEY = errorResponse(401, "unauthorized", "Send your API key in the header `Authorization: Bearer <API_KEY>`.");
const BAD_KEY = errorResponse(401, "unauthorized", "This API key is unknown, revoked or expired.");
const NO_PLAN = errorResponse(
  403,
  "plan_required",
  "The read API requires the Business plan. Ask the operator to change the plan.",
);

async function statusOf(url: string, headers: Record<string, string | string[]>): Promise<number> {
  return (await app.inject({ url, headers })).statusCode;
}

test("a key is sent as Bearer in any letter case, with one or more spaces", async () => {
  const { key } = await makeCaller(deps.db);
  for (const route of ROUTES) {
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer ", "Bearer   "]) {
      assert.equal(await statusOf(route, { authorization: `${scheme} ${key}` }), 200, scheme);
    }
  }
});

const KEY = makeApiKey(systemRandom);
const WITHOUT_ONE_TOKEN: readonly [what: string, headers: Record<string, string>][] = [
  ["no Authorization header", {}],
  ["an empty Authorization header", { authorization: "" }],
  ["the scheme without a key", { authorization: "Bearer" }],
  ["the scheme and a space without a key", { authorization: "Bearer " }],
  ["the key without a scheme", { authorization: KEY }],
  ["the scheme and the key as one word", { authorization: `Bearer${KEY}` }],
  ["a colon after the scheme", { authorization: `Bearer: ${KEY}` }],
  ["two tokens", { authorization: `Bearer ${KEY} ${KEY}` }],
  ["two tokens with a comma", { authorization: `Bearer ${KEY}, ${KEY}` }],
  ["two schemes with a comma", { authorization: `Bearer ${KEY}, Basic dTpw` }],
  ["a comma after the key", { authorization: `Bearer ${KEY},` }],
  ["a tab between scheme and key", { authorization: `Bearer\t${KEY}` }],
  ["the Basic scheme", { authorization: `Basic ${Buffer.from(`${KEY}:`).toString("base64")}` }],
  ["the Token scheme", { authorization: `Token ${KEY}` }],
  ["a cookie", { cookie: `api_key=${KEY}; authorization=Bearer ${KEY}` }],
  ["another header", { "x-api-key": KEY, "proxy-authorization": `Bearer ${KEY}` }],
];

for (const [what, headers] of WITHOUT_ONE_TOKEN) {
  test(`${what} gives 401 and asks for a key`, async () => {
    // A real key, so that any way in would be found.
    const { key } = await makeCaller(deps.db);
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll(KEY, key)]));
    for (const route of ROUTES) {
      const response = await app.inject({ url: route, headers: sent });
      assert.deepEqual({ status: response.statusCode, body: response.json() }, NO_KEY);
      assert.equal(response.headers["www-authenticate"], 'Bearer realm="api"');
    }
  });
}

test("two Authorization headers give 401, even if one of them is valid", async () => {
  const { key } = await makeCaller(deps.db);
  const right = `Bearer ${key}`;
  for (const authorization of [
    [right, right],
    [right, "Bearer other"],
    ["Bearer other", right],
    [right, ""],
  ]) {
    assert.deepEqual(await getJson(app, "/api/v1/widgets", { authorization }), NO_KEY);
  }
});

test("a key in the query string is ignored", async () => {
  const { key } = await makeCaller(deps.db);
  for (const name of ["api_key", "apikey", "key", "access_token", "token", "authorization"]) {
    for (const route of ROUTES) assert.deepEqual(await getJson(app, `${route}?${name}=${key}`), NO_KEY);
  }
});

test('an unknown key gives 401 with error="invalid_token"', async () => {
  const { key } = await makeCaller(deps.db);
  const mistyped = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
  for (const unknown of [makeApiKey(systemRandom), mistyped, "x", "svc_live_", key.toUpperCase(), `${key}é`]) {
    for (const route of ROUTES) {
      const response = await app.inject({ url: route, headers: { authorization: `Bearer ${unknown}` } });
      assert.deepEqual({ status: response.statusCode, body: response.json() }, BAD_KEY);
      assert.equal(response.headers["www-authenticate"], 'Bearer realm="api", error="invalid_token"');
    }
  }
});

test("a revoked key gives 401 on the next request; the organization's other keys keep working", async () => {
  const { owner, keyId, headers } = await makeCaller(deps.db);
  const other = await makeKey(deps.db, owner);
  assert.equal(await statusOf("/api/v1/widgets", headers), 200);
  await revokeOwnKey(deps.db, owner, { id: keyId, now: NOON });
  for (const route of ROUTES) assert.deepEqual(await getJson(app, route, headers), BAD_KEY);
  assert.equal(await statusOf("/api/v1/widgets", { authorization: `Bearer ${other.key}` }), 200);
});

test("an expired key gives 401 from the instant it expires", async () => {
  const expiresAt = new Date("2026-11-01T12:30:00.000Z");
  const { headers } = await makeCaller(deps.db, { expiresAt });
  clock.set(new Date(expiresAt.getTime() - 1));
  assert.equal(await statusOf("/api/v1/bookings", headers), 200);
  clock.set(expiresAt);
  for (const route of ROUTES) assert.deepEqual(await getJson(app, route, headers), BAD_KEY);
  clock.set(NOON);
});

test("only the Business plan may use the read API", async () => {
  for (const plan of PLANS) {
    const { headers } = await makeCaller(deps.db, { plan });
    for (const route of ROUTES) {
      if (plan === "business") assert.equal(await statusOf(route, headers), 200);
      else assert.deepEqual(await getJson(app, route, headers), NO_PLAN);
    }
  }
});

test("a plan change takes effect on the next request", async () => {
  const { owner, headers } = await makeCaller(deps.db);
  const seen: number[] = [];
  for (const plan of ["business", "pro", "business", "free"] as const) {
    await updateOrganization(deps.db, owner, { plan });
    seen.push(await statusOf("/api/v1/bookings", headers));
  }
  assert.deepEqual(seen, [200, 403, 200, 403]);
});

test("without a valid key the plan is not revealed", async () => {
  const { owner, keyId, headers } = await makeCaller(deps.db, { plan: "free" });
  await revokeOwnKey(deps.db, owner, { id: keyId, now: NOON });
  assert.deepEqual(await getJson(app, "/api/v1/bookings", headers), BAD_KEY);
});

async function lastUsed(keyId: ApiKeyId): Promise<string | null> {
  const row = await deps.db
    .selectFrom("api_key_uses")
    .select("last_used_at")
    .where("key_id", "=", keyId)
    .executeTakeFirst();
  return row?.last_used_at.toISOString() ?? null;
}

test("a key's last use is written at most once a minute", async () => {
  const { keyId, headers } = await makeCaller(deps.db);
  assert.equal(await lastUsed(keyId), null);
  const seen: (string | null)[] = [];
  for (const offsetMs of [0, 1, MINUTE_MS - 1, MINUTE_MS, 2 * MINUTE_MS - 1, 2 * MINUTE_MS]) {
    clock.set(new Date(NOON.getTime() + offsetMs));
    await app.inject({ url: "/api/v1/widgets", headers });
    seen.push(await lastUsed(keyId));
  }
  clock.set(NOON);
  assert.deepEqual(seen, [
    "2026-11-01T12:00:00.000Z",
    "2026-11-01T12:00:00.000Z",
    "2026-11-01T12:00:00.000Z",
    "2026-11-01T12:01:00.000Z",
    "2026-11-01T12:01:00.000Z",
    "2026-11-01T12:02:00.000Z",
  ]);
});

test("simultaneous requests write a key's last use once", async () => {
  const servers = listDatabaseUrls(new URL(databaseUrl).pathname.slice(1));
  for (const server of servers) await queryOnce(server, "create table key_writes (id text)");
  await sql`create function note_key_write() returns trigger language plpgsql
    as $$ begin insert into key_writes values (new.key_id); return new; end $$`.execute(deps.db);
  await sql`create trigger note_key_write after insert or update on api_key_uses
    for each row execute function note_key_write()`.execute(deps.db);
  const { keyId, headers } = await makeCaller(deps.db);
  const together = () => Promise.all(Array.from({ length: 20 }, () => statusOf("/api/v1/widgets", headers)));

  const statuses = await together();
  clock.set(new Date(NOON.getTime() + MINUTE_MS));
  statuses.push(...(await together()));
  clock.set(NOON);

  assert.deepEqual(new Set(statuses), new Set([200]));
  const writes = await Promise.all(servers.map((server) => queryOnce(server, "select id from key_writes")));
  assert.deepEqual(
    writes.flat().filter(({ id }) => id === keyId),
    [{ id: keyId }, { id: keyId }],
  );
});

test("a refused request does not count as a use of the key", async () => {
  const { owner, keyId, headers } = await makeCaller(deps.db);
  await revokeOwnKey(deps.db, owner, { id: keyId, now: NOON });
  await app.inject({ url: "/api/v1/widgets", headers });
  assert.equal(await lastUsed(keyId), null);
});

test("a read succeeds even if the key's last use cannot be written, and the log says so", async () => {
  const { owner, keyId, headers } = await makeCaller(deps.db);
  await sql`alter table api_key_uses add constraint frozen check (false) not valid`.execute(deps.db);
  const linesBefore = lines.length;
  assert.equal(await statusOf("/api/v1/widgets", headers), 200);
  await sql`alter table api_key_uses drop constraint frozen`.execute(deps.db);
  assert.equal(await lastUsed(keyId), null);
  const warnings = lines.slice(linesBefore).map((line) => JSON.parse(line));
  const shown = warnings
    .filter((line) => line.level === "warn")
    .map(({ name, organizationId, error: { type, code, table, constraint } }) => ({
      ...{ name, organizationId, type, code },
      // On Citus, the names of a shard's table and constraints end with the shard's number.
      place: `${table}.${constraint}`.replaceAll(/_\d+/g, ""),
    }));
  const error = { type: "DatabaseError", code: "23514", place: "api_key_uses.frozen" };
  assert.deepEqual(shown, [{ name: "api_key.use_not_recorded", organizationId: owner, ...error }]);
});

test("the database contains a key's hash and never the key", async () => {
  const { keyId, key, headers } = await makeCaller(deps.db);
  await app.inject({ url: "/api/v1/widgets", headers });
  const { rows } = await sql<{ record: string }>`
    select api_keys::text as record from api_keys where id = ${keyId}`.execute(deps.db);
  const record = String(rows[0]?.record);
  assert.ok(record.includes(keyId));
  assert.ok(!record.includes(key) && !record.includes(key.slice("svc_live_".length)));
  assert.ok(!record.includes(Buffer.from(key).toString("hex")));
});

/** The same service on the same database with another limit. */
async function buildWithLimit(rateLimitApiPerMinute: number): Promise<FastifyInstance> {
  const other = await buildApp({ ...deps, config: { ...deps.config, rateLimitApiPerMinute } });
  after(() => other.close());
  return other;
}

const limited = await buildWithLimit(3);

type Headers = Record<string, string>;

/** Status, the two rate-limit headers, and Retry-After. */
async function ask(headers: Headers, url = "/api/v1/widgets", method: "GET" | "HEAD" | "POST" = "GET") {
  const response = await limited.inject({ url, method, headers });
  const { "ratelimit-policy": policy, ratelimit, "retry-after": retryAfter } = response.headers;
  return { status: response.statusCode, policy, ratelimit, retryAfter, body: response.body };
}

const POLICY = '"default";q=3;w=60';
const allowed = (remaining: number, seconds: number) => ({
  status: 200,
  policy: POLICY,
  ratelimit: `"default";r=${remaining};t=${seconds}`,
  retryAfter: undefined,
  body: '{"data":[],"nextCursor":null}',
});
const refused = (seconds: number) => ({
  status: 429,
  policy: POLICY,
  ratelimit: `"default";r=0;t=${seconds}`,
  retryAfter: String(seconds),
  body: '{"error":{"code":"rate_limited","message":"Rate limit exceeded: 3 requests per minute for this key. Retry after the number of seconds in Retry-After."}}',
});

test("a key over its limit gets 429 with Retry-After until the minute is over", async () => {
  const { headers } = await makeCaller(deps.db);
  const url = "/api/v1/bookings";
  const responses: unknown[] = [];
  for (const time of ["12:00:00.000", "12:00:01.000", "12:00:01.001", "12:00:30.500", "12:00:59.999", "12:01:00.000"]) {
    clock.set(new Date(`2026-11-01T${time}Z`));
    responses.push(await ask(headers, url));
  }
  clock.set(NOON);
  assert.deepEqual(responses, [
    allowed(2, 60),
    allowed(1, 59),
    allowed(0, 59),
    refused(30),
    refused(1),
    allowed(2, 60),
  ]);
});

test("all routes and HEAD share one limit per key", async () => {
  const { headers } = await makeCaller(deps.db);
  assert.equal((await ask(headers, "/api/v1/widgets")).status, 200);
  assert.equal((await ask(headers, "/api/v1/bookings", "HEAD")).status, 200);
  assert.equal((await ask(headers, "/api/v1/bookings?limit=x")).status, 400);
  assert.equal((await ask(headers, "/api/v1/widgets")).status, 429);
});

test("each key has its own limit", async () => {
  const { owner, headers } = await makeCaller(deps.db);
  const other = await makeKey(deps.db, owner);
  for (let i = 0; i < 4; i++) await ask(headers);
  assert.equal((await ask(headers)).status, 429);
  assert.equal((await ask({ authorization: `Bearer ${other.key}` })).status, 200);
});

test("the limit is checked before the parameters", async () => {
  const { headers } = await makeCaller(deps.db);
  for (let i = 0; i < 3; i++) await ask(headers);
  assert.equal((await ask(headers, "/api/v1/bookings?since=never&widget=w_none")).status, 429);
});

test("path, method and key are checked before the limit", async () => {
  const { owner, keyId, headers } = await makeCaller(deps.db);
  for (let i = 0; i < 4; i++) await ask(headers);
  assert.equal((await ask(headers, "/api/v1/nothing")).status, 404);
  assert.equal((await ask(headers, "/api/v1/bookings", "POST")).status, 405);
  await revokeOwnKey(deps.db, owner, { id: keyId, now: NOON });
  assert.equal((await ask(headers)).status, 401);
});

test("a request without a valid key gets no RateLimit headers", async () => {
  for (let i = 0; i < 5; i++) {
    const { status, policy, ratelimit, retryAfter } = await ask({});
    assert.deepEqual([status, policy, ratelimit, retryAfter], [401, undefined, undefined, undefined]);
  }
});

test("a valid key gets RateLimit headers even if its plan lacks the API, and 403 beyond the limit too", async () => {
  const { headers } = await makeCaller(deps.db, { plan: "pro" });
  const responses = [];
  for (let i = 0; i < 4; i++) responses.push(await ask(headers));
  assert.deepEqual(
    responses.map(({ status, policy, ratelimit, retryAfter }) => [status, policy, ratelimit, retryAfter]),
    [2, 1, 0, 0].map((left) => [403, '"default";q=3;w=60', `"default";r=${left};t=60`, undefined]),
  );
});

test("with the limit off there are no RateLimit headers", async () => {
  const unlimited = await buildWithLimit(0);
  const { headers } = await makeCaller(deps.db);
  for (let i = 0; i < 10; i++) {
    const response = await unlimited.inject({ url: "/api/v1/widgets", headers });
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers["ratelimit"], undefined);
  }
});
