import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { APP_PREFIX, ORGANIZATION_HEADER } from "#contract/app/routes.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { createTestApp } from "../support/app/app.ts";
import { askApp } from "../support/app/app-api.ts";
import { createCommandLine } from "../support/app/cli.ts";
import { type SignedIn, signIn } from "../support/app/sign-in.ts";
import { makeOrganization } from "../support/builders.ts";
import { startCalcomServer } from "../support/scheduler/calcom/calcom-server.ts";

// The operator limits how many of each thing an organization or a person can have.

const testApp = await createTestApp({
  webhookAllowCidrs: ["127.0.0.0/8"],
  maxWidgets: 2,
  maxApiKeys: 2,
  maxConnections: 2,
  maxEndpoints: 2,
  maxOrganizationsPerPerson: 2,
  maxInvitationsPerDay: 3,
});
const { app, clock, deps } = testApp;
after(() => deps.scheduler.outbound.close());
const calcom = await startCalcomServer();
after(() => calcom.stop());

const ASK = "or ask the operator to raise";

async function post(person: SignedIn, path: string, body: object, key?: string) {
  const headers = { ...person.headers, ...(key === undefined ? {} : { "idempotency-key": key }) };
  const { statusCode, payload } = await app.inject({ method: "POST", url: APP_PREFIX + path, headers, payload: body });
  return { status: statusCode, body: JSON.parse(payload) };
}

const KINDS = [
  {
    what: "widgets",
    path: "/widgets",
    body: { name: "Website" },
    message: `An organization can have at most 2 widgets. Reuse a paused widget, ${ASK} MAX_WIDGETS.`,
  },
  {
    what: "API keys that aren't revoked",
    path: "/keys",
    body: { name: "Warehouse" },
    message: `An organization can have at most 2 API keys. Revoke one that is no longer needed, ${ASK} MAX_API_KEYS.`,
  },
  {
    what: "connections",
    path: "/connections",
    body: { kind: "calcom", name: "Practice", ...calcom.parts },
    message: `An organization can have at most 2 connections. Delete one that no widget uses, ${ASK} MAX_CONNECTIONS.`,
  },
  {
    what: "endpoints",
    path: "/endpoints",
    body: { url: "http://127.0.0.1:9/hooks", kind: "webhook" },
    message: `An organization can have at most 2 endpoints. Delete one that is no longer needed, ${ASK} MAX_ENDPOINTS.`,
  },
] as const;

describe("an organization has a limited number of", () => {
  for (const { what, path, body, message } of KINDS)
    test(`${what}, even when they are created at once`, async () => {
      const owner = await signIn(testApp, { role: "owner", plan: "business" });
      const responses = await Promise.all([1, 2, 3, 4].map(() => post(owner, path, body)));
      assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 201, 409, 409]);
      assert.deepEqual(responses.find(({ status }) => status === 409)?.body, { error: { code: "conflict", message } });
      const { data } = (await askApp(app, owner, `GET ${path}`)).body as { data: { id: string }[] };
      assert.equal(data.length, 2);
      if (path !== "/widgets") {
        await askApp(app, owner, `DELETE ${path}/${data[0]?.id}`);
        assert.equal((await post(owner, path, body)).status, 201, "there is room for another");
      }
      const other = await signIn(testApp, { role: "owner", plan: "business" });
      assert.equal((await post(other, path, body)).status, 201, "another organization has its own");
    });

  test("things, and repeating the request for the last one refers to that one", async () => {
    const owner = await signIn(testApp, { role: "owner", plan: "business" });
    for (const { path, body } of KINDS) {
      await post(owner, path, body);
      assert.equal((await post(owner, path, body, "the last")).status, 201);
      const again = await post(owner, path, body, "the last");
      if (path === "/widgets") assert.equal(again.status, 201);
      else assert.match(again.body.error.message, /already (created|added|saved)/);
    }
  });
});

test("widgets and API keys that the operator creates are not limited", async () => {
  const owner = await makeOrganization(deps.db);
  const cli = createCommandLine({ DATABASE_URL: testApp.url, MAX_WIDGETS: "1", MAX_API_KEYS: "1" });
  for (const what of ["widget", "widget", "key", "key"])
    assert.equal((await cli.runInside([what, "create", "--org", owner, "--name", "One more"])).code, 0, what);
});

test("a person owns a limited number of organizations, even when they are created at once", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const body = { name: "Another", timeZone: "Europe/Berlin" };
  const responses = await Promise.all([1, 2, 3].map((i) => post(owner, "/organizations", body, `attempt ${i}`)));
  assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 409, 409]);
  const message = `You can own at most 2 organizations, and those you deleted in the last 24 hours count too. Delete one that is no longer needed and try again tomorrow, ${ASK} MAX_ORGANIZATIONS_PER_PERSON.`;
  const refused = responses.find(({ status }) => status === 409);
  assert.deepEqual(refused?.body, { error: { code: "conflict", message } });
  const made = responses.findIndex(({ status }) => status === 201);
  assert.equal((await post(owner, "/organizations", body, `attempt ${made + 1}`)).status, 201, "a repeated request");
  const owned = deps.db.selectFrom("members").select("organization_id").where("user_id", "=", owner.userId);
  assert.equal((await owned.execute()).length, 2);
});

test("deleting organizations doesn't let a person create more of them in a day, and invite more people", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const create = async () => await post(owner, "/organizations", { name: "Another", timeZone: "Europe/Berlin" });
  const { id } = (await create()).body;
  const inNew = { ...owner, headers: { ...owner.headers, [ORGANIZATION_HEADER]: id } };
  assert.equal((await askApp(app, inNew, "POST /organization/delete", { name: "Another" })).status, 204);
  assert.equal((await create()).status, 409);
  clock.set(new Date(clock.now().getTime() + DAY_MS));
  assert.equal((await create()).status, 201);
});

test("an organization invites a limited number of people in a day, whatever became of the invitations", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const invite = async (email: string) => await post(owner, "/invitations", { email, role: "viewer" });
  const first = await invite("one@example.com");
  await askApp(app, owner, `DELETE /invitations/${first.body.invitation.id}`);
  const responses = await Promise.all([1, 2, 3].map(() => invite("two@example.com")));
  assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 201, 429]);
  const message =
    "An organization can invite 3 people in 24 hours. Try again tomorrow, or ask the operator to raise MAX_INVITATIONS_PER_DAY.";
  const refused = responses.find(({ status }) => status === 429);
  assert.deepEqual(refused?.body, { error: { code: "rate_limited", message } });
  const now = clock.now().getTime();
  clock.set(new Date(now + DAY_MS - MINUTE_MS));
  assert.equal((await invite("three@example.com")).status, 429);
  clock.set(new Date(now + DAY_MS));
  assert.equal((await invite("three@example.com")).status, 201);
  const other = await signIn(testApp, { role: "owner" });
  assert.equal((await post(other, "/invitations", { email: "one@example.com", role: "viewer" })).status, 201);
});
