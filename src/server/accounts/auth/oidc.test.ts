import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { openBrowser, type TestBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { OIDC_CLIENT, type OidcPerson, openOidcServer } from "../testing/oidc-server.ts";

const server = await openOidcServer();
const settings = {
  oidcIssuer: server.issuer,
  oidcClientId: OIDC_CLIENT.id,
  oidcClientSecret: OIDC_CLIENT.secret,
  rateLimitSignInPerMinute: 0,
};
const testApp = await createTestApp(settings);
const { deps } = testApp;

async function begin(browser: TestBrowser): Promise<string> {
  const { status, body } = await browser.send("POST", "/api/auth/sign-in/social", { callbackURL: "/widgets" });
  assert.equal(status, 200, JSON.stringify(body));
  const url = new URL(body.url);
  assert.equal(url.origin + url.pathname, `${server.issuer}/authorize`);
  assert.equal(url.searchParams.get("redirect_uri"), "http://localhost:3000/api/auth/callback/oidc");
  return body.url;
}

async function comeBack(browser: TestBrowser, address: string): Promise<string> {
  const { pathname, search } = new URL(address);
  const { response } = await browser.send("GET", pathname + search);
  assert.equal(response.statusCode, 302);
  return String(response.headers.location);
}

async function enter(person: OidcPerson): Promise<{ browser: TestBrowser; place: string; isIn: boolean }> {
  const browser = openBrowser(testApp);
  const place = await comeBack(browser, server.authorize(await begin(browser), person));
  return { browser, place, isIn: (await browser.send("GET", "/api/app/me")).status === 200 };
}

const proven = (email: string): OidcPerson => ({ sub: `sub-${email}`, email, email_verified: true, name: "Ada" });

test("someone with an account signs in with their verified address, and later with the same identity", async () => {
  const person = await signIn(testApp, { role: "admin" });
  for (let i = 0; i < 2; i++) {
    const { browser, place, isIn } = await enter(proven(person.email));
    assert.deepEqual([isIn, new URL(place, "http://localhost:3000").pathname], [true, "/widgets"]);
    assert.equal((await browser.send("GET", "/api/app/me")).body.user.id, person.userId);
  }
  const accounts = await deps.db.selectFrom("user_accounts").selectAll().where("user_id", "=", person.userId).execute();
  const kept = accounts.find((account) => account.provider_id === "oidc");
  assert.deepEqual([kept?.access_token, kept?.id_token, kept?.refresh_token], [null, null, null]);
  const entries = await deps.db
    .selectFrom("audit_entries")
    .select("action")
    .where("organization_id", "=", person.organizationId)
    .execute();
  assert.deepEqual(entries, [{ action: "user.signed_in" }, { action: "user.signed_in" }]);
});

test("an address the issuer has not verified signs nobody in", async () => {
  const person = await signIn(testApp, { role: "admin" });
  const { isIn, place } = await enter({ ...proven(person.email), email_verified: false });
  assert.equal(isIn, false);
  assert.match(place, /^http:\/\/localhost:3000\/sign-in\?error=/);
});

test("a stranger cannot sign in while sign-up is closed, unless invited", async () => {
  assert.equal((await enter(proven("stranger@example.com"))).isIn, false);
  const admin = await signIn(testApp, { role: "admin" });
  const payload = { email: "guest@example.com", role: "member" };
  const { body } = await openBrowser(testApp, admin).send("POST", "/api/app/invitations", payload);
  const { browser, isIn } = await enter(proven("guest@example.com"));
  assert.equal(isIn, true);
  const token = new URL(body.link).searchParams.get("token");
  assert.equal((await browser.send("POST", "/api/app/invitations/accept", { token })).status, 200);
  assert.equal((await browser.send("GET", "/api/app/me")).body.current, admin.organizationId);
});

test("a token for another service, from another issuer or with another nonce is refused", async () => {
  const person = await signIn(testApp, { role: "admin" });
  for (const lie of [{ aud: "another" }, { iss: "https://evil.example" }, { nonce: "replayed" }])
    assert.equal((await enter({ ...proven(person.email), ...lie })).isIn, false, JSON.stringify(lie));
});

test("a callback that this browser didn't start signs nobody in", async () => {
  const person = await signIn(testApp, { role: "admin" });
  const attacker = openBrowser(testApp);
  const address = server.authorize(await begin(attacker), proven(person.email));
  const victim = openBrowser(testApp);
  assert.match(await comeBack(victim, address), /error=/);
  assert.equal((await victim.send("GET", "/api/app/me")).status, 401);
});

test("afterwards the browser is redirected only to our own pages", async () => {
  for (const address of [
    "https://evil.example/",
    "//evil.example",
    "/\\\\evil.example",
    "/.//evil.example",
    "/x/..//evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
  ]) {
    for (const pages of [{ callbackURL: address }, { callbackURL: "/widgets", errorCallbackURL: address }]) {
      const { status, body } = await openBrowser(testApp).send("POST", "/api/auth/sign-in/social", pages);
      assert.deepEqual([status, body.error.code], [403, "forbidden"], JSON.stringify(pages));
    }
  }
});

test("without an issuer there is no single sign-on", async () => {
  const plain = await createTestApp();
  const { status } = await openBrowser(plain).send("POST", "/api/auth/sign-in/social", { callbackURL: "/" });
  assert.equal(status, 404);
  assert.equal((await openBrowser(plain).send("GET", "/api/app/sign-in-options")).body.hasOidc, false);
  assert.equal((await openBrowser(testApp).send("GET", "/api/app/sign-in-options")).body.hasOidc, true);
});
