import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, describe, test } from "node:test";
import type { MemberRole } from "#contract/app/role.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { type BrowserResponse, openBrowser, type TestBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn, TEST_PASSWORD } from "../../../../test/support/app/sign-in.ts";
import { makeOrganization, NOON } from "../../../../test/support/builders.ts";

const testApp = await createTestApp({ rateLimitSignInPerMinute: 0 });
const { deps, clock } = testApp;

async function makeAdmin(role: MemberRole = "admin") {
  const person = await signIn(testApp, { role });
  return { ...person, browser: openBrowser(testApp, person) };
}

let count = 0;
const newEmail = () => `guest-${++count}@example.com`;

async function invite(browser: TestBrowser, email: string, role = "member"): Promise<{ token: string; id: string }> {
  const { status, body } = await browser.send("POST", "/api/app/invitations", { email, role });
  assert.equal(status, 201, JSON.stringify(body));
  const link = new URL(body.link);
  assert.equal(link.origin + link.pathname, "http://localhost:3000/invitation");
  return { token: link.searchParams.get("token") ?? "", id: body.invitation.id };
}

const accept = (browser: TestBrowser, payload: object) => browser.send("POST", "/api/app/invitations/accept", payload);
const NEW_PERSON = { name: "Guest", password: "a long password" };

describe("accepting", () => {
  test("a new person creates an account with it, is signed in and has the role", async () => {
    const admin = await makeAdmin();
    const email = newEmail();
    const { token } = await invite(admin.browser, ` ${email.toUpperCase()} `);
    const guest = openBrowser(testApp);
    const seen = await guest.send("POST", "/api/app/invitations/look-up", { token });
    assert.deepEqual(seen.body, {
      organizationName: "Lindenhof Dental",
      email,
      role: "member",
      expiresAt: new Date(NOON.getTime() + 7 * DAY_MS).toISOString(),
    });
    const { status, body } = await accept(guest, { token, ...NEW_PERSON });
    assert.deepEqual({ status, body }, { status: 200, body: { organizationId: admin.organizationId } });
    const me = (await guest.send("GET", "/api/app/me")).body;
    assert.deepEqual([me.user.email, me.current, me.organizations[0].role], [email, admin.organizationId, "member"]);
    assert.deepEqual((await admin.browser.send("GET", "/api/app/invitations")).body, { data: [] });
  });

  test("someone with an account signs in and joins", async () => {
    const [admin, person] = [await makeAdmin(), await signIn(testApp, { role: "viewer" })];
    const { token } = await invite(admin.browser, person.email, "admin");
    const anonymous = openBrowser(testApp);
    const seen = (await anonymous.send("POST", "/api/app/invitations/look-up", { token })).body;
    const known = ["organizationName", "email", "role", "expiresAt"];
    assert.deepEqual(Object.keys(seen), known, "the link doesn't tell that the address has an account");
    assert.equal((await accept(anonymous, { token })).status, 401);
    assert.equal((await accept(anonymous, { token, ...NEW_PERSON })).status, 409);
    const browser = openBrowser(testApp, person);
    assert.equal((await accept(browser, { token })).status, 200);
    const { organizations, current } = (await browser.send("GET", "/api/app/me")).body;
    assert.deepEqual([organizations.length, current], [2, admin.organizationId]);
    const attempt = { email: person.email, password: TEST_PASSWORD };
    assert.equal((await anonymous.send("POST", "/api/auth/sign-in/email", attempt)).status, 200, "the password stays");
  });

  test("renews the session of the person who joins", async () => {
    const [admin, person] = [await makeAdmin(), await signIn(testApp, { role: "viewer" })];
    const { token } = await invite(admin.browser, person.email);
    // better-auth uses the system's time.
    const nearlyOver = { expires_at: new Date(Date.now() + DAY_MS) };
    await deps.db.updateTable("user_sessions").set(nearlyOver).where("user_id", "=", person.userId).execute();
    const browser = openBrowser(testApp, person);
    assert.equal((await accept(browser, { token })).status, 200);
    assert.match(browser.lastSetCookies.join(), /^bookflow\.session_token=[^;]{20,}; Max-Age=604800;/);
  });

  test("fails for someone who is signed in with another address", async () => {
    const [admin, other] = [await makeAdmin(), await signIn(testApp, { role: "owner" })];
    const { token } = await invite(admin.browser, newEmail());
    const { status, body } = await accept(openBrowser(testApp, other), { token });
    assert.deepEqual([status, body.error.code], [403, "forbidden"]);
    assert.equal((await accept(openBrowser(testApp), { token, ...NEW_PERSON })).status, 200);
  });

  test("works once, even when tried several times at once", async () => {
    const admin = await makeAdmin();
    const { token } = await invite(admin.browser, newEmail());
    const responses = await Promise.all([1, 2, 3].map(() => accept(openBrowser(testApp), { token, ...NEW_PERSON })));
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 404, 404]);
    assert.equal((await accept(openBrowser(testApp), { token, ...NEW_PERSON })).status, 404);
  });

  test("fails after seven days, after being revoked, and with an older link", async () => {
    const admin = await makeAdmin();
    const email = newEmail();
    const old = await invite(admin.browser, email);
    const renewed = await invite(admin.browser, email, "viewer");
    assert.equal((await accept(openBrowser(testApp), { token: old.token, ...NEW_PERSON })).status, 404);
    assert.equal((await admin.browser.send("GET", "/api/app/invitations")).body.data.length, 1);
    clock.set(new Date(NOON.getTime() + 7 * DAY_MS));
    assert.equal((await accept(openBrowser(testApp), { token: renewed.token, ...NEW_PERSON })).status, 404);
    assert.equal((await admin.browser.send("GET", "/api/app/invitations")).body.data.length, 0);
    clock.set(NOON);
    const url = `/api/app/invitations/${renewed.id}`;
    assert.equal((await admin.browser.send("DELETE", url)).status, 204);
    assert.equal((await admin.browser.send("DELETE", url)).status, 404);
    assert.equal((await accept(openBrowser(testApp), { token: renewed.token, ...NEW_PERSON })).status, 404);
  });

  test("a weak password or a missing name is reported, and the link still works", async () => {
    const admin = await makeAdmin();
    const { token } = await invite(admin.browser, newEmail());
    const weak = await accept(openBrowser(testApp), { token, name: "", password: "short" });
    assert.deepEqual([weak.status, Object.keys(weak.body.error.fields)], [422, ["name", "password"]]);
    assert.equal((await accept(openBrowser(testApp), { token, ...NEW_PERSON })).status, 200);
  });
});

