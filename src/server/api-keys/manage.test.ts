import assert from "node:assert/strict";
import { test } from "node:test";
import type { CreatedKey } from "#contract/app/keys.ts";
import type { AppWidget } from "#contract/app/widgets.ts";
import { HOUR_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../test/support/app/app-api.ts";
import { makeCaller } from "../../../test/support/app/read-api.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeKey, makeWidget, NOON } from "../../../test/support/builders.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;

type Method = "GET" | "POST" | "PATCH" | "DELETE";

async function ask<Body>(
  headers: Record<string, string>,
  route: string,
  payload?: object,
): Promise<{ status: number; body: Body }> {
  const [method = "", path = ""] = route.split(" ");
  const url = `/api/v1${path}`;
  const response = await app.inject({ method: method as Method, url, headers, ...(payload && { payload }) });
  return { status: response.statusCode, body: response.body === "" ? (null as Body) : response.json() };
}

type Refusal = { error: { code: string; fields?: Record<string, string> } };

test("a widget is created once per Idempotency-Key, changed in part, and the audit log names the key", async () => {
  const { owner, keyId, headers } = await makeCaller(deps.db, { scopes: ["manage"] });
  const once = { ...headers, "idempotency-key": "setup-1" };
  const first = await ask<AppWidget>(once, "POST /widgets", { name: "Front page" });
  const second = await ask<AppWidget>(once, "POST /widgets", { name: "Front page" });
  assert.deepEqual([first.status, second.status, second.body.id], [201, 201, first.body.id]);
  const other = await ask<Refusal>(once, "POST /widgets", { name: "Another" });
  assert.deepEqual([other.status, other.body.error.code], [409, "conflict"]);
  const changed = await ask<AppWidget>(headers, `PATCH /widgets/${first.body.id}`, { collectData: true });
  assert.deepEqual(changed.body, { ...first.body, collectData: true });
  const member = await signIn(testApp, { role: "admin", organizationId: owner });
  const log = (await askApp(app, member, "GET /audit")).body as { data: { actor: object; action: string }[] };
  const by = { userId: keyId, email: "API key Warehouse", name: null };
  assert.deepEqual(
    ["widget.created", "widget.changed"].map((action) => ({
      action,
      actor: log.data.find((entry) => entry.action === action)?.actor,
    })),
    [
      { action: "widget.created", actor: by },
      { action: "widget.changed", actor: by },
    ],
  );
});

test("a key can't create a key that may do more than itself", async () => {
  const expiresAt = new Date(NOON.getTime() + HOUR_MS);
  const limits = { scopes: ["manage", "bookings"], networks: ["127.0.0.0/8"], expiresAt } as const;
  const { owner, headers } = await makeCaller(deps.db, limits);
  const wanted = { name: "Child", scopes: ["manage"], networks: ["127.0.0.1"], expiresAt: expiresAt.toISOString() };
  for (const [more, field] of [
    [{ scopes: ["analytics"] }, "scopes"],
    [{ scopes: undefined }, "scopes"],
    [{ networks: [] }, "networks"],
    [{ networks: ["126.0.0.0/7"] }, "networks"],
    [{ networks: ["127.0.0.1", "10.0.0.1"] }, "networks"],
    [{ networks: ["::1"] }, "networks"],
    [{ expiresAt: null }, "expiresAt"],
    [{ expiresAt: new Date(expiresAt.getTime() + 1).toISOString() }, "expiresAt"],
  ] as const) {
    const { status, body } = await ask<Refusal>(headers, "POST /keys", { ...wanted, ...more });
    assert.deepEqual([status, Object.keys(body.error.fields ?? {})], [422, [field]], JSON.stringify(more));
  }
  const { status, body } = await ask<CreatedKey>(headers, "POST /keys", { ...wanted, scopes: ["bookings.anonymous"] });
  assert.deepEqual([status, body.scopes, body.createdBy], [201, ["bookings.anonymous"], "API key Warehouse"]);
  const listed = await ask<{ data: object[] }>(headers, "GET /keys");
  assert.ok(!JSON.stringify(listed.body).includes(body.key), "shown once");
  assert.deepEqual(
    ((await readAudit(deps.db, owner)) as { action: string }[]).map(({ action }) => action),
    ["api_key.created"],
  );
});

test("manage alone neither adds an endpoint nor changes its address; with bookings it can", async () => {
  const { owner, headers } = await makeCaller(deps.db, { scopes: ["manage"] });
  const { key } = await makeKey(deps.db, owner, { scopes: ["manage", "bookings"] });
  const both = { authorization: `Bearer ${key}` };
  const wanted = { url: "https://93.184.215.14/hooks", kind: "webhook" };
  assert.equal((await ask<Refusal>(headers, "POST /endpoints", wanted)).body.error.code, "scope_required");
  type Added = { endpoint: { id: string }; secret: string };
  const added = await ask<Added>(both, "POST /endpoints", wanted);
  assert.equal(added.status, 201);
  const route = `/endpoints/${added.body.endpoint.id}`;
  const moved = await ask<Refusal>(headers, `PATCH ${route}`, { url: "https://93.184.215.15/" });
  assert.deepEqual([moved.status, moved.body.error.code], [403, "scope_required"]);
  assert.equal((await ask(headers, `PATCH ${route}`, { description: "CRM", isEnabled: false })).status, 200);
  const rotated = await ask<{ secret: string }>(headers, `POST ${route}/rotate-secret`, { overlapHours: 0 });
  assert.match(rotated.body.secret, /^whsec_/);
  const listed = JSON.stringify((await ask(both, "GET /endpoints")).body);
  for (const secret of [added.body.secret, rotated.body.secret]) assert.ok(!listed.includes(secret), "shown once");
});

test("lists have cursors, and a page follows the last one even if that was deleted", async () => {
  const { owner, keyId, headers } = await makeCaller(deps.db, { scopes: ["manage"] });
  const others = [(await makeKey(deps.db, owner)).id, (await makeKey(deps.db, owner)).id];
  type Page = { data: { id: string }[]; nextCursor: string | null };
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = (await ask<Page>(headers, `GET /keys?limit=1${cursor ? `&cursor=${cursor}` : ""}`)).body;
    seen.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.deepEqual(seen, [keyId, ...others].sort());
  const wrong = await ask<Refusal>(headers, "GET /keys?cursor=later");
  assert.deepEqual([wrong.status, wrong.body.error.code], [400, "bad_request"]);
});

test("faults of a body are reported by field, and another organization's things are not found", async () => {
  const { headers } = await makeCaller(deps.db, { scopes: ["manage"] });
  const { status, body } = await ask<Refusal>(headers, "POST /widgets", { name: 5, status: "gone" });
  assert.deepEqual([status, Object.keys(body.error.fields ?? {}).sort()], [422, ["name", "status"]]);
  const stranger = await makeCaller(deps.db);
  const theirs = await makeWidget(deps.db, stranger.owner);
  assert.equal((await ask(headers, `PATCH /widgets/${theirs}`, { name: "Mine" })).status, 404);
});
