import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Analytics } from "#contract/analytics/analytics.ts";
import { DIMENSIONS } from "#contract/analytics/dimensions.ts";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { SIGNATURE_TOLERANCE_SECONDS, WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "#contract/limits.ts";
import type { KeyScope } from "#contract/scopes.ts";
import { DELIVERY_STATES } from "#contract/webhooks/delivery.ts";
import { CHOSEN_EVENT_TYPES } from "#contract/webhooks/endpoint.ts";
import type { BookingCreatedEvent } from "#contract/webhooks/webhook-event.ts";
import { recordHits } from "../../src/server/analytics/record/record.ts";
import { applyChange } from "../../src/server/bookings/changes/apply-change.ts";
import { inHome } from "../../src/server/db/statements/transactions.ts";
import { signBody } from "../../src/server/webhooks/request/sign.ts";
import { openWire } from "../support/app/wire.ts";
import { makeKey, makeOrganization, makeWidget } from "../support/builders.ts";
import { makeHit } from "../support/funnel/hits.ts";
import { installN8nPackage, N8n } from "../support/programs/n8n.ts";
import { book, createWebhookService, deliverAll, makeEndpoint } from "../support/webhooks/webhook-service.ts";

// connectors/n8n against the real service: packed, installed, and driven as n8n drives it.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const installed = installN8nPackage();
const service = await createWebhookService();
const { app, deps, loop, clock } = service;
clock.set(new Date());
const { port } = await openWire(app);
const baseUrl = `http://127.0.0.1:${port}`;
const CREATED = { events: ["booking.created"], widgets: [] };

async function makeUser(scopes: readonly KeyScope[] = ["analytics", "bookings", "manage"]) {
  const owner = await makeOrganization(deps.db, { plan: "business", timeZone: "UTC" });
  const widgetId = await makeWidget(deps.db, owner, { name: "Website" });
  const { key: apiKey } = await makeKey(deps.db, owner, { scopes });
  const n8n = new N8n(installed, { baseUrl: `${baseUrl}/`, apiKey });
  const ask = async (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, payload?: object) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await app.inject({ method, url: `/api/v1${path}`, headers, ...(payload && { payload }) });
    return response.body === "" ? null : response.json();
  };
  const listEndpoints = async (): Promise<AppEndpoint[]> => (await ask("GET", "/endpoints")).data;
  const business = { owner, widgetId, plan: "business" as const };
  return { business, n8n, ask, listEndpoints, ...(await n8n.listen()) };
}

async function cancel({ owner, widgetId }: { owner: OrganizationId; widgetId: WidgetId }, reference: Reference) {
  const state = { owner, reference, widgetId, now: { kind: "cancelled" }, claim: async () => true } as const;
  await inHome(deps.db, owner, (transaction) => applyChange(deps, transaction, state));
}

