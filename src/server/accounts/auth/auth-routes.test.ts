import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { MAIL_PAUSE_MINUTES } from "#contract/limits.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { openBrowser, type TestBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn, TEST_PASSWORD } from "../../../../test/support/app/sign-in.ts";
import { NOON } from "../../../../test/support/builders.ts";
import { until } from "../../../../test/support/until.ts";
import { createUser } from "../setup/create-user.ts";
import { hashPassword } from "./password.ts";

const testApp = await createTestApp({ rateLimitSignInPerMinute: 0 });
const { app, deps, lines } = testApp;

const SIGN_IN = "/api/auth/sign-in/email";
const WRONG = { error: { code: "unauthorized", message: "Wrong email address or password." } };

/** In alphabetical order: the clock stands still. */
async function auditActions(organizationId: string): Promise<string[]> {
  const audited = deps.db.selectFrom("audit_entries").select(["action", "organization_id"]);
  const rows = await audited.orderBy("action").execute();
  return rows.filter((row) => row.organization_id === organizationId).map((row) => row.action);
}

async function whileAuditIsRefused<T>(work: () => Promise<T>): Promise<T> {
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
    deps.db,
  );
  await sql`create trigger refused before insert on audit_entries execute function refuse()`.execute(deps.db);
  try {
    return await work();
  } finally {
    await sql`drop function refuse cascade`.execute(deps.db);
  }
}

describe("signing in", () => {
  test("with the right password starts a session, and the response has no token", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const browser = openBrowser(testApp);
    const { status, body } = await browser.send("POST", SIGN_IN, { email: person.email, password: TEST_PASSWORD });
    assert.equal(status, 200);
    assert.equal(body.user.id, person.userId);
    assert.ok(!("token" in body));
    assert.equal((await browser.send("GET", "/api/app/me")).body.user.email, person.email);
    assert.deepEqual(await auditActions(person.organizationId), ["user.signed_in"]);
  });

  test("the address is case-insensitive, the password is not, and é may be one or two characters", async () => {
    const password = "caf\u00e9 on the corner";
    const passwordHash = await hashPassword(deps, password);
    await createUser(deps, { name: "É", email: "Mixed.Case@Example.com", passwordHash, isEmailProven: true });
    const attempt = async (email: string, typed: string) =>
      (await openBrowser(testApp).send("POST", SIGN_IN, { email, password: typed })).status;
    assert.equal(await attempt("mixed.case@EXAMPLE.com", password), 200);
    assert.equal(await attempt("mixed.case@example.com", "cafe\u0301 on the corner"), 200);
    assert.equal(await attempt("mixed.case@example.com", password.toUpperCase()), 401);
  });

  test("a wrong password, an unknown address and an invalid address get the same response", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const cases = [
      { email: person.email, password: "not the password" },
      { email: "nobody@example.com", password: "not the password" },
      { email: "nobody", password: "x" },
      { email: person.email, password: "x".repeat(500) },
    ];
    for (const payload of cases) {
      const browser = openBrowser(testApp);
      const { status, body } = await browser.send("POST", SIGN_IN, payload);
      assert.deepEqual({ status, body }, { status: 401, body: WRONG });
      assert.equal(browser.cookies.size, 0);
    }
  });

  test("an unknown address takes as long as a wrong password: both hash", async () => {
    // Test people's own hashes cost next to nothing.
    const passwordHash = await hashPassword(deps, TEST_PASSWORD);
    await createUser(deps, { name: "Ada", email: "known@example.com", passwordHash, isEmailProven: true });
    const time = async (email: string) => {
      const durations = [];
      for (let i = 0; i < 5; i++) {
        const startedAt = performance.now();
        await openBrowser(testApp).send("POST", SIGN_IN, { email, password: "not the password" });
        durations.push(performance.now() - startedAt);
      }
      return Math.min(...durations);
    };
    const [known, unknown] = [await time("known@example.com"), await time("nobody@example.com")];
    assert.ok(Math.max(known, unknown) < 6 * Math.min(known, unknown), `${known} ms and ${unknown} ms`);
  });

  test("a session cookie that was planted beforehand is replaced", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const browser = openBrowser(testApp, { cookie: "bookflow.session_token=planted.AAAA" });
    await browser.send("POST", SIGN_IN, { email: person.email, password: TEST_PASSWORD });
    const first = browser.cookies.get("bookflow.session_token");
    await browser.send("POST", SIGN_IN, { email: person.email, password: TEST_PASSWORD });
    const second = browser.cookies.get("bookflow.session_token");
    assert.equal(new Set(["planted.AAAA", first, second]).size, 3);
  });

  test("a malformed request is refused in our error shape", async () => {
    for (const payload of [{}, { email: 5, password: 5 }, { email: ["a"], password: {} }]) {
      const { status, body } = await openBrowser(testApp).send("POST", SIGN_IN, payload);
      assert.deepEqual(
        { status, body },
        { status: 400, body: { error: { code: "bad_request", message: "The request is malformed." } } },
      );
    }
  });

  test("no other better-auth route is reachable", async () => {
    for (const path of [
      "sign-up/email",
      "get-session",
      "list-sessions",
      "update-user",
      "delete-user",
      "change-email",
      "ok",
      "error",
      "callback/oidc",
      "verify-email",
      "list-accounts",
      "two-factor/send-otp",
      "two-factor/verify-otp",
    ])
      for (const method of ["GET", "POST"] as const)
        assert.equal((await openBrowser(testApp).send(method, `/api/auth/${path}`)).status, 404, `${method} ${path}`);
  });
});

