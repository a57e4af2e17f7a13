import assert from "node:assert/strict";
import { test } from "node:test";
import { MINUTE_MS } from "#contract/durations.ts";
import { MAIL_PAUSE_MINUTES, SIGN_UP_LINK_MINUTES } from "#contract/limits.ts";
import { createTestApp, type TestApp } from "../../../../test/support/app/app.ts";
import { openBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { openMailServer, toMailText } from "../../../../test/support/programs/mail-server.ts";
import { until } from "../../../../test/support/until.ts";

const mailServer = await openMailServer();
const testApp = await createTestApp({ signUp: "open", smtpUrl: mailServer.url, rateLimitSignInPerMinute: 0 });
// better-auth deletes what has expired by the system's time.
testApp.clock.set(new Date());
const { db } = testApp.deps;
const ABOUT = { name: "Ada Winter", password: "a long password" };

const ask = async (email: string, service = testApp) =>
  await openBrowser(service).send("POST", "/api/app/sign-up/link", { email });
const complete = async (token: string, change: object = {}) => {
  const browser = openBrowser(testApp);
  return { browser, ...(await browser.send("POST", "/api/app/sign-up", { token, ...ABOUT, ...change })) };
};
const listMails = (email: string) => mailServer.mails.map(toMailText).filter((mail) => mail.includes(`To: ${email}\r`));
/** Emails are sent after the response. */
const waitForMail = async (email: string, count = 1) => {
  await until(() => listMails(email).length >= count, "the email is sent");
  return listMails(email).at(-1) ?? "";
};
const readToken = (mail: string) => /http:\/\/localhost:3000\/sign-up\?token=(\w+)&email=/.exec(mail)?.[1] ?? "";
const askForToken = async (email: string, count = 1) => {
  assert.equal((await ask(email)).status, 204);
  return readToken(await waitForMail(email, count));
};
const moveOn = (minutes: number, { clock }: TestApp = testApp) =>
  clock.set(new Date(clock.now().getTime() + minutes * MINUTE_MS));
const findUser = async (email: string) =>
  await db.selectFrom("users").select(["name", "email_verified"]).where("email", "=", email).executeTakeFirst();

test("nobody has an account before the link that was sent to the address is used", async () => {
  const token = await askForToken("ada@example.com");
  assert.equal(await findUser("ada@example.com"), undefined);
  const { status, browser } = await complete(token, { email: "eve@example.com" });
  assert.equal(status, 204);
  assert.deepEqual(await findUser("ada@example.com"), { name: "Ada Winter", email_verified: true });
  const me = (await browser.send("GET", "/api/app/me")).body;
  assert.deepEqual([me.user.email, me.canCreateOrganization], ["ada@example.com", true]);
  assert.equal((await complete(token)).status, 404, "the link works once");
});

test("an address that has an account gets the same response, and an email without a token", async () => {
  const { email } = await signIn(testApp, { role: "owner" });
  const [known, unknown] = [await ask(email), await ask("nobody@example.com")];
  assert.deepEqual([known.status, known.response.body], [unknown.status, unknown.response.body]);
  const mail = await waitForMail(email);
  assert.match(mail, /^Subject: You already have an account\r$/m);
  assert.doesNotMatch(mail, /token=/);
});

test("requests by a stranger send one email in five minutes, and invalidate no link", async () => {
  const first = await askForToken("mara@example.com");
  await Promise.all(Array.from({ length: 10 }, () => ask("MARA@example.com")));
  // Whatever those send would come before this email.
  await askForToken("other@example.com");
  assert.equal(listMails("mara@example.com").length, 1);
  moveOn(MAIL_PAUSE_MINUTES);
  const second = await askForToken("mara@example.com", 2);
  assert.notEqual(second, first);
  assert.equal((await complete(first)).status, 204);
  assert.equal((await complete(second)).status, 409, "the address has an account now");
});

test("a link that is made up or has expired creates nothing", async () => {
  const token = await askForToken("late@example.com");
  for (const madeUp of ["", "x", token.toLowerCase(), `${token}x`]) assert.equal((await complete(madeUp)).status, 404);
  moveOn(SIGN_UP_LINK_MINUTES);
  assert.equal((await complete(token)).status, 404);
  assert.equal(await findUser("late@example.com"), undefined);
});

test("faults are reported by field and leave the link valid, and a name is cleaned up", async () => {
  const token = await askForToken("faulty@example.com");
  const { status, body } = await complete(token, { name: " ", password: "short" });
  const fields = { name: "Enter a name.", password: "Use at least 10 characters." };
  assert.deepEqual([status, body.error.fields], [422, fields]);
  assert.equal((await complete(token, { name: " Ada\u0000\nWinter " })).status, 204);
  assert.equal((await findUser("faulty@example.com"))?.name, "Ada Winter");
  assert.equal((await ask("not an address")).body.error.fields.email, "This is not an email address.");
});

test("the database holds only a hash of the link", async () => {
  const token = await askForToken("hashed@example.com");
  const rows = await db.selectFrom("user_verifications").selectAll().execute();
  assert.ok(token.length > 40 && !JSON.stringify(rows).includes(token));
});

test("an address that was never proven invites nobody by email until a link to it was used", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  await db.updateTable("users").set({ email_verified: false }).where("id", "=", owner.userId).execute();
  const invite = async (cookie: string) => {
    const payload = { email: "guest@example.com", role: "member" };
    return await openBrowser(testApp, { cookie }).send("POST", "/api/app/invitations", payload);
  };
  const refused = await invite(owner.cookie);
  assert.deepEqual([refused.status, refused.body.error.code], [403, "forbidden"]);
  assert.deepEqual(listMails("guest@example.com"), []);

  const browser = openBrowser(testApp);
  await browser.send("POST", "/api/auth/request-password-reset", { email: owner.email });
  const token = /reset-password\?token=(\w+)/.exec(await waitForMail(owner.email))?.[1];
  const newPassword = "a proven password";
  assert.equal((await browser.send("POST", "/api/auth/reset-password", { token, newPassword })).status, 200);
  await browser.send("POST", "/api/auth/sign-in/email", { email: owner.email, password: newPassword });
  const cookie = `bookflow.session_token=${browser.cookies.get("bookflow.session_token")}`;
  assert.equal((await invite(cookie)).status, 201);
});