describe("the package", () => {
  const { manifest, files, folder } = installed;
  test("is what n8n accepts: its name, keyword and files, no dependencies, and n8n-workflow as the only peer", () => {
    assert.match(String(manifest["name"]), /^n8n-nodes-/);
    assert.ok((manifest["keywords"] as string[]).includes("n8n-community-node-package"));
    const dependencies = Object.keys(manifest).filter((name) => /dependencies/i.test(name));
    assert.deepEqual([dependencies, manifest["peerDependencies"]], [["peerDependencies"], { "n8n-workflow": "*" }]);
    assert.deepEqual(files, [
      "README.md",
      "dist/credentials/BookflowApi.credentials.js",
      "dist/nodes/Bookflow.node.js",
      "dist/nodes/BookflowTrigger.node.js",
      "dist/nodes/bookflow.svg",
      "dist/nodes/properties.js",
      "dist/nodes/request.js",
      "dist/nodes/signature.js",
      "package.json",
    ]);
    for (const path of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) assert.ok(files.includes(path), path);
    for (const { icon } of [installed.action.description, installed.trigger.description])
      assert.ok(existsSync(join(folder, "dist/nodes", icon.replace("file:", ""))));
    const ours = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    assert.deepEqual([manifest["version"], manifest["license"]], [ours.version, ours.license]);
  });

  test("offers every event type, dimension and delivery state", () => {
    const optionsOf = (node: { description: { properties: { name: string }[] } }, name: string) => {
      const found = (node.description.properties as { name: string; options?: { value: string }[] }[]).find(
        (property) => property.name === name,
      );
      return (found?.options ?? []).map(({ value }) => value);
    };
    assert.deepEqual(optionsOf(installed.trigger, "events"), CHOSEN_EVENT_TYPES.toSorted());
    assert.deepEqual(optionsOf(installed.action, "dimension"), DIMENSIONS.toSorted());
    const states = JSON.stringify(installed.action.description.properties);
    for (const state of DELIVERY_STATES) assert.ok(states.includes(`"value":"${state}"`), state);
  });

  test("asks for as many days as the API allows", () => {
    const properties = JSON.stringify(installed.action.description.properties);
    const days = `"typeOptions":{"minValue":1,"maxValue":${WINDOW_DAYS_MAX}},"default":${WINDOW_DAYS_DEFAULT}`;
    assert.ok(properties.includes(days));
  });

  test("tests the credentials with a request that every key may send", async () => {
    assert.equal(await (await makeUser(["bookings.anonymous"])).n8n.testCredentials(), 200);
    assert.equal(await new N8n(installed, { baseUrl, apiKey: "svc_live_none" }).testCredentials(), 401);
  });
});

