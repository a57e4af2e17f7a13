import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { openBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn, TEST_PASSWORD } from "../../../../test/support/app/sign-in.ts";
import { sweepAccounts } from "../auth/session-queries.ts";

const testApp = await createTestApp({ rateLimitSignInPerMinute: 0 });
const { deps } = testApp;

async function makePerson(role: "owner" | "viewer" = "owner") {
  const person = await signIn(testApp, { role });
  return { ...person, browser: openBrowser(testApp, { cookie: person.cookie }) };
}

describe("the person", () => {
  test("changes their name", async () => {
    const { browser } = await makePerson();
    assert.equal((await browser.send("PATCH", "/api/app/me", { name: "  Ada\nWinter " })).status, 204);
    assert.equal((await browser.send("GET", "/api/app/me")).body.user.name, "Ada Winter");
    const empty = await browser.send("PATCH", "/api/app/me", { name: " " });
    assert.deepEqual([empty.status, empty.body.error.fields], [422, { name: "Enter a name." }]);
    const missing = await browser.send("PATCH", "/api/app/me", {});
    assert.deepEqual([missing.status, missing.body.error.code], [422, "invalid_fields"]);
  });

  test("cannot change anything else through this route", async () => {
    const { browser, userId, email } = await makePerson();
    await browser.send("PATCH", "/api/app/me", { name: "N", email: "other@example.com", id: "x", emailVerified: true });
    const { user } = (await browser.send("GET", "/api/app/me")).body;
    assert.deepEqual([user.id, user.email], [userId, email]);
  });
});

describe("sign-ins", () => {
  test("are listed newest first, with a description of the browser and no token", async () => {
    const { browser, email } = await makePerson();
    const phone = openBrowser(testApp, {
      userAgent:
        "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 Version/19.0 Mobile Safari/604",
    });
    await phone.send("POST", "/api/auth/sign-in/email", { email, password: TEST_PASSWORD });
    const { data } = (await browser.send("GET", "/api/app/me/sessions")).body;
    assert.deepEqual(
      data.map((each: { browser: string; isCurrent: boolean }) => [each.browser, each.isCurrent]),
      [
        ["Safari on iOS", false],
        ["Firefox on Linux", true],
      ],
    );
    assert.deepEqual(Object.keys(data[0]), ["id", "browser", "isCurrent", "createdAt", "lastUsedAt", "expiresAt"]);
  });

  test("one session can be ended from another, immediately; another person's cannot", async () => {
    const { browser, email } = await makePerson();
    const other = openBrowser(testApp);
    await other.send("POST", "/api/auth/sign-in/email", { email, password: TEST_PASSWORD });
    const { data } = (await browser.send("GET", "/api/app/me/sessions")).body;
    const id = data.find((each: { isCurrent: boolean }) => !each.isCurrent).id;

    const stranger = await makePerson();
    assert.equal((await stranger.browser.send("DELETE", `/api/app/me/sessions/${id}`)).status, 404);
    assert.equal((await other.send("GET", "/api/app/me")).status, 200);

    assert.equal((await browser.send("DELETE", `/api/app/me/sessions/${id}`)).status, 204);
    assert.equal((await other.send("GET", "/api/app/me")).status, 401);
    assert.equal((await browser.send("GET", "/api/app/me")).status, 200);
    for (const each of [id, "ses_none", "%00"])
      assert.equal((await browser.send("DELETE", `/api/app/me/sessions/${each}`)).status, 404, each);
  });

  test("all others can be ended together, and the current one continues", async () => {
    const { browser, email } = await makePerson();
    const others = [openBrowser(testApp), openBrowser(testApp)];
    for (const other of others) await other.send("POST", "/api/auth/sign-in/email", { email, password: TEST_PASSWORD });
    assert.equal((await browser.send("DELETE", "/api/app/me/sessions")).status, 204);
    for (const other of others) assert.equal((await other.send("GET", "/api/app/me")).status, 401);
    assert.equal((await browser.send("GET", "/api/app/me")).status, 200);
  });

  test("continue if ending them cannot be logged", async () => {
    const { browser, email } = await makePerson();
    const other = openBrowser(testApp);
    await other.send("POST", "/api/auth/sign-in/email", { email, password: TEST_PASSWORD });
    const { data } = (await browser.send("GET", "/api/app/me/sessions")).body;
    const { id } = data.find((each: { isCurrent: boolean }) => !each.isCurrent);
    const refusal = "alter table audit_entries add constraint refused check (action <> 'user.session_ended') not valid";
    await sql.raw(refusal).execute(deps.db);
    for (const path of ["/api/app/me/sessions", `/api/app/me/sessions/${id}`]) {
      assert.equal((await browser.send("DELETE", path)).status, 500);
      assert.equal((await other.send("GET", "/api/app/me")).status, 200);
    }
    await sql`alter table audit_entries drop constraint refused`.execute(deps.db);
  });

  test("expired ones are deleted, and no others", async () => {
    const { userId } = await makePerson();
    const past = new Date("2020-01-01T00:00:00Z");
    const gone = await makePerson();
    await deps.db.updateTable("user_sessions").set({ expires_at: past }).where("user_id", "=", gone.userId).execute();
    await sweepAccounts(deps);
    const left = await deps.db.selectFrom("user_sessions").select("user_id").execute();
    assert.ok(left.some((row) => row.user_id === userId));
    assert.ok(!left.some((row) => row.user_id === gone.userId));
  });
});

describe("another organization", () => {
  const payload = { name: "Second", timeZone: "Asia/Tokyo" };

  test("is created by an owner, who becomes its owner", async () => {
    const { browser } = await makePerson();
    const { status, body } = await browser.send("POST", "/api/app/organizations", payload);
    assert.equal(status, 201);
    const me = (await browser.send("GET", "/api/app/me")).body;
    assert.deepEqual(
      me.organizations.find((each: { id: string }) => each.id === body.id),
      { id: body.id, name: "Second", role: "owner", plan: "business" },
    );
    assert.equal(me.current, body.id, "the new organization is shown");
  });

  test("is refused for everyone else while sign-up is closed", async () => {
    const { browser } = await makePerson("viewer");
    assert.equal((await browser.send("GET", "/api/app/me")).body.canCreateOrganization, false);
    const { status, body } = await browser.send("POST", "/api/app/organizations", payload);
    assert.deepEqual([status, body.error.code], [403, "forbidden"]);
  });

  test("can be created by anyone while sign-up is open", async () => {
    const open = await createTestApp({ signUp: "open" });
    const browser = openBrowser(open, await signIn(open, { role: "viewer" }));
    assert.equal((await browser.send("POST", "/api/app/organizations", payload)).status, 201);
    const faulty = await browser.send("POST", "/api/app/organizations", { name: "", timeZone: "+01:00" });
    assert.deepEqual(Object.keys(faulty.body.error.fields), ["name", "timeZone"]);
  });
});
