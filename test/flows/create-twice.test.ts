import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { APP_PREFIX } from "#contract/app/routes.ts";
import type { DeliveryId } from "#contract/ids.ts";
import { API_PREFIX } from "#contract/read-routes.ts";
import { KEY_SCOPES } from "#contract/scopes.ts";
import { askApp, readAudit } from "../support/app/app-api.ts";
import { type SignedIn, signIn } from "../support/app/sign-in.ts";
import { makeKey } from "../support/builders.ts";
import { startCalcomServer } from "../support/scheduler/calcom/calcom-server.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  startReplying,
} from "../support/webhooks/webhook-service.ts";

// A response is lost, and the person presses the button again: the dashboard sends the open form's key with each request.

const testApp = await createWebhookService();
const { app, deps, loop } = testApp;
after(() => deps.scheduler.outbound.close());
const calcom = await startCalcomServer();
after(() => calcom.stop());

async function post(person: SignedIn, path: string, { key, body }: { key?: string; body: object }) {
  const headers = { ...person.headers, ...(key === undefined ? {} : { "idempotency-key": key }) };
  const { statusCode, payload } = await app.inject({ method: "POST", url: APP_PREFIX + path, headers, payload: body });
  return { status: statusCode, body: JSON.parse(payload) };
}

type Kind = { path: string; body: object; other: object; action: string; isShownAgain: boolean };

const KINDS: Record<string, Kind> = {
  "a widget": {
    path: "/widgets",
    body: { name: "Website", collectData: true },
    other: { name: "Another", collectData: true },
    action: "widget.created",
    isShownAgain: true,
  },
  "an endpoint": {
    path: "/endpoints",
    body: { url: "http://127.0.0.1:9/hooks", kind: "webhook" },
    other: { url: "http://127.0.0.1:9/others", kind: "webhook" },
    action: "endpoint.added",
    isShownAgain: false,
  },
  "an API key": {
    path: "/keys",
    body: { name: "Warehouse" },
    other: { name: "Another" },
    action: "api_key.created",
    isShownAgain: false,
  },
  "a connection": {
    path: "/connections",
    body: { kind: "calcom", name: "Practice", ...calcom.parts },
    other: { kind: "calcom", name: "Another", ...calcom.parts },
    action: "connection.added",
    isShownAgain: false,
  },
};

const countMade = async (person: SignedIn, action: string) =>
  ((await readAudit(deps.db, person.organizationId)) as { action: string }[]).filter((entry) => entry.action === action)
    .length;
const countListed = async (person: SignedIn, path: string) =>
  ((await askApp(app, person, `GET ${path}`)).body as { data: object[] }).data.length;

for (const [what, { path, body, other, action, isShownAgain }] of Object.entries(KINDS))
  describe(what, () => {
    test("is created once, however often the same form is sent", async () => {
      const owner = await signIn(testApp, { role: "owner", plan: "business" });
      const first = await post(owner, path, { key: "one form", body });
      assert.equal(first.status, 201);
      const again = await post(owner, path, { key: "one form", body });
      if (isShownAgain) assert.deepEqual(again, first);
      else assert.deepEqual([again.status, again.body.error.code], [409, "conflict"]);
      const changed = await post(owner, path, { key: "one form", body: other });
      assert.deepEqual([changed.status, changed.body.error.code], [409, "conflict"]);
      assert.deepEqual([await countListed(owner, path), await countMade(owner, action)], [1, 1]);
    });

    test("is created once when both requests arrive together", async () => {
      const owner = await signIn(testApp, { role: "owner", plan: "business" });
      const both = await Promise.all([1, 2].map(() => post(owner, path, { key: "one form", body })));
      const statuses = both.map(({ status }) => status).sort();
      assert.deepEqual(statuses, isShownAgain ? [201, 201] : [201, 409]);
      assert.deepEqual([await countListed(owner, path), await countMade(owner, action)], [1, 1]);
    });

    test("is created again by another form, by another organization with the same key, and without a key", async () => {
      const owner = await signIn(testApp, { role: "owner", plan: "business" });
      const stranger = await signIn(testApp, { role: "owner", plan: "business" });
      for (const key of ["one form", "another form"])
        assert.equal((await post(owner, path, { key, body })).status, 201, key);
      for (let i = 0; i < 2; i++) assert.equal((await post(owner, path, { body })).status, 201);
      assert.equal((await post(stranger, path, { key: "one form", body })).status, 201);
      assert.deepEqual([await countListed(owner, path), await countListed(stranger, path)], [4, 1]);
    });
  });

