import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { SavedConnection } from "#contract/app/connections.ts";
import type { AppWidget } from "#contract/app/widgets.ts";
import { createTestApp } from "../support/app/app.ts";
import { askApp, readAudit } from "../support/app/app-api.ts";
import type { Received } from "../support/app/read-api.ts";
import { type SignedIn, signIn } from "../support/app/sign-in.ts";
import { makeWidget } from "../support/builders.ts";
import { startCalcomServer } from "../support/scheduler/calcom/calcom-server.ts";
import { makeEndpoint } from "../support/webhooks/webhook-service.ts";

// Two people change one thing at the same moment.

const testApp = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
const { app, deps } = testApp;
after(() => deps.scheduler.outbound.close());
const calcom = await startCalcomServer();
after(() => calcom.stop());

type Setting = { one: SignedIn; other: SignedIn };

async function makeSetting(): Promise<Setting> {
  const one = await signIn(testApp, { role: "owner", plan: "pro" });
  return { one, other: await signIn(testApp, { role: "owner", organizationId: one.organizationId }) };
}

async function connect(person: SignedIn): Promise<SavedConnection["connection"]> {
  const wanted = { kind: "calcom", name: "Practice", ...calcom.parts };
  return ((await askApp(app, person, "POST /connections", wanted)).body as SavedConnection).connection;
}

type Thing = { route: string; was: object; first: object; second: object; field: string };

/** Each thing two people can edit, with what both saw when they started. */
const THINGS: Record<string, (setting: Setting) => Promise<Thing>> = {
  "a widget": async ({ one }) => ({
    route: `PATCH /widgets/${await makeWidget(deps.db, one.organizationId, { name: "Website" })}`,
    was: { name: "Website" },
    first: { name: "Hers" },
    second: { name: "His" },
    field: "name",
  }),
  "the domains of a widget": async ({ one }) => ({
    route: `PATCH /widgets/${await makeWidget(deps.db, one.organizationId)}`,
    was: { allowedDomains: [] },
    first: { allowedDomains: ["hers.example"] },
    second: { allowedDomains: ["his.example"] },
    field: "allowedDomains",
  }),
  "an endpoint": async ({ one }) => {
    const business = { owner: one.organizationId, plan: "pro", widgetId: "w_any" as never } as const;
    const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/first" });
    const to = (name: string) => ({ url: `http://127.0.0.1:9/${name}` });
    return { route: `PATCH /endpoints/${id}`, was: to("first"), first: to("hers"), second: to("his"), field: "url" };
  },
  "a connection": async ({ one }) => ({
    route: `PATCH /connections/${(await connect(one)).id}`,
    was: { name: "Practice" },
    first: { name: "Hers" },
    second: { name: "His" },
    field: "name",
  }),
  "a connection, and its settings with it": async ({ one }) => ({
    route: `PATCH /connections/${(await connect(one)).id}`,
    was: { name: "Practice", ...calcom.parts },
    first: { name: "Hers", ...calcom.parts },
    second: { name: "His", ...calcom.parts },
    field: "name",
  }),
  "the organization": async () => ({
    route: "PATCH /organization",
    was: { name: "Lindenhof Dental" },
    first: { name: "Hers" },
    second: { name: "His" },
    field: "name",
  }),
  "a role": async ({ one }) => {
    const { userId } = await signIn(testApp, { role: "member", organizationId: one.organizationId });
    const to = (role: string) => ({ role });
    return {
      route: `PATCH /members/${userId}`,
      was: to("member"),
      first: to("admin"),
      second: to("viewer"),
      field: "role",
    };
  },
};

describe("when two people change the same thing at once the second is told, and the first change is kept", () => {
  for (const [name, make] of Object.entries(THINGS))
    test(name, async () => {
      const setting = await makeSetting();
      const { route, was, first, second, field } = await make(setting);
      const logBefore = (await readAudit(deps.db, setting.one.organizationId)).length;
      const responses = await Promise.all([
        askApp(app, setting.one, route, { ...first, was }),
        askApp(app, setting.other, route, { ...second, was }),
      ]);
      const [done, refused] = responses.toSorted((a, b) => a.status - b.status) as [Received, Received];
      assert.ok(done.status < 300, JSON.stringify(done));
      assert.deepEqual(refused, {
        status: 409,
        body: {
          error: {
            code: "conflict",
            message: "Someone else changed this in the meantime. Review it before you save.",
            fields: { [field]: "Someone else changed this in the meantime." },
          },
        },
      });
      assert.equal((await readAudit(deps.db, setting.one.organizationId)).length, logBefore + 1);
      const seen = responses[0] === done ? first : second;
      const again = await askApp(app, setting.other, route, { ...was, was: seen });
      assert.ok(again.status < 300, "someone who saw it may replace it");
    });

  test("a connection's settings conflict as a whole: the form has no field for the error", async () => {
    const { one, other } = await makeSetting();
    const { id, settings } = await connect(one);
    const replace = (person: SignedIn, webUrl: string, was: object) =>
      askApp(app, person, `PATCH /connections/${id}`, {
        settings: { ...calcom.parts.settings, webUrl },
        credentials: calcom.parts.credentials,
        was: { settings: was },
      });
    const responses = await Promise.all([
      replace(one, "https://hers.example", settings),
      replace(other, "https://his.example", settings),
    ]);
    const [done, refused] = responses.toSorted((a, b) => a.status - b.status) as [Received, Received];
    const { code, fields } = (refused.body as { error: { code: string; fields?: object } }).error;
    assert.deepEqual([done.status, refused.status, code, fields], [200, 409, "conflict", undefined]);
    const saved = (done.body as SavedConnection).connection.settings;
    assert.equal(
      (await replace(other, "https://third.example", saved)).status,
      200,
      "someone who saw it may replace it",
    );
  });
});

test("changes to different fields are both kept", async () => {
  const { one, other } = await makeSetting();
  const route = `PATCH /widgets/${await makeWidget(deps.db, one.organizationId, { name: "Website" })}`;
  const responses = await Promise.all([
    askApp(app, one, route, { name: "Hers", was: { name: "Website" } }),
    askApp(app, other, route, { template: "compact", was: { template: "classic" } }),
  ]);
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200],
  );
  const { name, template } = (await askApp(app, one, route.replace("PATCH", "GET"))).body as AppWidget;
  assert.deepEqual([name, template], ["Hers", "compact"]);
});

test("either a connection is deleted or a widget goes live with it, never half of both", async () => {
  const { one, other } = await makeSetting();
  for (let round = 0; round < 6; round++) {
    const { id } = await connect(one);
    const widget = await makeWidget(deps.db, one.organizationId);
    const give = () => askApp(app, one, `POST /widgets/${widget}/go-live`, { connectionId: id });
    const remove = () => askApp(app, other, `DELETE /connections/${id}`);
    const early = round % 2 === 0 ? remove() : null;
    const [given, removed] = await Promise.all([give(), early ?? remove()]);
    assert.ok(given.status === 200 || given.status === 422, String(given.status));
    assert.equal(removed.status, given.status === 200 ? 409 : 204);
  }
});