describe("inviting", () => {
  test("is for admins and owners, and only owners invite owners", async () => {
    const statuses = [];
    for (const [role, invited] of [
      ["owner", "owner"],
      ["admin", "admin"],
      ["admin", "owner"],
      ["member", "viewer"],
      ["viewer", "viewer"],
    ] as const) {
      const { browser } = await makeAdmin(role);
      const payload = { email: newEmail(), role: invited };
      statuses.push((await browser.send("POST", "/api/app/invitations", payload)).status);
    }
    assert.deepEqual(statuses, [201, 201, 403, 403, 403]);
  });

  test("an admin cannot revoke an owner's invitation", async () => {
    const owner = await makeAdmin("owner");
    const { id } = await invite(owner.browser, newEmail(), "owner");
    const admin = await signIn(testApp, { role: "admin", organizationId: owner.organizationId });
    assert.equal((await openBrowser(testApp, admin).send("DELETE", `/api/app/invitations/${id}`)).status, 403);
    assert.equal((await owner.browser.send("GET", "/api/app/invitations")).body.data.length, 1);
  });

  test("an admin cannot replace an owner's invitation until it has expired", async () => {
    const owner = await makeAdmin("owner");
    const email = newEmail();
    const { token } = await invite(owner.browser, email, "owner");
    const admin = openBrowser(testApp, await signIn(testApp, { role: "admin", organizationId: owner.organizationId }));
    const replace = async () => (await admin.send("POST", "/api/app/invitations", { email, role: "viewer" })).status;
    assert.equal(await replace(), 403);
    const { data } = (await owner.browser.send("GET", "/api/app/invitations")).body;
    assert.deepEqual([data.length, data[0].email, data[0].role], [1, email, "owner"]);
    const lookUp = await openBrowser(testApp).send("POST", "/api/app/invitations/look-up", { token });
    assert.equal(lookUp.status, 200, "the link still works");
    clock.set(new Date(NOON.getTime() + 7 * DAY_MS));
    assert.equal(await replace(), 201);
    clock.set(NOON);
  });

  test("an owner can replace an owner's invitation", async () => {
    const owner = await makeAdmin("owner");
    const email = newEmail();
    await invite(owner.browser, email, "owner");
    await invite(owner.browser, email, "viewer");
    const { data } = (await owner.browser.send("GET", "/api/app/invitations")).body;
    assert.deepEqual([data.length, data[0].role], [1, "viewer"]);
  });

  test("gives the same response whether or not the address has an account; only members are reported", async () => {
    const [admin, elsewhere] = [await makeAdmin(), await signIn(testApp, { role: "owner" })];
    const shape = async (email: string) => {
      const { status, body } = await admin.browser.send("POST", "/api/app/invitations", { email, role: "viewer" });
      return [status, Object.keys(body), Object.keys(body.invitation ?? {})];
    };
    assert.deepEqual(await shape(elsewhere.email), await shape(newEmail()));
    const again = await admin.browser.send("POST", "/api/app/invitations", { email: admin.email, role: "viewer" });
    assert.deepEqual([again.status, again.body.error.code], [409, "conflict"]);
  });

  test("another organization's invitations are not visible", async () => {
    const [admin, other] = [await makeAdmin(), await makeAdmin()];
    const { id } = await invite(admin.browser, newEmail());
    for (const each of [id, "inv_none", "%00"])
      assert.equal((await other.browser.send("DELETE", `/api/app/invitations/${each}`)).status, 404, each);
    assert.deepEqual((await other.browser.send("GET", "/api/app/invitations")).body, { data: [] });
  });

  test("errors are reported per field", async () => {
    const { browser } = await makeAdmin();
    const { status, body } = await browser.send("POST", "/api/app/invitations", { email: "x", role: "king" });
    assert.deepEqual([status, Object.keys(body.error.fields)], [422, ["email", "role"]]);
  });

  test("the database stores only a hash of the link, and the audit log says who was invited and who joined", async () => {
    const admin = await makeAdmin();
    const email = newEmail();
    const { token } = await invite(admin.browser, email, "viewer");
    const rows = await deps.db.selectFrom("invitations").selectAll().execute();
    assert.ok(!rows.some((row) => row.token_hash.includes(token)));
    await accept(openBrowser(testApp), { token, ...NEW_PERSON });
    const { id } = await invite(admin.browser, newEmail());
    await admin.browser.send("DELETE", `/api/app/invitations/${id}`);
    const { data } = (await admin.browser.send("GET", "/api/app/audit")).body;
    assert.deepEqual(data.map((entry: { action: string }) => entry.action).sort(), [
      "invitation.created",
      "invitation.created",
      "invitation.revoked",
      "member.added",
    ]);
  });
});