describe("the cookie", () => {
  const attributesOf = (line: string) => {
    const [pair = "", ...attributes] = line.split("; ");
    return { name: pair.split("=")[0], attributes: attributes.sort() };
  };

  test("over http: scripts cannot read it, and other sites cannot send it", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const browser = openBrowser(testApp);
    await browser.send("POST", SIGN_IN, { email: person.email, password: TEST_PASSWORD });
    assert.deepEqual(browser.lastSetCookies.map(attributesOf), [
      { name: "bookflow.session_token", attributes: ["HttpOnly", "Max-Age=604800", "Path=/", "SameSite=Lax"] },
      { name: "bookflow.device", attributes: ["HttpOnly", "Max-Age=34560000", "Path=/", "SameSite=Lax"] },
    ]);
  });

  test("over https: also never sent over http, nor set by another host", async () => {
    const secure = await createTestApp({ baseUrl: "https://book.example" });
    const person = await signIn(secure, { role: "owner" });
    const browser = openBrowser(secure);
    await browser.send("POST", SIGN_IN, { email: person.email, password: TEST_PASSWORD });
    assert.deepEqual(browser.lastSetCookies.map(attributesOf), [
      {
        name: "__Host-bookflow.session_token",
        attributes: ["HttpOnly", "Max-Age=604800", "Path=/", "SameSite=Lax", "Secure"],
      },
      {
        name: "__Host-bookflow.device",
        attributes: ["HttpOnly", "Max-Age=34560000", "Path=/", "SameSite=Lax", "Secure"],
      },
    ]);
    assert.equal((await browser.send("GET", "/api/app/me")).status, 200);
  });

  test("expires with the browser session unless the person asked to be remembered", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const browser = openBrowser(testApp);
    await browser.send("POST", SIGN_IN, { email: person.email, password: TEST_PASSWORD, rememberMe: false });
    assert.ok(
      browser.lastSetCookies.every((line) => !/max-age|expires/i.test(line)),
      browser.lastSetCookies.join(),
    );
    assert.equal((await browser.send("GET", "/api/app/me")).status, 200);
  });

  test("signing out ends the session itself, not only the cookie", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const browser = openBrowser(testApp, { cookie: person.cookie });
    assert.equal((await browser.send("POST", "/api/auth/sign-out", {})).status, 200);
    assert.equal(browser.cookies.size, 0);
    assert.equal((await openBrowser(testApp, { cookie: person.cookie }).send("GET", "/api/app/me")).status, 401);
  });
});