test("a change can be sent again with the values that its sender saw before", async () => {
  const admin = await signIn(testApp, { role: "admin", plan: "business" });
  const { id } = (await post(admin, "/widgets", { body: { name: "Website" } })).body;
  const body = { name: "Front page", was: { name: "Website" } };
  for (let i = 0; i < 2; i++)
    assert.equal((await askApp(app, admin, `PATCH /widgets/${id}`, body)).status, 200, String(i));
  assert.equal((await askApp(app, admin, `PATCH /widgets/${id}`, { ...body, name: "Back page" })).status, 409);
});

describe("a key's request", () => {
  test("for a new secret rotates it once, and shows it once", async () => {
    const { ask, endpoint } = await makeKeyed();
    const first = await ask(`/endpoints/${endpoint}/rotate-secret`, "rotate-1", { overlapHours: 24 });
    const again = await ask(`/endpoints/${endpoint}/rotate-secret`, "rotate-1", { overlapHours: 24 });
    assert.deepEqual([first.status, again.status, again.body.error.code], [200, 409, "conflict"]);
    assert.ok(!JSON.stringify(again.body).includes(first.body.secret));
    // A trailing slash makes no difference, so this is the same request.
    assert.deepEqual(await ask(`/endpoints/${endpoint}/rotate-secret/`, "rotate-1", { overlapHours: 24 }), again);
    const other = await ask(`/endpoints/${endpoint}/rotate-secret`, "rotate-2", {});
    assert.notEqual(other.body.secret, first.body.secret);
  });

  test("for a test event sends one", async () => {
    const { ask, endpoint, countDeliveries } = await makeKeyed();
    const path = `/endpoints/${endpoint}/test`;
    const both = await Promise.all([1, 2].map(() => ask(path, "test-1")));
    for (const response of [...both, await ask(path, "test-1")]) assert.deepEqual(response, both[0]);
    assert.equal(await countDeliveries(), 1);
    assert.notDeepEqual(await ask(path, "test-2"), both[0]);
    assert.equal(await countDeliveries(), 2);
  });

  test("to redeliver, or to retry, queues one attempt, also if the first is over when the second arrives", async () => {
    const { ask, delivery, business } = await makeKeyed();
    const attempts = async () => {
      await deliverAll(loop);
      const rows = await deps.db
        .selectFrom("delivery_attempts")
        .select("number")
        .where("delivery_id", "=", delivery as DeliveryId);
      return (await rows.where("organization_id", "=", business.owner).execute()).length;
    };
    const before = await attempts();
    for (let i = 0; i < 3; i++) {
      const { status, body } = await ask(`/deliveries/${delivery}/redeliver`, "again");
      assert.deepEqual([status, body], [202, { deliveryId: delivery }]);
      assert.equal(await attempts(), before + 1);
    }
    const refused = await ask(`/deliveries/${delivery}/retry`, "again");
    assert.deepEqual([refused.status, refused.body.error.code], [409, "conflict"], "the key is this operation's");
  });

  test("to retry an endpoint's deliveries gets the first answer again", async () => {
    const { ask, endpoint, business } = await makeKeyed({ status: 503 });
    await book(deps, business);
    await deliverAll(loop);
    const first = await ask(`/endpoints/${endpoint}/retry`, "retry");
    assert.deepEqual([first.status, first.body.count], [200, 2]);
    await deliverAll(loop);
    assert.deepEqual(await ask(`/endpoints/${endpoint}/retry`, "retry"), first);
    const delivery = await ask("/deliveries?state=retrying", null);
    const path = `/deliveries/${delivery.body.data[0].id}/retry`;
    for (let i = 0; i < 2; i++) assert.equal((await ask(path, "one")).status, 202);
  });

  test("to redeliver in bulk starts one redelivery; another filter needs another key", async () => {
    const { ask } = await makeKeyed();
    const body = { from: "2026-01-01", states: ["delivered"] };
    const first = await ask("/redeliveries", "bulk", body);
    assert.deepEqual([first.status, first.body.matched], [202, 1]);
    assert.equal((await ask("/redeliveries", "bulk", body)).body.id, first.body.id);
    const other = await ask("/redeliveries", "bulk", { ...body, states: ["failed"] });
    assert.deepEqual([other.status, other.body.error.code], [409, "key_reused"]);
    assert.equal((await ask("/redeliveries", null)).body.data.length, 1);
  });

  test("of another organization with the same key is another request", async () => {
    const [one, two] = [await makeKeyed(), await makeKeyed()];
    const responses = [one, two].map(({ ask, endpoint }) => ask(`/endpoints/${endpoint}/test`, "same"));
    assert.deepEqual(
      (await Promise.all(responses)).map(({ status }) => status),
      [202, 202],
    );
  });
});

