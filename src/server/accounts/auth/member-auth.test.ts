import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { errorResponse } from "../../../../test/support/app/read-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeOrganization, NOON } from "../../../../test/support/builders.ts";
import { insertMember } from "../queries.ts";

const testApp = await createTestApp();
const { app, deps, clock } = testApp;
const owner = await signIn(testApp, { role: "owner" });

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await app.inject({ url, headers });
  return { status: response.statusCode, body: response.json() };
}

async function patchName(headers: Record<string, string>, name = "Elm Clinic") {
  const response = await app.inject({ method: "PATCH", url: "/api/app/organization", headers, payload: { name } });
  return { status: response.statusCode, body: response.json() };
}

describe("access requires a session", () => {
  const refusal = errorResponse(401, "unauthorized", "Sign in first.");

  test("no session, a made-up one, or one we didn't sign is refused", async () => {
    const [name = "", value = ""] = owner.cookie.split("=");
    const token = decodeURIComponent(value).split(".")[0];
    for (const cookie of [undefined, "", "x=y", `${name}=made.up`, `${name}=${token}`, `${name}=${token}.AAAA`])
      assert.deepEqual(
        await get("/api/app/organization", cookie === undefined ? {} : { cookie }),
        refusal,
        cookie ?? "none",
      );
    assert.deepEqual(await get("/api/app/me"), refusal);
  });

  test("a member gets in with their role and plan", async () => {
    assert.equal((await get("/api/app/organization", owner.headers)).body.id, owner.organizationId);
    assert.equal((await get("/api/app/organization", { cookie: owner.cookie })).body.id, owner.organizationId);
  });

  test("a session ended elsewhere is refused on the next request", async () => {
    const member = await signIn(testApp, { role: "member" });
    assert.equal((await get("/api/app/me", member.headers)).status, 200);
    await deps.db.deleteFrom("user_sessions").where("user_id", "=", member.userId).execute();
    assert.deepEqual(await get("/api/app/me", member.headers), refusal);
  });

  test("a late request with the cookie from before a password change does not delete the new cookie", async () => {
    const member = await signIn(testApp, { role: "member" });
    const payload = { currentPassword: member.password, newPassword: "a new password" };
    const url = "/api/auth/change-password";
    const changed = await app.inject({ method: "POST", url, headers: member.headers, payload });
    assert.equal(changed.statusCode, 200);
    const late = await app.inject({ url: "/api/app/me", headers: member.headers });
    assert.deepEqual([late.statusCode, late.headers["set-cookie"]], [401, undefined]);
  });

  test("a session that ends while it is being renewed is refused", async () => {
    const member = await signIn(testApp, { role: "member" });
    const expiresAt = new Date(Date.now() + DAY_MS);
    const own = deps.db.updateTable("user_sessions").where("user_id", "=", member.userId);
    await own.set({ expires_at: expiresAt }).execute();
    await sql`create function skip() returns trigger language plpgsql as $$ begin return null; end $$`.execute(deps.db);
    await sql`create trigger skipped before update on user_sessions for each row execute function skip()`.execute(
      deps.db,
    );
    const response = await app.inject({ url: "/api/app/me", headers: member.headers });
    await sql`drop function skip cascade`.execute(deps.db);
    assert.deepEqual([response.statusCode, response.headers["set-cookie"]], [401, undefined]);
  });

  test("a session expires", async () => {
    const member = await signIn(testApp, { role: "member" });
    const past = new Date("2020-01-01T00:00:00Z");
    await deps.db.updateTable("user_sessions").set({ expires_at: past }).where("user_id", "=", member.userId).execute();
    assert.deepEqual(await get("/api/app/organization", member.headers), refusal);
  });

  test("using a session after a day renews it, in the database and in the cookie", async () => {
    const member = await signIn(testApp, { role: "member" });
    const own = deps.db.updateTable("user_sessions").where("user_id", "=", member.userId);
    const ask = async () => (await app.inject({ url: "/api/app/me", headers: member.headers })).headers["set-cookie"];
    assert.equal(await ask(), undefined);
    // better-auth uses the system's time.
    await own.set({ expires_at: new Date(Date.now() + 5.9 * DAY_MS) }).execute();
    assert.match(String(await ask()), /^bookflow\.session_token=[^;]{20,}; Max-Age=604800;/);
    const session = deps.db.selectFrom("user_sessions").select("expires_at").where("user_id", "=", member.userId);
    const { expires_at: expiresAt } = await session.executeTakeFirstOrThrow();
    assert.ok(expiresAt.getTime() > Date.now() + 6.9 * DAY_MS);
  });

  test("an API key gives no access here, and a session none to the read API", async () => {
    const key = { authorization: "Bearer svc_live_x" };
    assert.equal((await get("/api/app/organization", key)).status, 401);
    assert.equal((await get("/api/v1/widgets", owner.headers)).status, 401);
  });
});