describe("a forgotten password", () => {
  // better-auth deletes what has expired by the system's time.
  before(() => testApp.clock.set(new Date()));
  const listLinks = () =>
    lines
      .map((line) => JSON.parse(line))
      .flatMap(({ name, link }) => (name === "mail.not_sent" ? [new URL(link)] : []));
  /** The link is sent after the response. */
  const askForLink = async (email: string) => {
    const before = listLinks().length;
    assert.equal((await request(email)).statusCode, 200);
    while (listLinks().length === before) await setImmediate();
    const link = listLinks()[before] as URL;
    return { link, token: link.searchParams.get("token") };
  };
  const request = async (email: string) =>
    (await openBrowser(testApp).send("POST", "/api/auth/request-password-reset", { email })).response;
  const letMailPauseEnd = () =>
    testApp.clock.set(new Date(testApp.clock.now().getTime() + MAIL_PAUSE_MINUTES * MINUTE_MS));
  const reset = async (token: string | null, newPassword: string) =>
    await openBrowser(testApp).send("POST", "/api/auth/reset-password", { token, newPassword });

  test("is reset by a link that works once and ends every session", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const { link, token } = await askForLink(person.email.toUpperCase());
    assert.equal(link.origin + link.pathname, "http://localhost:3000/reset-password");
    assert.equal((await reset(token, "short")).body.error.fields.newPassword, "Use at least 10 characters.");
    assert.equal((await reset(token, "a new password")).status, 200);
    assert.equal((await openBrowser(testApp, { cookie: person.cookie }).send("GET", "/api/app/me")).status, 401);
    const attempt = async (password: string) =>
      (await openBrowser(testApp).send("POST", SIGN_IN, { email: person.email, password })).status;
    assert.deepEqual([await attempt(TEST_PASSWORD), await attempt("a new password")], [401, 200]);
    const again = await reset(token, "another password");
    assert.deepEqual([again.status, again.body.error.code], [404, "not_found"]);
    assert.deepEqual(await auditActions(person.organizationId), ["user.password_reset", "user.signed_in"]);
  });

  test("ends every session even if the audit log cannot be written", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const { token } = await askForLink(person.email);
    const { status } = await whileAuditIsRefused(() => reset(token, "a new password"));
    assert.equal((await openBrowser(testApp, { cookie: person.cookie }).send("GET", "/api/app/me")).status, 401);
    assert.equal(status, 200);
    assert.ok(lines.some((line) => line.includes("accounts.reset_not_audited")));
  });

  test("requests by a stranger send one email in five minutes, and invalidate no link", async () => {
    const [person, other] = [await signIn(testApp, { role: "owner" }), await signIn(testApp, { role: "owner" })];
    const before = listLinks().length;
    const first = await askForLink(person.email);
    await Promise.all(Array.from({ length: 10 }, () => request(person.email.toUpperCase())));
    // Whatever those send would come before this link.
    await askForLink(other.email);
    assert.equal(listLinks().length, before + 2);
    letMailPauseEnd();
    const second = await askForLink(person.email);
    assert.equal((await reset(first.token, "a new password")).status, 200);
    assert.equal((await reset(second.token, "another password")).status, 404, "one link was used");
  });

  test("an email that could not be sent is no reason to wait for the next", async () => {
    const mailing = await createTestApp({ rateLimitSignInPerMinute: 0, smtpUrl: "smtp://127.0.0.1:1" });
    mailing.clock.set(new Date());
    const { email } = await signIn(mailing, { role: "owner" });
    const countFailures = async () =>
      Number(/mails_total{outcome="failed"} (\d+)/.exec(await mailing.deps.metrics.read())?.[1]);
    for (const attempt of [1, 2]) {
      await openBrowser(mailing).send("POST", "/api/auth/request-password-reset", { email });
      await until(async () => (await countFailures()) === attempt, "the mail server was asked");
      const turns = mailing.deps.db.selectFrom("user_verifications").select("id").where("id", "like", "mail:%");
      await until(async () => (await turns.execute()).length === 0, "the next request may send");
    }
  });

  test("changing the password invalidates every link", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const { token } = await askForLink(person.email);
    const browser = openBrowser(testApp, { cookie: person.cookie });
    const change = { currentPassword: TEST_PASSWORD, newPassword: "a changed password" };
    assert.equal((await browser.send("POST", "/api/auth/change-password", change)).status, 200);
    assert.equal((await reset(token, "a new password")).status, 404);
    letMailPauseEnd();
    const { token: later } = await askForLink(person.email);
    assert.equal((await reset(later, "a new password")).status, 200);
  });

  test("requesting a link does not interrupt someone who is entering their second factor", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const row = { identifier: "a code of another kind", value: person.userId, id: `v_${person.userId}` };
    const times = { expires_at: new Date(Date.now() + MINUTE_MS), created_at: NOON, updated_at: NOON };
    await deps.db
      .insertInto("user_verifications")
      .values({ ...row, ...times })
      .execute();
    await askForLink(person.email);
    const kept = deps.db.selectFrom("user_verifications").select("id").where("id", "=", row.id);
    assert.ok(await kept.executeTakeFirst());
  });

  test("a link expires after 30 minutes", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const { token } = await askForLink(person.email);
    const { expires_at: expiresAt } = await deps.db
      .selectFrom("user_verifications")
      .select("expires_at")
      .where("value", "=", person.userId)
      .executeTakeFirstOrThrow();
    const minutes = (expiresAt.getTime() - Date.now()) / MINUTE_MS;
    assert.ok(minutes > 29 && minutes <= 30, String(minutes));
    const past = new Date(Date.now() - 1);
    await deps.db
      .updateTable("user_verifications")
      .set({ expires_at: past })
      .where("value", "=", person.userId)
      .execute();
    assert.equal((await reset(token, "a new password")).status, 404);
  });

  test("a request for an unknown address gets the same response and writes nothing", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const before = listLinks().length;
    const unknown = await request("nobody@example.com");
    // Whatever that one sends would come before this link.
    const known = await request(person.email);
    while (listLinks().length === before) await setImmediate();
    assert.deepEqual([unknown.statusCode, unknown.body], [known.statusCode, known.body]);
    assert.equal(listLinks().length, before + 1);
  });

  test("the database holds only a hash of the link", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const { token } = await askForLink(person.email);
    assert.ok(token);
    const rows = await deps.db.selectFrom("user_verifications").selectAll().execute();
    assert.ok(!JSON.stringify(rows).includes(token));
  });
});

