import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OrganizationId } from "#contract/ids.ts";
import { OIDC_CLIENT, type OidcPerson, openOidcServer } from "../../../../test/support/accounts/oidc-server.ts";
import { createTestApp, type TestApp } from "../../../../test/support/app/app.ts";
import { openBrowser, type TestBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { toTotpCode } from "../../../../test/support/app/totp.ts";

const server = await openOidcServer();
const settings = {
  oidcIssuer: server.issuer,
  oidcClientId: OIDC_CLIENT.id,
  oidcClientSecret: OIDC_CLIENT.secret,
  rateLimitSignInPerMinute: 0,
};
const testApp = await createTestApp({ ...settings, oidcTrusted: "yes" });
const untrusting = await createTestApp({ ...settings, oidcTrusted: "no" });
const { deps } = testApp;

async function begin(browser: TestBrowser, path = "/api/auth/sign-in/social"): Promise<string> {
  const { status, body } = await browser.send("POST", path, { callbackURL: "/widgets" });
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

async function enter(
  person: OidcPerson,
  service: TestApp = testApp,
): Promise<{ browser: TestBrowser; place: string; isIn: boolean }> {
  const browser = openBrowser(service);
  const place = await comeBack(browser, server.authorize(await begin(browser), person));
  return { browser, place, isIn: (await browser.send("GET", "/api/app/me")).status === 200 };
}

/** A person who is signed in connects the issuer's identity to their account. */
async function connect(cookie: string, identity: OidcPerson): Promise<string> {
  const browser = openBrowser(untrusting, { cookie });
  return await comeBack(browser, server.authorize(await begin(browser, "/api/auth/link-social"), identity));
}

const countIdentities = async ({ deps: { db } }: TestApp, userId: string) => {
  const own = db.selectFrom("user_accounts").select("id").where("user_id", "=", userId);
  return (await own.where("provider_id", "=", "oidc").execute()).length;
};

const listActions = async ({ deps: { db } }: TestApp, organizationId: OrganizationId) => {
  const own = db.selectFrom("audit_entries").select("action").where("organization_id", "=", organizationId);
  return (await own.orderBy("id").execute()).map((entry) => entry.action).sort();
};

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
  const actions = await listActions(testApp, person.organizationId);
  assert.deepEqual(actions, ["user.oidc_connected", "user.signed_in", "user.signed_in"]);
});

test("an address the issuer has not verified signs nobody in, and only true counts as verified", async () => {
  const person = await signIn(testApp, { role: "admin" });
  const lies = [false, "false", "False", "TRUE", "yes", "1", 1, 0, "", null, undefined, {}, [true], ["true"]];
  for (const email_verified of lies) {
    const claims = { ...proven(person.email), email_verified, emailVerified: true };
    const { isIn, place } = await enter(claims);
    assert.equal(isIn, false, JSON.stringify(email_verified));
    assert.equal(place, "http://localhost:3000/sign-in?error=oidc");
    assert.equal((await enter({ ...claims, email: "guest@example.com" })).place, place, "nor does it tell who has one");
  }
  assert.equal(await countIdentities(testApp, person.userId), 0);
  assert.equal((await enter({ ...proven(person.email), email_verified: "true" })).isIn, true);
});