describe("choosing the organization", () => {
  const unknown = errorResponse(404, "not_found", "This organization doesn't exist, or you're not a member of it.");

  test("someone else's, an unknown one and an invalid id all get the same 404", async () => {
    const theirs = await makeOrganization(deps.db);
    for (const organization of [theirs, "org_zzzzzzzzzzzzzzzz", "x", ""])
      assert.deepEqual(
        await get("/api/app/organization", { ...owner.headers, "x-organization": organization }),
        unknown,
      );
  });

  test("the header names it; otherwise it is the last one used", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const second = await makeOrganization(deps.db);
    const member = { organization_id: second, user_id: person.userId, role: "viewer" as const, last_used_at: null };
    await insertMember(deps.db, { ...member, created_at: new Date(NOON.getTime() + 1) });
    const cookie = { cookie: person.cookie };
    const seen = async (headers: Record<string, string>) => (await get("/api/app/organization", headers)).body.id;
    assert.equal(await seen(cookie), person.organizationId, "the first they joined");
    assert.equal(await seen({ ...cookie, "x-organization": second }), second);
    assert.equal(await seen(cookie), second);
    clock.set(new Date(NOON.getTime() + 2 * MINUTE_MS));
    assert.equal(await seen(person.headers), person.organizationId);
    assert.equal(await seen(cookie), person.organizationId);
    clock.set(NOON);
  });

  test("without one, only the person's own account can be reached", async () => {
    const person = await signIn(testApp, { role: "member" });
    await deps.db.deleteFrom("members").where("user_id", "=", person.userId).execute();
    const response = await get("/api/app/organization", { cookie: person.cookie });
    assert.deepEqual(response, errorResponse(403, "forbidden", "You're not in an organization yet."));
    const me = await get("/api/app/me", { cookie: person.cookie });
    assert.deepEqual([me.status, me.body.organizations, me.body.current], [200, [], null]);
  });

  test("removal and a new role take effect on the next request", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const { organizationId, userId } = admin;
    const change = deps.db.updateTable("members").where("organization_id", "=", organizationId);
    assert.equal((await patchName(admin.headers)).status, 200);
    await change.set({ role: "viewer" }).where("user_id", "=", userId).execute();
    assert.equal((await patchName(admin.headers)).status, 403);
    await deps.db.deleteFrom("members").where("user_id", "=", userId).execute();
    assert.deepEqual(await patchName(admin.headers), unknown);
  });
});

test("a role includes those below it, and the error names both roles", async () => {
  const { organizationId } = owner;
  const outcomes = [];
  for (const role of ["owner", "admin", "member", "viewer"] as const) {
    const person = await signIn(testApp, { role, organizationId });
    outcomes.push([role, (await patchName(person.headers)).status]);
  }
  assert.deepEqual(outcomes, [
    ["owner", 200],
    ["admin", 200],
    ["member", 403],
    ["viewer", 403],
  ]);
  const viewer = await signIn(testApp, { role: "viewer", organizationId });
  const sentence = "This requires the admin role. Your role is viewer.";
  assert.deepEqual(await patchName(viewer.headers), errorResponse(403, "forbidden", sentence));
});

describe("writes must come from our own pages", () => {
  const refusal = errorResponse(
    403,
    "forbidden",
    "This request came from another address. Open Bookflow at http://localhost:3000. Operators: set BASE_URL to the address people use.",
  );
  const { origin: _own, ...withoutOrigin } = owner.headers;

  for (const origin of ["https://evil.example", "null", "http://localhost:3001", "https://localhost:3000", undefined])
    test(`a request from ${origin ?? "nowhere"} is refused`, async () => {
      const headers = origin === undefined ? withoutOrigin : { ...withoutOrigin, origin };
      assert.deepEqual(await patchName(headers), refusal);
    });

  test("this applies before sign-in too", async () => {
    for (const url of [
      "/api/app/setup",
      "/api/app/invitations/accept",
      "/api/auth/sign-in/email",
      "/api/auth/sign-out",
    ]) {
      const response = await app.inject({
        method: "POST",
        url,
        headers: { origin: "https://evil.example" },
        payload: {},
      });
      assert.deepEqual({ status: response.statusCode, body: response.json() }, refusal, url);
    }
  });

  test("over plain http the request's own host is allowed too, and reads may come from anywhere", async () => {
    const host = "127.0.0.1:3000";
    assert.equal((await patchName({ ...owner.headers, host, origin: `http://${host}` })).status, 200);
    assert.equal((await get("/api/app/me", { cookie: owner.cookie, origin: "https://evil.example" })).status, 200);
  });

  test("over https the request's own host is not allowed", async () => {
    const secure = await createTestApp({ baseUrl: "https://book.example" });
    const person = await signIn(secure, { role: "owner" });
    const patch = async (headers: Record<string, string>) =>
      (await secure.app.inject({ method: "PATCH", url: "/api/app/organization", headers, payload: { name: "N" } }))
        .statusCode;
    assert.equal(await patch(person.headers), 200);
    assert.equal(await patch({ ...person.headers, host: "book.example", origin: "http://book.example" }), 403);
  });
});

test("no response is cached, and no other site may read one", async () => {
  for (const headers of [owner.headers, {}]) {
    const response = await app.inject({ url: "/api/app/me", headers });
    assert.equal(response.headers["cache-control"], "no-store");
    assert.equal(response.headers["x-content-type-options"], "nosniff");
    assert.equal(response.headers["referrer-policy"], "no-referrer");
    assert.ok(!Object.keys(response.headers).some((name) => name.startsWith("access-control-")));
  }
});