describe("changing the password", () => {
  test("needs the current password, ends the other sessions and renews this one", async () => {
    const person = await signIn(testApp, { role: "owner" });
    const browser = openBrowser(testApp);
    await browser.send("POST", SIGN_IN, { email: person.email, password: TEST_PASSWORD });
    const change = (payload: object) => browser.send("POST", "/api/auth/change-password", payload);
    const wrong = await change({ currentPassword: "not the password", newPassword: "a new password" });
    assert.deepEqual([wrong.status, wrong.body.error.fields], [422, { currentPassword: "Wrong password." }]);
    const short = await change({ currentPassword: TEST_PASSWORD, newPassword: "short" });
    assert.deepEqual([short.status, short.body.error.fields], [422, { newPassword: "Use at least 10 characters." }]);
    const payload = { currentPassword: TEST_PASSWORD, newPassword: "a new password", revokeOtherSessions: false };
    assert.equal((await change(payload)).status, 200);
    assert.equal((await browser.send("GET", "/api/app/me")).status, 200);
    assert.equal((await openBrowser(testApp, { cookie: person.cookie }).send("GET", "/api/app/me")).status, 401);
    assert.deepEqual(await auditActions(person.organizationId), ["user.password_changed", "user.signed_in"]);
  });

  test("does not sign the person out if the audit log cannot be written", async () => {
    const { cookie } = await signIn(testApp, { role: "owner" });
    const browser = openBrowser(testApp, { cookie });
    const payload = { currentPassword: TEST_PASSWORD, newPassword: "a new password" };
    const change = () => browser.send("POST", "/api/auth/change-password", payload);
    assert.equal((await whileAuditIsRefused(change)).status, 500);
    assert.equal((await browser.send("GET", "/api/app/me")).status, 200);
  });

  test("forwards a renewed cookie even if it fails", async () => {
    const { cookie, userId } = await signIn(testApp, { role: "owner" });
    // better-auth uses the system's time.
    const nearlyOver = { expires_at: new Date(Date.now() + DAY_MS) };
    await deps.db.updateTable("user_sessions").set(nearlyOver).where("user_id", "=", userId).execute();
    const browser = openBrowser(testApp, { cookie });
    const change = (currentPassword: string) =>
      browser.send("POST", "/api/auth/change-password", { currentPassword, newPassword: "a new password" });
    assert.equal((await change("not the password")).status, 422);
    assert.match(browser.lastSetCookies.join(), /^bookflow\.session_token=[^;]{20,}; Max-Age=604800;/);
    await deps.db.updateTable("user_sessions").set(nearlyOver).where("user_id", "=", userId).execute();
    assert.equal((await change(TEST_PASSWORD)).status, 200);
    assert.equal((await browser.send("GET", "/api/app/me")).status, 200, "the cookie of the new session counts");
  });

  test("needs a session", async () => {
    const payload = { currentPassword: TEST_PASSWORD, newPassword: "a new password" };
    assert.equal((await openBrowser(testApp).send("POST", "/api/auth/change-password", payload)).status, 401);
  });
});