/** An organization's key, and an endpoint with one delivery. */
async function makeKeyed(reply: { status: number } = { status: 200 }) {
  const business = await makeBusiness(deps, "business");
  const receiver = await startReplying(() => reply);
  const { id: endpoint } = await makeEndpoint(deps, business, { url: receiver.url });
  const { key } = await makeKey(deps.db, business.owner, { scopes: KEY_SCOPES });
  await book(deps, business);
  await deliverAll(loop);
  const ask = async (path: string, once: string | null, payload: object = {}) => {
    const headers = { authorization: `Bearer ${key}`, ...(once === null ? {} : { "idempotency-key": once }) };
    const request = once === null ? { method: "GET" as const } : { method: "POST" as const, payload };
    const response = await app.inject({ url: API_PREFIX + path, headers, ...request });
    return { status: response.statusCode, body: response.json() };
  };
  /** Besides the booking's. */
  const countDeliveries = async () => (await ask("/deliveries", null)).body.data.length - 1;
  const [first] = (await ask("/deliveries", null)).body.data;
  return { business, endpoint, delivery: first.id as string, ask, countDeliveries };
}

test("the API reference offers the header for exactly these", async () => {
  type Operation = { parameters?: { name: string }[] };
  const { paths } = (await app.inject("/api/v1/openapi.json")).json() as {
    paths: Record<string, Record<string, Operation>>;
  };
  const offered = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === "Idempotency-Key"))
      .map(([method]) => `${method} ${path}`),
  );
  assert.deepEqual(
    offered.sort(),
    [
      ...Object.values(KINDS).map(({ path }) => path),
      ...["rotate-secret", "test", "retry"].map((action) => `/endpoints/{endpoint}/${action}`),
      ...["redeliver", "retry"].map((action) => `/deliveries/{delivery}/${action}`),
      "/redeliveries",
    ]
      .map((path) => `post /api/v1${path}`)
      .sort(),
  );
});

test("an empty or over-long key is refused", async () => {
  const owner = await signIn(testApp, { role: "owner", plan: "business" });
  for (const key of [" ", "x".repeat(256)])
    assert.equal((await post(owner, "/widgets", { key, body: { name: "Website" } })).status, 400);
  assert.equal(await countListed(owner, "/widgets"), 0);
});

test("repeating the request for the last allowed or a since removed endpoint refers to that endpoint", async () => {
  const owner = await signIn(testApp, { role: "owner", plan: "business" });
  const body = { url: "http://127.0.0.1:9/hooks", kind: "webhook" };
  for (let i = 1; i < testApp.deps.config.maxEndpoints; i++)
    assert.equal((await post(owner, "/endpoints", { body })).status, 201);
  const { endpoint } = (await post(owner, "/endpoints", { key: "the last", body })).body;
  const again = async () => (await post(owner, "/endpoints", { key: "the last", body })).body.error.message;
  assert.match(await again(), /^Your first attempt already added this endpoint/);
  await askApp(app, owner, `DELETE /endpoints/${endpoint.id}`);
  assert.match(await again(), /^Your first attempt already added this endpoint/);
});

test("a widget's form may be sent again whatever our checks change in its values", async () => {
  const member = await signIn(testApp, { role: "member", plan: "business" });
  const body = {
    name: " Website ",
    bookingUrl: "https://lindenhof.example",
    accentColor: "#4B45D6",
    allowedDomains: ["Example.com", "example.com"],
    thankYouUrl: "",
    offer: [{ serviceId: "consultation", staffIds: null }],
  };
  const send = async (change: object = {}) =>
    await post(member, "/widgets", { key: "one form", body: { ...body, ...change } });
  const first = await send();
  assert.equal(first.status, 201);
  assert.deepEqual(await send(), first);
  assert.equal((await send({ bookingUrl: "https://elsewhere.example" })).status, 409);
});

test("an organization is created once per form and person", async () => {
  const person = await signIn(testApp, { role: "owner" });
  const other = await signIn(testApp, { role: "owner" });
  const body = { name: "Elm Clinic", timeZone: "Europe/Berlin" };
  const make = async (who: SignedIn, wanted: object = body) =>
    await post(who, "/organizations", { key: "one form", body: wanted });
  const first = await make(person);
  assert.equal(first.status, 201);
  assert.deepEqual(await make(person), first);
  assert.equal((await make(person, { ...body, name: "Oak Clinic" })).status, 409);
  const theirs = await make(other);
  assert.equal(theirs.status, 201);
  assert.notEqual(theirs.body.id, first.body.id);
  const me = (await askApp(app, person, "GET /me")).body as { organizations: object[] };
  assert.equal(me.organizations.length, 2);
});
