import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppKey, CreatedKey } from "#contract/app/keys.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../test/support/app/app-api.ts";
import { getJson } from "../../../test/support/app/read-api.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeKey, NOON } from "../../../test/support/builders.ts";

const testApp = await createTestApp();
const { app, deps, clock } = testApp;

const listKeys = async (member: Parameters<typeof askApp>[1]) =>
  ((await askApp(app, member, "GET /keys")).body as { data: AppKey[] }).data;
const useKey = async (key: string) =>
  (await getJson(app, "/api/v1/widgets", { authorization: `Bearer ${key}` })).status;

test("a key is shown once, works for the read API, and is listed with its first and last characters and last use", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const { status, body } = await askApp(app, admin, "POST /keys", { name: " Warehouse " });
  const { key, ...made } = body as CreatedKey;
  assert.equal(status, 201);
  assert.deepEqual(made, {
    id: made.id,
    name: "Warehouse",
    condition: "active",
    scopes: ["analytics", "bookings"],
    networks: [],
    firstCharacters: key.slice(9, 13),
    lastCharacters: key.slice(-4),
    createdBy: admin.email,
    createdAt: NOON.toISOString(),
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
  });
  assert.deepEqual(await listKeys(admin), [made]);
  assert.equal(await useKey(key), 200);
  const listed = await listKeys(admin);
  assert.deepEqual(listed, [{ ...made, lastUsedAt: NOON.toISOString() }]);
  assert.ok(!JSON.stringify(listed).includes(key));
  assert.deepEqual(await readAudit(deps.db, admin.organizationId), [
    { action: "api_key.created", target: made.id, detail: { name: "Warehouse", scopes: "analytics, bookings" } },
  ]);
});

test("a revoked key stops working at once, and revoking it again changes nothing", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const { id, key } = (await askApp(app, admin, "POST /keys", { name: "Old" })).body as CreatedKey;
  assert.equal(await useKey(key), 200);
  assert.deepEqual(await askApp(app, admin, `DELETE /keys/${id}`), { status: 204, body: null });
  assert.equal(await useKey(key), 401);
  clock.set(new Date(NOON.getTime() + 5_000));
  assert.equal((await askApp(app, admin, `DELETE /keys/${id}`)).status, 204);
  const [revoked] = await listKeys(admin);
  clock.set(NOON);
  assert.deepEqual([revoked?.condition, revoked?.revokedAt], ["revoked", NOON.toISOString()]);
  const actions = ((await readAudit(deps.db, admin.organizationId)) as { action: string }[]).map(
    ({ action }) => action,
  );
  assert.deepEqual(actions.sort(), ["api_key.created", "api_key.revoked"]);
});

test("a key expires at its expiry time", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const expiresAt = new Date(NOON.getTime() + MINUTE_MS).toISOString();
  const { key } = (await askApp(app, admin, "POST /keys", { name: "Short", expiresAt })).body as CreatedKey;
  assert.equal(await useKey(key), 200);
  clock.set(new Date(NOON.getTime() + MINUTE_MS));
  const [expired] = await listKeys(admin);
  const status = await useKey(key);
  clock.set(NOON);
  assert.deepEqual([expired?.condition, expired?.expiresAt, status], ["expired", expiresAt, 401]);
});

test("a missing name and an invalid or past expiry are refused at their fields", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  for (const [body, field] of [
    [{}, "name"],
    [{ name: " " }, "name"],
    [{ name: "x".repeat(101) }, "name"],
    [{ name: "x", expiresAt: "soon" }, "expiresAt"],
    [{ name: "x", expiresAt: NOON.toISOString() }, "expiresAt"],
    [{ name: "x", expiresAt: 5 }, "expiresAt"],
    [{ name: "x", expiresAt: "9999-12-31T23:59:59.999999Z" }, "expiresAt"],
    [{ name: "x", expiresAt: "9999-12-31T23:59:59-01:00" }, "expiresAt"],
  ] as const) {
    const response = await askApp(app, admin, "POST /keys", body);
    const { error } = response.body as { error: { fields: object } };
    assert.deepEqual([response.status, Object.keys(error.fields)], [422, [field]], JSON.stringify(body));
  }
  assert.deepEqual(await listKeys(admin), []);
});

test("creating keys requires the Business plan; revoking them does not", async () => {
  const admin = await signIn(testApp, { role: "admin", plan: "pro" });
  const { id } = await makeKey(deps.db, admin.organizationId);
  assert.deepEqual(await askApp(app, admin, "POST /keys", { name: "x" }), {
    status: 403,
    body: {
      error: {
        code: "plan_required",
        message: "The read API requires the Business plan. Ask the operator to change the plan.",
      },
    },
  });
  assert.equal((await askApp(app, admin, `DELETE /keys/${id}`)).status, 204);
});

test("another organization's key gives 404", async () => {
  const mine = await signIn(testApp, { role: "owner" });
  const theirs = await signIn(testApp, { role: "owner" });
  const { id, key } = await makeKey(deps.db, theirs.organizationId);
  for (const text of [id, "key_1111111111111111", "x"])
    assert.equal((await askApp(app, mine, `DELETE /keys/${text}`)).status, 404);
  assert.deepEqual([await listKeys(mine), await useKey(key)], [[], 200]);
});