describe("attempts are throttled", () => {
  const createThrottled = async () => {
    const throttled = await createTestApp({ rateLimitSignInPerMinute: 6 });
    const person = await signIn(throttled, { role: "owner" });
    const attempt = async (remoteAddress: string, password: string, cookie = "") =>
      await openBrowser(throttled, { remoteAddress, cookie }).send("POST", SIGN_IN, { email: person.email, password });
    const fail = async (times: number, remoteAddress: string, cookie = "") => {
      for (let i = 0; i < times; i++) await attempt(remoteAddress, "a wrong password", cookie);
    };
    return { throttled, attempt, fail };
  };

  test("ten wrong sign-ins by a stranger do not lock the right person out", async () => {
    const { attempt, fail } = await createThrottled();
    await fail(10, "192.0.2.66");
    assert.equal((await attempt("192.0.2.66", TEST_PASSWORD)).status, 429);
    assert.equal((await attempt("192.0.2.1", TEST_PASSWORD)).status, 200);
  });

  test("guesses from many networks are limited together, and a known device still gets in", async () => {
    const { throttled, attempt, fail } = await createThrottled();
    const browser = openBrowser(throttled, { remoteAddress: "192.0.2.1" });
    const email = (await throttled.deps.db.selectFrom("users").select("email").executeTakeFirstOrThrow()).email;
    await browser.send("POST", SIGN_IN, { email, password: TEST_PASSWORD });
    const device = `bookflow.device=${browser.cookies.get("bookflow.device")}`;
    for (let i = 0; i < 40; i++) await fail(1, `192.0.2.${100 + i}`);
    assert.equal((await attempt("192.0.2.200", TEST_PASSWORD)).status, 429);
    assert.equal((await attempt("192.0.2.1", TEST_PASSWORD, device)).status, 200);
  });

  test("a known device has its own limit, and a forged device cookie counts as a stranger", async () => {
    const { throttled, attempt, fail } = await createThrottled();
    const email = (await throttled.deps.db.selectFrom("users").select("email").executeTakeFirstOrThrow()).email;
    const browser = openBrowser(throttled, { remoteAddress: "192.0.2.1" });
    await browser.send("POST", SIGN_IN, { email, password: TEST_PASSWORD });
    const known = browser.cookies.get("bookflow.device") ?? "";
    assert.match(known, /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
    await fail(10, "192.0.2.2", `bookflow.device=${known}`);
    assert.equal((await attempt("192.0.2.3", TEST_PASSWORD, `bookflow.device=${known}`)).status, 429);
    await fail(10, "192.0.2.66");
    const [id, account] = known.split(".");
    for (const forged of [`x${known}`, `${id}.${account}.AAAA`, `${id}.${account}`, "", "..", "x".repeat(5_000)])
      assert.equal((await attempt("192.0.2.66", TEST_PASSWORD, `bookflow.device=${forged}`)).status, 429, forged);
  });

  test("a stranger who tries codes does not keep a known device on the same network from entering its code", async () => {
    const throttled = await createTestApp({ rateLimitSignInPerMinute: 6 });
    const { email } = await signIn(throttled, { role: "owner" });
    const CODE = "/api/auth/two-factor/verify-totp";
    const known = openBrowser(throttled);
    assert.equal((await known.send("POST", SIGN_IN, { email, password: TEST_PASSWORD })).status, 200);
    await known.send("POST", "/api/auth/sign-out", {});
    const tryCodes = async (browser: TestBrowser) => {
      const statuses = [];
      for (let i = 0; i < 7; i++) statuses.push((await browser.send("POST", CODE, { code: "000000" })).status);
      return statuses;
    };
    const attempts = await tryCodes(openBrowser(throttled));
    assert.ok(attempts.includes(429), attempts.join());
    assert.equal(
      (await known.send("POST", CODE, { code: "000000" })).status,
      401,
      "it is asked for the password first",
    );
    assert.deepEqual((await tryCodes(known)).slice(-1), [429], "its own attempts are limited too");
    const forged = openBrowser(throttled, { cookie: `bookflow.device=${known.cookies.get("bookflow.device")}A` });
    assert.equal((await forged.send("POST", CODE, { code: "000000" })).status, 429);
  });

  test("attempts are limited per network, and per account and network", async () => {
    const throttled = await createTestApp({ rateLimitSignInPerMinute: 6 });
    const attempt = async (email: string, remoteAddress: string) =>
      (await openBrowser(throttled, { remoteAddress }).send("POST", SIGN_IN, { email, password: "x" })).status;
    const fromOne = [];
    for (let i = 0; i < 7; i++) fromOne.push(await attempt(`nobody-${i}@example.com`, "192.0.2.1"));
    assert.deepEqual(fromOne, [401, 401, 401, 401, 401, 401, 429]);
    const atOne = [];
    for (let i = 0; i < 3; i++) atOne.push(await attempt("Someone@example.com", "192.0.2.10"));
    assert.deepEqual(atOne, [401, 401, 429]);
    assert.equal(await attempt("other@example.com", "192.0.2.20"), 401);
    throttled.clock.set(new Date(NOON.getTime() + MINUTE_MS));
    assert.equal(await attempt("someone@example.com", "192.0.2.1"), 401);
  });
});

test("no password, token, IP address or user agent is logged or stored", async () => {
  const person = await signIn(testApp, { role: "owner" });
  const browser = openBrowser(testApp, {
    userAgent: "Mozilla/5.0 Secret-Agent/7 (Macintosh) Safari/1",
    remoteAddress: "198.51.100.77",
  });
  await browser.send("POST", SIGN_IN, { email: person.email, password: TEST_PASSWORD });
  await browser.send("POST", SIGN_IN, { email: person.email, password: "a wrong password" });
  const kept = JSON.stringify([
    lines,
    await deps.db.selectFrom("user_sessions").selectAll().execute(),
    await deps.db.selectFrom("user_accounts").selectAll().execute(),
    await deps.db.selectFrom("audit_entries").selectAll().execute(),
  ]);
  for (const secret of [TEST_PASSWORD, "a wrong password", "Secret-Agent", "198.51.100.77"])
    assert.ok(!kept.includes(secret), secret);
  assert.ok(kept.includes("Safari on macOS"));
  assert.ok(!lines.join("").includes(person.email));
  assert.ok(app.hasRoute({ method: "POST", url: SIGN_IN }));
});

test("when the database fails, the caller gets a plain 500 and the log gets the cause", async () => {
  const broken = await createTestApp();
  await broken.deps.db.schema.alterTable("users").renameTo("hidden").execute();
  const { status, body } = await openBrowser(broken).send("POST", SIGN_IN, { email: "a@example.com", password: "x" });
  const message = "Something went wrong in Bookflow. Try again.";
  assert.deepEqual({ status, body }, { status: 500, body: { error: { code: "internal", message } } });
  assert.ok(broken.lines.some((line) => line.includes("request.failed")));
  assert.ok(!broken.lines.join("").includes("a@example.com"));
});
