import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { openBrowser, type TestBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn, TEST_PASSWORD } from "../../../../test/support/app/sign-in.ts";
import { toTotpCode } from "../../../../test/support/app/totp.ts";

const testApp = await createTestApp({ rateLimitSignInPerMinute: 0 });
const { deps } = testApp;

const WRONG_CODE = { code: "This code is wrong or has already been used." };

// better-auth uses the system's time, both for codes and for clearing what has expired.
testApp.clock.set(new Date());
const codeNow = (uri: string) => toTotpCode(uri, new Date());
/** Each code works once, so a person who has just used one types the next. */
const nextCode = (uri: string) => toTotpCode(uri, new Date(Date.now() + 30_000));
const wrongCode = (uri: string) => String((Number(codeNow(uri)) + 1) % 1_000_000).padStart(6, "0");

async function turnOn(browser: TestBrowser): Promise<{ uri: string; codes: string[] }> {
  const { status, body } = await browser.send("POST", "/api/auth/two-factor/enable", { password: TEST_PASSWORD });
  assert.equal(status, 200);
  const confirmed = await browser.send("POST", "/api/auth/two-factor/verify-totp", { code: codeNow(body.totpURI) });
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body));
  return { uri: body.totpURI, codes: body.backupCodes };
}

async function makePerson() {
  const person = await signIn(testApp, { role: "owner" });
  return { ...person, browser: openBrowser(testApp, { cookie: person.cookie }) };
}

async function enterPassword(email: string): Promise<TestBrowser> {
  const browser = openBrowser(testApp);
  const { status, body } = await browser.send("POST", "/api/auth/sign-in/email", { email, password: TEST_PASSWORD });
  assert.deepEqual({ status, body }, { status: 200, body: { twoFactorRedirect: true, twoFactorMethods: ["totp"] } });
  assert.equal((await browser.send("GET", "/api/app/me")).status, 401, "the password alone opens nothing");
  return browser;
}

test("two-factor is on only after a code from the app has been entered", async () => {
  const { browser, email } = await makePerson();
  const wrong = await browser.send("POST", "/api/auth/two-factor/enable", { password: "not the password" });
  assert.deepEqual([wrong.status, wrong.body.error.fields], [422, { password: "Wrong password." }]);
  const { body } = await browser.send("POST", "/api/auth/two-factor/enable", { password: TEST_PASSWORD });
  assert.match(body.totpURI, /^otpauth:\/\/totp\/Bookflow/);
  assert.equal(body.backupCodes.length, 10);
  const mistyped = await browser.send("POST", "/api/auth/two-factor/verify-totp", { code: wrongCode(body.totpURI) });
  assert.deepEqual([mistyped.status, mistyped.body.error.fields], [422, WRONG_CODE]);
  const plain = await openBrowser(testApp).send("POST", "/api/auth/sign-in/email", { email, password: TEST_PASSWORD });
  assert.equal(plain.body.user.email, email);
  assert.equal((await browser.send("GET", "/api/app/me")).body.user.isTwoFactorOn, false);
});

test("signing in then needs the password and a code", async () => {
  const { browser, email, organizationId } = await makePerson();
  const { uri } = await turnOn(browser);
  assert.equal((await browser.send("GET", "/api/app/me")).body.user.isTwoFactorOn, true);
  const second = await enterPassword(email);
  const wrong = await second.send("POST", "/api/auth/two-factor/verify-totp", { code: wrongCode(uri) });
  assert.deepEqual([wrong.status, wrong.body.error.fields], [422, WRONG_CODE]);
  const right = await second.send("POST", "/api/auth/two-factor/verify-totp", { code: nextCode(uri) });
  assert.equal(right.status, 200);
  assert.equal((await second.send("GET", "/api/app/me")).body.user.email, email);
  const entries = await deps.db
    .selectFrom("audit_entries")
    .select("action")
    .where("organization_id", "=", organizationId)
    .execute();
  assert.deepEqual(entries.map((entry) => entry.action).sort(), ["user.signed_in", "user.two_factor_enabled"]);
});