test("a person who invites an address again within five minutes gets the link instead of sending a second email", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const invite = async (cookie: string) => {
    const payload = { email: "twice@example.com", role: "member" };
    return (await openBrowser(testApp, { cookie }).send("POST", "/api/app/invitations", payload)).body;
  };
  assert.equal((await invite(owner.cookie)).mail, "sent");
  const { mail, link } = await invite(owner.cookie);
  assert.deepEqual([mail, new URL(link).pathname], ["too_soon", "/invitation"]);
  assert.equal((await invite((await signIn(testApp, { role: "owner" })).cookie)).mail, "sent", "someone else's turn");
  assert.equal(listMails("twice@example.com").length, 2);
  moveOn(MAIL_PAUSE_MINUTES);
  assert.equal((await invite(owner.cookie)).mail, "sent");
});

test("an organization's name is not in the subject of an invitation", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const browser = openBrowser(testApp, owner);
  await browser.send("PATCH", "/api/app/organization", { name: "You won! Call 555-0100" });
  await browser.send("POST", "/api/app/invitations", { email: "winner@example.com", role: "member" });
  const headers = (await waitForMail("winner@example.com")).split("\r\n\r\n")[0] ?? "";
  assert.match(headers, /^Subject: You have been invited to Bookflow\r$/m);
  assert.doesNotMatch(headers, /won/i);
});

test("is refused when closed", async () => {
  const closed = await createTestApp();
  const message = "Sign-up is closed. Ask for an invitation.";
  for (const [path, payload] of [
    ["/api/app/sign-up/link", { email: "ada@example.com" }],
    ["/api/app/sign-up", { token: "x", ...ABOUT }],
  ] as const) {
    const { status, body } = await openBrowser(closed).send("POST", path, payload);
    assert.deepEqual({ status, body }, { status: 403, body: { error: { code: "forbidden", message } } });
  }
});

test("requests are throttled per network, and per address", async () => {
  const throttled = await createTestApp({ signUp: "open", rateLimitSignInPerMinute: 6 });
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await ask("ada@example.com", throttled)).status);
  assert.deepEqual(statuses, [204, 204, 429]);
});