describe("a minute allows 20 invitations", () => {
  const send = (browser: TestBrowser) =>
    browser.send("POST", "/api/app/invitations", { email: newEmail(), role: "viewer" });
  const sendMany = async (browser: TestBrowser, times: number) => {
    for (let i = 0; i < times; i++) assert.equal((await send(browser)).status, 201);
  };

  test("per organization, whoever sends them", async () => {
    const [first, elsewhere] = [await makeAdmin(), await makeAdmin()];
    const { organizationId } = first;
    const second = openBrowser(testApp, await signIn(testApp, { role: "admin", organizationId }));
    await sendMany(first.browser, 10);
    await sendMany(second, 10);
    const { status, body, response } = await send(second);
    assert.deepEqual([status, body.error.code, response.headers["retry-after"]], [429, "rate_limited", "60"]);
    assert.equal((await first.browser.send("GET", "/api/app/invitations")).body.data.length, 20);
    await sendMany(elsewhere.browser, 1);
    clock.set(new Date(NOON.getTime() + MINUTE_MS));
    await sendMany(second, 1);
    clock.set(NOON);
  });

  test("per person, in all their organizations together", async () => {
    const person = await makeAdmin("owner");
    await sendMany(person.browser, 20);
    const timeZone = "Europe/Berlin";
    assert.equal(
      (await person.browser.send("POST", "/api/app/organizations", { name: "Second", timeZone })).status,
      201,
    );
    assert.deepEqual(
      (await person.browser.send("GET", "/api/app/invitations")).body.data,
      [],
      "the new organization's",
    );
    assert.equal((await send(person.browser)).status, 429);
  });
});

