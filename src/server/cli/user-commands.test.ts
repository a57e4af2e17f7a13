import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId } from "#contract/ids.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { openBrowser } from "../../../test/support/app/browser-session.ts";
import { createCommandLine } from "../../../test/support/app/cli.ts";
import { makeOrganization } from "../../../test/support/builders.ts";

const testApp = await createTestApp({ rateLimitSignInPerMinute: 0 });
const { deps, url } = testApp;
const cli = createCommandLine({ DATABASE_URL: url });
const organization = await makeOrganization(deps.db, { name: "Lindenhof" });

const create = (...args: string[]) => ["user", "create", "--org", organization, ...args];

async function enter(email: string, password: string) {
  const browser = openBrowser(testApp);
  const { status } = await browser.send("POST", "/api/auth/sign-in/email", { email, password });
  return { status, me: status === 200 ? (await browser.send("GET", "/api/app/me")).body : null };
}

test("a user created on the command line can sign in, and is an owner by default", async () => {
  const args = create("--email", "Ada@Example.com", "--password", "a long password");
  const { code, stdout, stderr } = await cli.runInside(args);
  const id = /usr_\w{16}/.exec(stdout)?.[0] ?? "";
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 0, stdout: `Created ${id}  ada@example.com, owner of Lindenhof.\n`, stderr: "" },
  );
  const { me } = await enter("ada@example.com", "a long password");
  assert.deepEqual(
    [me.user.id, me.user.name, me.organizations],
    [id, "ada", [{ id: organization, name: "Lindenhof", role: "owner", plan: "business" }]],
  );
});

test("user create takes a role, a name, and the password from standard input", async () => {
  const args = create(
    "--email",
    "eve@example.com",
    "--password",
    "-",
    "--role",
    "viewer",
    "--name",
    "Eve M.",
    "--json",
  );
  const { code, stdout, stderr } = await cli.run(args, { input: "from standard input\n" });
  assert.deepEqual([code, stderr], [0, ""]);
  const made = JSON.parse(stdout);
  assert.deepEqual(made, { id: made.id, email: "eve@example.com", role: "viewer" });
  const { me } = await enter("eve@example.com", "from standard input");
  assert.deepEqual([me.user.name, me.organizations[0].role], ["Eve M.", "viewer"]);
});

test("the audit log records the operator's action, without a name", async () => {
  const run = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await cli.runInside([...args, "--json"]);
    return stdout ? JSON.parse(stdout).id : assert.fail(stderr);
  };
  const id = await run("org", "create", "--name", "Elm Clinic", "--plan", "business");
  const email = "elm@example.com";
  await run("user", "create", "--org", id, "--email", email, "--password", "a long password");
  const widget = await run("widget", "create", "--org", id, "--name", "Website");
  await run("widget", "set", widget, "--collect-data", "on", "--name", "Front page");
  const key = await run("key", "create", "--org", id, "--name", "Warehouse");
  await run("key", "revoke", key);
  // Repeating it changes nothing.
  await run("key", "revoke", key);
  const endpoint = await run(
    "endpoint",
    "add",
    "--org",
    id,
    "--url",
    "https://93.184.215.14/hooks",
    "--kind",
    "webhook",
  );
  await run("endpoint", "test", endpoint);
  await run("endpoint", "delete", endpoint);
  await run("org", "set", id, "--name", "Elm Practice");
  const rows = await deps.db
    .selectFrom("audit_entries")
    .select(["action", "target", "user_id", "detail"])
    .where("organization_id", "=", id as OrganizationId)
    .execute();
  const entries = [
    ["api_key.created", key, "Warehouse"],
    ["api_key.revoked", key, "Warehouse"],
    ["endpoint.added", endpoint, "93.184.215.14"],
    ["endpoint.removed", endpoint, "93.184.215.14"],
    ["endpoint.tested", endpoint, "93.184.215.14"],
    ["member.added", email, undefined],
    ["organization.changed", id, "Elm Practice", "Elm Clinic"],
    ["organization.created", id, "Elm Clinic"],
    ["widget.changed", widget, "Front page", "Website"],
    ["widget.created", widget, "Website"],
  ];
  assert.deepEqual(
    rows
      .toSorted((a, b) => a.action.localeCompare(b.action))
      .map(({ action, target, user_id, detail }) => ({ action, target, user_id, ...pickNames(detail) })),
    entries.map(([action, target, name, formerName]) => ({ action, target, user_id: null, name, formerName })),
  );
});

const pickNames = ({ name, formerName }: Record<string, unknown>) => ({ name, formerName });

test("invalid input gives one line, creates nobody and never shows the password", async () => {
  const before = await deps.db.selectFrom("users").select("id").execute();
  // biome-ignore format: one case a line
  const cases: [args: string[], sentence: string][] = [
    [create("--email", "ada", "--password", "a long password"), "--email: This is not an email address."],
    [create("--email", "x@example.com", "--password", "tiny"), "--password: Use at least 10 characters."],
    [create("--email", "x@example.com", "--password", "-"), "--password: Use at least 10 characters."],
    [create("--email", "x@example.com", "--password", "a long password", "--role", "king"), "--role must be one of owner, admin, member, viewer."],
    [create("--email", "ADA@example.com", "--password", "a long password"), "This email address already has an account. Invite the person instead."],
    [["user", "create", "--org", "org_none", "--email", "x@example.com", "--password", "a long password"], 'No organization has the ID "org_none". Run "org list" to see all of them.'],
  ];
  for (const [args, sentence] of cases)
    assert.deepEqual(await cli.runInside(args), { code: 2, stdout: "", stderr: `${sentence}\n` });
  assert.deepEqual(await deps.db.selectFrom("users").select("id").execute(), before);
});