describe("without OIDC_TRUSTED", () => {
  test("a verified address neither signs in to an existing account nor is linked to it", async () => {
    const person = await signIn(untrusting, { role: "admin" });
    const { isIn, place } = await enter(proven(person.email), untrusting);
    assert.deepEqual([isIn, place], [false, "http://localhost:3000/sign-in?error=oidc"]);
    assert.equal(await countIdentities(untrusting, person.userId), 0);
  });

  test("someone who is signed in connects single sign-on, uses it, and disconnects it", async () => {
    const person = await signIn(untrusting, { role: "admin" });
    const browser = openBrowser(untrusting, person);
    const hasOidc = async () => (await browser.send("GET", "/api/app/me")).body.user.hasOidc;
    assert.equal(await hasOidc(), false);
    assert.equal(await connect(person.cookie, proven(person.email)), "http://localhost:3000/widgets");
    assert.equal(await hasOidc(), true);
    const entered = await enter(proven(person.email), untrusting);
    assert.equal((await entered.browser.send("GET", "/api/app/me")).body.user.id, person.userId);
    assert.equal((await browser.send("DELETE", "/api/app/me/oidc")).status, 204);
    assert.equal((await enter(proven(person.email), untrusting)).isIn, false);
    const actions = await listActions(untrusting, person.organizationId);
    assert.deepEqual(actions, ["user.oidc_connected", "user.oidc_disconnected", "user.signed_in"]);
  });

  test("connecting needs a session, and an identity with the same verified address", async () => {
    const person = await signIn(untrusting, { role: "admin" });
    const begun = await openBrowser(untrusting).send("POST", "/api/auth/link-social", { callbackURL: "/widgets" });
    assert.equal(begun.status, 401);
    for (const lie of [{ email_verified: "false" }, { email_verified: false }, { email: "eve@example.com" }])
      assert.match(await connect(person.cookie, { ...proven(person.email), ...lie }), /\?error=oidc$/);
    assert.equal(await countIdentities(untrusting, person.userId), 0);
  });

  test("an identity that belongs to someone else cannot be connected", async () => {
    const [ada, eve] = [await signIn(untrusting, { role: "admin" }), await signIn(untrusting, { role: "admin" })];
    await connect(ada.cookie, proven(ada.email));
    assert.match(await connect(eve.cookie, { ...proven(ada.email), email: eve.email }), /\?error=oidc$/);
    assert.equal(await countIdentities(untrusting, eve.userId), 0);
  });

  test("someone without a password cannot disconnect their only way in", async () => {
    const person = await signIn(untrusting, { role: "admin" });
    await connect(person.cookie, proven(person.email));
    await untrusting.deps.db.deleteFrom("user_accounts").where("provider_id", "=", "credential").execute();
    const { status, body } = await openBrowser(untrusting, person).send("DELETE", "/api/app/me/oidc");
    assert.deepEqual([status, body.error.code], [409, "conflict"]);
    assert.equal(await countIdentities(untrusting, person.userId), 1);
  });
});

describe("two-factor authentication", () => {
  async function createWithTwoFactor(oidcTwoFactor: "ask" | "skip") {
    const service = await createTestApp({ ...settings, oidcTrusted: "yes", oidcTwoFactor });
    // better-auth uses the system's time.
    service.clock.set(new Date());
    const person = await signIn(service, { role: "admin" });
    const browser = openBrowser(service, person);
    const { body } = await browser.send("POST", "/api/auth/two-factor/enable", { password: person.password });
    const code = (at: number) => ({ code: toTotpCode(body.totpURI, new Date(at)) });
    assert.equal((await browser.send("POST", "/api/auth/two-factor/verify-totp", code(Date.now()))).status, 200);
    return { service, person, nextCode: () => code(Date.now() + 30_000) };
  }

  test("is asked for after single sign-on too, and then leads to the requested page", async () => {
    const { service, person, nextCode } = await createWithTwoFactor("ask");
    const { browser, isIn, place } = await enter(proven(person.email), service);
    assert.deepEqual([isIn, place], [false, "/sign-in?step=code&next=%2Fwidgets"]);
    const wrong = await browser.send("POST", "/api/auth/two-factor/verify-totp", { code: "000000" });
    assert.equal(wrong.status, 422);
    assert.equal((await browser.send("GET", "/api/app/me")).status, 401);
    assert.equal((await browser.send("POST", "/api/auth/two-factor/verify-totp", nextCode())).status, 200);
    assert.equal((await browser.send("GET", "/api/app/me")).body.user.id, person.userId);
    const actions = await listActions(service, person.organizationId);
    assert.deepEqual(actions, ["user.oidc_connected", "user.signed_in", "user.two_factor_enabled"]);
  });

  test("is left to the issuer with OIDC_TWO_FACTOR=skip", async () => {
    const { service, person } = await createWithTwoFactor("skip");
    assert.equal((await enter(proven(person.email), service)).isIn, true);
  });
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