/** A mail server that refuses every email, after `beforeRefusal` has finished. */
async function openRefusingMailServer(beforeRefusal: () => Promise<unknown>): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write("220 mail.example\r\n");
    socket.setEncoding("utf8").on("data", async (command: string) => {
      const isRecipient = command.startsWith("RCPT");
      if (isRecipient) await beforeRefusal();
      socket.write(isRecipient ? "550 Nobody here\r\n" : "250 OK\r\n");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("an email that is refused", () => {
  let duringSend: () => Promise<unknown> = async () => undefined;
  const open = async () => {
    const smtpUrl = await openRefusingMailServer(() => duringSend());
    const mailing = await createTestApp({ smtpUrl, rateLimitSignInPerMinute: 0 });
    return { mailing, browser: openBrowser(mailing, await signIn(mailing, { role: "owner" })) };
  };
  const list = async (browser: TestBrowser) => (await browser.send("GET", "/api/app/invitations")).body.data;

  test("does not bring back an invitation that was revoked while the email was being sent", async () => {
    const { mailing, browser } = await open();
    duringSend = async () => {
      const [{ id }] = await list(browser);
      assert.equal((await browser.send("DELETE", `/api/app/invitations/${id}`)).status, 204);
    };
    const { status, body } = await browser.send("POST", "/api/app/invitations", { email: newEmail(), role: "viewer" });
    assert.deepEqual([status, body.error?.code, "link" in body], [409, "conflict", false]);
    assert.deepEqual(await list(browser), []);
    assert.deepEqual(await mailing.deps.db.selectFrom("invitations").select("id").execute(), []);
  });

  test("does not undo a newer invitation for the same address", async () => {
    const { browser } = await open();
    const email = newEmail();
    const newer: BrowserResponse[] = [];
    duringSend = async () => {
      duringSend = async () => undefined;
      newer.push(await browser.send("POST", "/api/app/invitations", { email, role: "admin" }));
    };
    const { status } = await browser.send("POST", "/api/app/invitations", { email, role: "viewer" });
    const body = newer[0]?.body;
    assert.deepEqual([status, body.mail], [409, "too_soon"]);
    assert.deepEqual(await list(browser), [body.invitation]);
    const token = new URL(body.link).searchParams.get("token");
    assert.equal((await browser.send("POST", "/api/app/invitations/look-up", { token })).body.role, "admin");
  });
});

test("an existing member keeps their role, whatever the link says", async () => {
  const admin = await makeAdmin("owner");
  const email = newEmail();
  const { token } = await invite(admin.browser, email, "owner");
  const organizationId = admin.organizationId;
  const viewer = await signIn(testApp, { role: "viewer", organizationId, email });
  assert.equal((await accept(openBrowser(testApp, viewer), { token })).status, 200);
  const me = (await openBrowser(testApp, viewer).send("GET", "/api/app/me")).body;
  assert.deepEqual([me.organizations.length, me.organizations[0].role], [1, "viewer"]);
});

test("the audit log is paged without gaps or repeats, and only admins see it", async () => {
  const admin = await makeAdmin();
  const emails = [];
  for (let i = 0; i < 7; i++) {
    emails.unshift(newEmail());
    // Some at the same instant.
    clock.set(new Date(NOON.getTime() + Math.floor(i / 3)));
    await invite(admin.browser, emails[0] ?? "");
  }
  clock.set(NOON);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const next: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await admin.browser.send("GET", `/api/app/audit?limit=2${next}`);
    seen.push(...body.data.map((entry: { target: string }) => entry.target));
    cursor = body.nextCursor;
  } while (cursor !== null);
  assert.deepEqual([...seen].sort(), [...emails].sort());
  for (const bad of ["x", "2026-11-01T12:00:00.000Z", "2026-11-01T12:00:00.000Z_x", "_"])
    assert.equal((await admin.browser.send("GET", `/api/app/audit?cursor=${bad}`)).status, 400, bad);
  const viewer = await signIn(testApp, { role: "member", organizationId: admin.organizationId });
  assert.equal((await openBrowser(testApp, viewer).send("GET", "/api/app/audit")).status, 403);
  const stranger = await signIn(testApp, { role: "owner", organizationId: await makeOrganization(deps.db) });
  assert.deepEqual((await openBrowser(testApp, stranger).send("GET", "/api/app/audit")).body.data, []);
});