describe("the trigger", () => {
  test("has one endpoint while its workflow is active, and each booking starts the workflow once", async () => {
    const { business, n8n, url, started, listEndpoints } = await makeUser();
    await n8n.activate(url, CREATED);
    await n8n.activate(url, CREATED);
    const endpoints = await listEndpoints();
    assert.deepEqual(
      endpoints.map((each) => [each.url, each.eventTypes, each.widgetIds]),
      [[url, ["booking.created"], null]],
    );
    const reference = await book(deps, business);
    await deliverAll(loop);
    const event = started[0]?.[0] as unknown as BookingCreatedEvent & { mode: string };
    assert.deepEqual(
      [started.length, event.type, event.data.booking.reference, event.mode],
      [1, "booking.created", reference, "live"],
    );
    await n8n.runHook("delete", url);
    await n8n.runHook("delete", url);
    assert.deepEqual([await listEndpoints(), n8n.staticData], [[], {}]);
  });

  test("gets the chosen events and widgets only, keeps its endpoint when they change, and turns it on again", async () => {
    const { business, n8n, url, started, ask, listEndpoints } = await makeUser();
    const other = await makeWidget(deps.db, business.owner);
    const choices = await n8n.listWidgets();
    assert.deepEqual(choices.map(({ value }) => value).sort(), [business.widgetId, other].sort());
    await n8n.activate(url, { ...CREATED, widgets: [other] });
    await book(deps, business);
    await deliverAll(loop);
    assert.deepEqual(started, []);
    const [before] = await listEndpoints();
    await ask("PATCH", `/endpoints/${before?.id}`, { isEnabled: false });
    await n8n.activate(url, { events: ["booking.created", "booking.erased"], widgets: [] });
    const after = await listEndpoints();
    assert.deepEqual(
      after.map((each) => [each.id, each.eventTypes, each.widgetIds, each.status]),
      [[before?.id, ["booking.created", "booking.erased"], null, "enabled"]],
    );
    await book(deps, business);
    await deliverAll(loop);
    assert.equal(started.length, 1);
  });

  test("has another endpoint while someone listens for a test event, and its end leaves the first one alone", async () => {
    const { business, n8n, url, started, listEndpoints } = await makeUser();
    const tests = await n8n.listen();
    await n8n.activate(url, CREATED);
    await n8n.activate(tests.url, CREATED);
    await book(deps, business);
    await deliverAll(loop);
    assert.deepEqual([started.length, tests.started.length], [1, 1]);
    await n8n.runHook("delete", tests.url);
    assert.deepEqual(
      (await listEndpoints()).map((each) => each.url),
      [url],
    );
  });

  test("creates its endpoint again after it was deleted in Bookflow, and replaces one whose secret nobody knows", async () => {
    const { business, n8n, url, started, ask, listEndpoints } = await makeUser();
    const lost = await makeEndpoint(deps, business, { url });
    await n8n.activate(url, CREATED);
    const [first, ...others] = await listEndpoints();
    assert.deepEqual(others, []);
    assert.notEqual(first?.id, lost.id);
    await ask("DELETE", `/endpoints/${first?.id}`);
    await n8n.activate(url, CREATED);
    await book(deps, business);
    await deliverAll(loop);
    assert.equal(started.length, 1);
  });

  test("refuses what is not signed with its own secret, just now, over exactly these bytes", async () => {
    const { n8n, url, started } = await makeUser();
    await n8n.activate(url, CREATED);
    const [{ secret } = { secret: "" }] = Object.values(n8n.staticData) as { secret: string }[];
    const body = JSON.stringify({ id: "evt_1", type: "booking.created" });
    const post = async (header: string | null, text = body) => {
      const headers = header === null ? {} : { "service-signature": header };
      return (await fetch(url, { method: "POST", headers, body: text })).status;
    };
    const sign = (secondsAgo = 0, key = secret) =>
      signBody({ secrets: [key], body: Buffer.from(body), at: new Date(Date.now() - secondsAgo * 1_000) });
    const forged = [
      null,
      "",
      "t=1",
      sign(SIGNATURE_TOLERANCE_SECONDS + 10),
      sign(-SIGNATURE_TOLERANCE_SECONDS - 10),
      sign(0, "whsec_other"),
      `t=1,${sign()}`,
      sign().slice(0, -1),
    ];
    for (const header of forged) assert.equal(await post(header), 401, String(header));
    assert.equal(await post(sign(), body.replace(":", ": ")), 401);
    assert.deepEqual(started, []);
    assert.equal(await post(`${sign()},v1=0`), 200);
    assert.equal(await post(sign(SIGNATURE_TOLERANCE_SECONDS - 60)), 200);
    assert.equal(started.length, 2);
    await n8n.runHook("delete", url);
    assert.equal(await post(sign()), 401);
  });

  test("answers a test of its endpoint without starting the workflow, and says which bookings are tests", async () => {
    const { business, n8n, url, started, ask, listEndpoints } = await makeUser();
    await n8n.activate(url, CREATED);
    const [endpoint] = await listEndpoints();
    await ask("POST", `/endpoints/${endpoint?.id}/test`, {});
    await deliverAll(loop);
    const { data } = await ask("GET", "/deliveries");
    assert.deepEqual([data.length, data[0].state, started], [1, "delivered", []]);
    await book(deps, business, { is_test: true });
    await deliverAll(loop);
    assert.equal(started[0]?.[0]?.["mode"], "test");
  });

  test("needs a key that may decide where customers' data is sent", async () => {
    const { n8n, url } = await makeUser(["manage"]);
    await assert.rejects(n8n.activate(url, CREATED), { description: "This API key needs the scope bookings." });
  });
});