test("a code works once, even when sent several times at once", async () => {
  const { browser, email } = await makePerson();
  const { uri } = await turnOn(browser);
  const code = nextCode(uri);
  const browsers = await Promise.all([1, 2, 3].map(() => enterPassword(email)));
  const responses = await Promise.all(
    browsers.map((each) => each.send("POST", "/api/auth/two-factor/verify-totp", { code })),
  );
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 422, 422]);
  for (const [i, response] of responses.entries()) {
    const isIn = (await browsers[i]?.send("GET", "/api/app/me"))?.status === 200;
    assert.equal(isIn, response.status === 200);
    if (!isIn) assert.deepEqual(response.body.error.fields, WRONG_CODE);
  }
  const late = await enterPassword(email);
  assert.equal((await late.send("POST", "/api/auth/two-factor/verify-totp", { code })).status, 422);
  const sessions = await deps.db
    .selectFrom("user_sessions")
    .innerJoin("users", "users.id", "user_sessions.user_id")
    .select("user_sessions.id")
    .where("email", "=", email)
    .execute();
  assert.equal(sessions.length, 2, "the code that turned it on, and the code that signed in");
});

test("a code from someone who is signed in and has two-factor on changes and logs nothing", async () => {
  const { browser, organizationId } = await makePerson();
  const { uri } = await turnOn(browser);
  for (const code of [nextCode(uri), nextCode(uri), codeNow(uri), wrongCode(uri)]) {
    const { status, body } = await browser.send("POST", "/api/auth/two-factor/verify-totp", { code });
    assert.deepEqual([status, body.error?.code], [409, "conflict"]);
  }
  assert.equal((await browser.send("GET", "/api/app/me")).status, 200);
  const entries = deps.db.selectFrom("audit_entries").select("action").where("organization_id", "=", organizationId);
  assert.deepEqual(await entries.execute(), [{ action: "user.two_factor_enabled" }]);
});

test("a code alone, without the password first, is refused", async () => {
  const { browser } = await makePerson();
  const { uri } = await turnOn(browser);
  const { status } = await openBrowser(testApp).send("POST", "/api/auth/two-factor/verify-totp", {
    code: codeNow(uri),
  });
  assert.equal(status, 401);
});

test("a few wrong codes send the person back to the password", async () => {
  const { browser, email } = await makePerson();
  const { uri } = await turnOn(browser);
  const second = await enterPassword(email);
  const statuses = [];
  for (let i = 0; i < 6; i++)
    statuses.push((await second.send("POST", "/api/auth/two-factor/verify-totp", { code: wrongCode(uri) })).status);
  assert.deepEqual(statuses, [422, 422, 422, 422, 422, 401]);
  assert.equal((await second.send("POST", "/api/auth/two-factor/verify-totp", { code: codeNow(uri) })).status, 401);
});

test("a recovery code works once, and new ones replace the old", async () => {
  const { browser, email } = await makePerson();
  const { codes } = await turnOn(browser);
  const [first = "", second = ""] = codes;
  const recover = async (code: string) =>
    await (await enterPassword(email)).send("POST", "/api/auth/two-factor/verify-backup-code", { code });
  assert.equal((await recover(first)).status, 200);
  assert.deepEqual((await recover(first)).body.error.fields, WRONG_CODE);
  const renewed = await browser.send("POST", "/api/auth/two-factor/generate-backup-codes", { password: TEST_PASSWORD });
  assert.equal(renewed.body.backupCodes.length, 10);
  assert.equal((await recover(second)).status, 422);
  assert.equal((await recover(renewed.body.backupCodes[0])).status, 200);
});

test("turning two-factor off needs the password; afterwards the password alone is enough", async () => {
  const { browser, email } = await makePerson();
  await turnOn(browser);
  const off = (password: string) => browser.send("POST", "/api/auth/two-factor/disable", { password });
  assert.equal((await off("not the password")).status, 422);
  assert.equal((await off(TEST_PASSWORD)).status, 200);
  assert.equal((await browser.send("GET", "/api/app/me")).body.user.isTwoFactorOn, false);
  const plain = await openBrowser(testApp).send("POST", "/api/auth/sign-in/email", { email, password: TEST_PASSWORD });
  assert.equal(plain.body.user.email, email);
});

test("the secret and the recovery codes are not readable in the database", async () => {
  const { browser, userId } = await makePerson();
  const { uri, codes } = await turnOn(browser);
  const row = await deps.db.selectFrom("user_two_factors").selectAll().where("user_id", "=", userId).execute();
  const kept = JSON.stringify(row);
  for (const secret of [new URL(uri).searchParams.get("secret") ?? "x", ...codes]) assert.ok(!kept.includes(secret));
});
