import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp, type TestApp } from "../../../../test/support/app/app.ts";
import { openBrowser } from "../../../../test/support/app/browser-session.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeSetupLink } from "./setup.ts";

const ABOUT = {
  name: "Ada Winter",
  email: "Ada@Example.com",
  password: "a long password",
  organizationName: "Lindenhof Dental",
  timeZone: "europe/berlin",
};

async function makeToken({ deps }: TestApp): Promise<string> {
  const link = new URL((await makeSetupLink(deps, "https://book.example")) ?? "x:");
  assert.equal(link.origin + link.pathname, "https://book.example/setup");
  return link.searchParams.get("token") ?? "";
}

const options = async (testApp: TestApp) => (await openBrowser(testApp).send("GET", "/api/app/sign-in-options")).body;

test("setup creates the owner and the organization, and signs the owner in", async () => {
  const testApp = await createTestApp({ defaultPlan: "pro" });
  const token = await makeToken(testApp);
  const shown = { isSignUpOpen: false, hasOidc: false, defaultPlan: "pro" };
  assert.deepEqual(await options(testApp), { isSetUpNeeded: true, ...shown });
  const browser = openBrowser(testApp);
  const { status, body } = await browser.send("POST", "/api/app/setup", { token, ...ABOUT });
  assert.equal(status, 201);
  const me = await browser.send("GET", "/api/app/me");
  assert.deepEqual(me.body, {
    user: {
      id: me.body.user.id,
      name: "Ada Winter",
      email: "ada@example.com",
      isTwoFactorOn: false,
      hasPassword: true,
      hasOidc: false,
    },
    organizations: [{ id: body.id, name: "Lindenhof Dental", role: "owner", plan: "pro" }],
    current: body.id,
    canCreateOrganization: true,
  });
  assert.equal((await browser.send("GET", "/api/app/organization")).body.timeZone, "Europe/Berlin");
  assert.deepEqual(await options(testApp), { isSetUpNeeded: false, ...shown });
  const audit = await browser.send("GET", "/api/app/audit");
  assert.deepEqual(
    audit.body.data.map((entry: { action: string }) => entry.action),
    ["organization.created"],
  );
});

test("the first owner chooses the plan, which is Business unless DEFAULT_PLAN says otherwise", async () => {
  const planAfter = async (settings: { defaultPlan?: "free" }, choice: object) => {
    const testApp = await createTestApp(settings);
    const token = await makeToken(testApp);
    const browser = openBrowser(testApp);
    assert.equal((await browser.send("POST", "/api/app/setup", { token, ...ABOUT, ...choice })).status, 201);
    return (await browser.send("GET", "/api/app/organization")).body.plan.id;
  };
  assert.equal(await planAfter({}, {}), "business");
  assert.equal(await planAfter({ defaultPlan: "free" }, {}), "free");
  assert.equal(await planAfter({ defaultPlan: "free" }, { plan: "pro" }), "pro");
});

test("setup with an unknown plan creates nothing", async () => {
  const testApp = await createTestApp();
  const token = await makeToken(testApp);
  const { status } = await openBrowser(testApp).send("POST", "/api/app/setup", { token, ...ABOUT, plan: "gold" });
  assert.equal(status, 422);
  assert.equal((await options(testApp)).isSetUpNeeded, true);
});

test("the link works once, and no more links are created", async () => {
  const testApp = await createTestApp();
  const [first, second] = [await makeToken(testApp), await makeToken(testApp)];
  assert.equal((await openBrowser(testApp).send("POST", "/api/app/setup", { token: second, ...ABOUT })).status, 201);
  for (const token of [first, second]) {
    const again = { token, ...ABOUT, email: "eve@example.com" };
    const { status, body } = await openBrowser(testApp).send("POST", "/api/app/setup", again);
    assert.deepEqual([status, body.error.code], [409, "conflict"]);
  }
  assert.equal(await makeSetupLink(testApp.deps, "https://book.example"), null);
});

test("a made-up link creates nothing, and the printed one still works", async () => {
  const testApp = await createTestApp();
  const token = await makeToken(testApp);
  for (const madeUp of ["", "x", token.toLowerCase(), `${token}x`]) {
    const { status } = await openBrowser(testApp).send("POST", "/api/app/setup", { token: madeUp, ...ABOUT });
    assert.equal(status, 404);
  }
  assert.equal((await openBrowser(testApp).send("POST", "/api/app/setup", { token, ...ABOUT })).status, 201);
});

test("when many people use one or several links at once, one wins and the others leave nothing behind", async () => {
  const testApp = await createTestApp();
  const tokens = [await makeToken(testApp), await makeToken(testApp)];
  const responses = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      openBrowser(testApp).send("POST", "/api/app/setup", {
        token: tokens[i % 2] ?? "",
        ...ABOUT,
        email: `person-${i}@example.com`,
      }),
    ),
  );
  assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 409, 409, 409, 409, 409, 409, 409]);
  const count = async (table: "users" | "organizations" | "members") =>
    (await testApp.deps.db.selectFrom(table).selectAll().execute()).length;
  assert.deepEqual([await count("users"), await count("organizations"), await count("members")], [1, 1, 1]);
});

test("all errors are reported per field, and nothing is created", async () => {
  const testApp = await createTestApp();
  const token = await makeToken(testApp);
  const faulty = { token, name: " ", email: "ada", password: "short", organizationName: "", timeZone: "Mars/Base" };
  const { status, body } = await openBrowser(testApp).send("POST", "/api/app/setup", faulty);
  assert.equal(status, 422);
  assert.deepEqual(body.error.fields, {
    name: "Enter a name.",
    email: "This is not an email address.",
    password: "Use at least 10 characters.",
    organizationName: "Enter a name.",
    timeZone: "Choose a time zone, for example Europe/Berlin.",
  });
  assert.equal((await options(testApp)).isSetUpNeeded, true);
});

test("a user created on the command line ends setup too", async () => {
  const testApp = await createTestApp();
  const token = await makeToken(testApp);
  await signIn(testApp, { role: "owner" });
  assert.equal((await openBrowser(testApp).send("POST", "/api/app/setup", { token, ...ABOUT })).status, 409);
});

test("the link's token is not in the database", async () => {
  const testApp = await createTestApp();
  const token = await makeToken(testApp);
  const rows = await testApp.deps.db.selectFrom("setup_links").selectAll().execute();
  assert.ok(!rows.some((row) => row.token_hash.toString("utf8").includes(token)));
  assert.equal(rows.length, 1);
});