describe("the actions", () => {
  const list = (resource: string, more: object = {}) => ({ resource, operation: "getAll", returnAll: true, ...more });

  test("list bookings to the end or to a limit, with filters, and read one", async () => {
    const { business, n8n } = await makeUser();
    const other = await makeWidget(deps.db, business.owner);
    const references = new Set<string>();
    for (let i = 0; i < 101; i++)
      references.add(await book(deps, i === 0 ? { ...business, widgetId: other } : business));
    const all = await n8n.execute(list("booking"));
    assert.deepEqual(new Set(all.map(({ json }) => json["reference"])), references);
    assert.equal(all.length, 101);
    const some = await n8n.execute(list("booking", { returnAll: false, limit: 3 }));
    assert.deepEqual(some, all.slice(0, 3));
    const [only, ...more] = await n8n.execute(list("booking", { filters: { widget: other, since: "" } }));
    assert.deepEqual([only?.json, more], [all.at(-1)?.json, []]);
    const reference = all[5]?.json["reference"];
    assert.deepEqual(await n8n.execute({ resource: "booking", operation: "get", reference }), [all[5]]);
  });

  test("read analytics and a breakdown", async () => {
    const { business, n8n } = await makeUser();
    const hits = [0, 1].map((visit) => ({
      ...makeHit({ widgetId: business.widgetId, visit, at: clock.now() }),
      country: visit === 0 ? "DE" : "AT",
    }));
    await recordHits(deps.db, hits);
    const [analytics] = await n8n.execute({ resource: "analytics", operation: "get", filters: { days: 7 } });
    const { days, totals } = { ...analytics?.json } as unknown as Analytics;
    assert.deepEqual([days, totals.views], [7, 2]);
    const rows = await n8n.execute({
      resource: "analytics",
      operation: "getBreakdown",
      dimension: "country",
      limit: 1,
    });
    assert.deepEqual(
      rows.map(({ json }) => [json["key"], json["views"]]),
      [["AT", 1]],
    );
  });

  test("list changes", async () => {
    const { business, n8n } = await makeUser();
    const reference = await book(deps, business);
    await cancel(business, reference);
    const changes = await n8n.execute(list("change"));
    assert.deepEqual(
      changes.map(({ json }) => [json["reference"], json["status"]]),
      [[reference, "cancelled"]],
    );
  });

  test("list deliveries, read one and redeliver it", async () => {
    const { business, n8n, url, started } = await makeUser();
    await n8n.activate(url, CREATED);
    const reference = await book(deps, business);
    await deliverAll(loop);
    const [delivery, ...more] = await n8n.execute(list("delivery", { filters: { state: "delivered" } }));
    assert.deepEqual([delivery?.json["reference"], more], [reference, []]);
    assert.deepEqual(await n8n.execute(list("delivery", { filters: { state: "failed" } })), []);
    const deliveryId = delivery?.json["id"];
    const [detail] = await n8n.execute({ resource: "delivery", operation: "get", deliveryId });
    assert.equal(detail?.json["attemptCount"], 1);
    const redelivered = await n8n.execute({ resource: "delivery", operation: "redeliver", deliveryId });
    assert.deepEqual(redelivered, [{ json: { deliveryId }, pairedItem: { item: 0 } }]);
    await deliverAll(loop);
    assert.equal(started.length, 2);
  });

  test("fail with Bookflow's own message, or go on with the other items if the node is set so", async () => {
    const { business, n8n } = await makeUser(["bookings"]);
    const foreign = await book(deps, (await makeUser()).business);
    const get = (reference: string) => ({ resource: "booking", operation: "get", reference });
    await assert.rejects(n8n.execute(get(foreign)), {
      description: "Booking not found.",
      httpCode: "404",
      itemIndex: 0,
    });
    await assert.rejects(n8n.execute(list("delivery")), { description: "This API key needs the scope manage." });
    await assert.rejects(n8n.execute(get("../keys")), { description: "Booking not found." });
    const own = await book(deps, business);
    n8n.continuesOnFail = true;
    const results = await n8n.execute(get(foreign), get(own));
    assert.deepEqual(
      results.map(({ json, pairedItem }) => [json["error"] ?? json["reference"], pairedItem]),
      [
        ["Booking not found.", { item: 0 }],
        [own, { item: 1 }],
      ],
    );
  });
});
