import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { KEY_SCOPES } from "#contract/scopes.ts";
import {
  ApiError,
  BookflowError,
  type Booking,
  type ClientOptions,
  ConnectionError,
  createClient,
} from "../../sdk/src/index.ts";
import { OPERATIONS } from "../../sdk/src/operations.ts";
import { refuseBrowsers } from "../../sdk/src/refuse-browsers.ts";
import { toDelayMs } from "../../sdk/src/retry.ts";
import { recordHits } from "../../src/server/analytics/record/record.ts";
import { createTestApp } from "../support/app/app.ts";
import { makeCaller } from "../support/app/read-api.ts";
import { openWire } from "../support/app/wire.ts";
import { makeBooking, makeWidget } from "../support/builders.ts";
import { makeHit } from "../support/funnel/hits.ts";
import { type Fault, startFaultyProxy } from "../support/programs/faulty-proxy.ts";

const { app, deps, clock } = await createTestApp();
const { port } = await openWire(app);
const baseUrl = `http://127.0.0.1:${port}`;
const proxy = await startFaultyProxy(baseUrl);

const caller = await makeCaller(deps.db);
const otherWidget = await makeWidget(deps.db, caller.owner, { name: "Second" });
const made: { reference: string; createdAt: Date }[] = [];
for (let i = 0; i < 12; i++) {
  const widgetId = i % 3 === 0 ? otherWidget : caller.widgetId;
  made.unshift(await makeBooking(deps.db, caller.owner, { widgetId, customer_name: `Zoë ${i} 🦷` }));
}
const references = made.map(({ reference }) => reference);

const connect = (options: Partial<ClientOptions> = {}) => createClient({ apiKey: caller.key, baseUrl, ...options });
const client = connect();

async function readDirectly(path: string): Promise<unknown> {
  return await (await fetch(`${baseUrl}/api/v1${path}`, { headers: caller.headers })).json();
}

async function listReferences(bookings: AsyncIterable<Booking>): Promise<string[]> {
  const listed: string[] = [];
  for await (const { reference } of bookings) listed.push(reference);
  return listed;
}

async function caught<E extends Error>(kind: abstract new (...args: never[]) => E, work: () => unknown): Promise<E> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof kind, inspect(error));
    return error;
  }
  assert.fail("It did not throw");
}

describe("responses come through unchanged", () => {
  test("widgets", async () => {
    assert.deepEqual({ data: await client.widgets() }, await readDirectly("/widgets"));
    assert.equal((await client.widgets()).length, 2);
  });

  test("bookings, one by one, with every field", async () => {
    const bookings: Booking[] = [];
    for await (const booking of client.bookings({ limit: 5 })) bookings.push(booking);
    assert.deepEqual({ data: bookings, nextCursor: null }, await readDirectly("/bookings"));
    assert.equal(bookings.length, 12);
  });

  test("event types, each with a schema and an example", async () => {
    const types = await client.eventTypes();
    assert.deepEqual({ data: types }, await readDirectly("/event-types"));
    assert.deepEqual(
      types.map(({ type, example }) => [type, example["type"]]),
      types.map(({ type }) => [type, type]),
    );
    assert.ok(types.length >= 3);
  });

  test("analytics", async () => {
    assert.deepEqual(await client.analytics(), await readDirectly("/analytics"));
    const query = { days: 7, widget: otherWidget };
    assert.deepEqual(await client.analytics(query), await readDirectly(`/analytics?days=7&widget=${otherWidget}`));
  });

  test("a breakdown, over all pages, with filters", async () => {
    const at = new Date(clock.now().getTime() - 3_600_000);
    const { widgetId } = caller;
    const hits = Array.from({ length: 7 }, (_, visit) => ({
      ...makeHit({ widgetId, visit, at }),
      source: `site-${visit % 4}.example`,
      device: visit === 6 ? ("tablet" as const) : ("mobile" as const),
    }));
    await recordHits(deps.db, hits);
    const read = async (query: Parameters<typeof client.breakdown>[0]) => {
      const rows: [string, number][] = [];
      for await (const { key, views } of client.breakdown(query)) rows.push([key, views]);
      return rows;
    };
    const all = [
      ["site-0.example / (none)", 2],
      ["site-1.example / (none)", 2],
      ["site-2.example / (none)", 2],
      ["site-3.example / (none)", 1],
    ];
    assert.deepEqual(await read({ dimension: "source", limit: 1 }), all);
    assert.deepEqual(
      await read({ dimension: "source", days: 7, notDevice: ["tablet"], source: all[2]?.[0] as string }),
      [["site-2.example / (none)", 1]],
    );
    assert.deepEqual(await read({ dimension: "source", widget: otherWidget }), []);
    const { code } = await caught(ApiError, () => read({ dimension: "colour" as never }));
    assert.equal(code, "bad_request");
  });

  test("a base URL with a path and a trailing slash is accepted", async () => {
    assert.equal((await connect({ baseUrl: `${baseUrl}/` }).widgets()).length, 2);
    const seen: string[] = [];
    const record: typeof fetch = async (input) => {
      seen.push(String(input));
      return Response.json({ data: [] });
    };
    await connect({ baseUrl: "https://example.com/bookflow/", fetch: record }).widgets();
    assert.deepEqual(seen, ["https://example.com/bookflow/api/v1/widgets"]);
  });
});

describe("iterating over bookings", () => {
  for (const limit of [1, 5, 12, 500]) {
    test(`gives each once, newest first, ${limit} per request`, async () => {
      assert.deepEqual(await listReferences(client.bookings({ limit })), references);
    });
  }

  test("starts over in a second iteration", async () => {
    const bookings = client.bookings({ limit: 5 });
    assert.deepEqual(await listReferences(bookings), references);
    assert.deepEqual(await listReferences(bookings), references);
  });

  test("includes since and excludes until, as dates or as text", async () => {
    const [from, to] = [made[8]?.createdAt ?? clock.now(), made[2]?.createdAt ?? clock.now()];
    assert.deepEqual(
      await listReferences(client.bookings({ since: from, until: to, limit: 2 })),
      references.slice(3, 9),
    );
    const texts = { since: from.toISOString(), until: to.toISOString(), limit: 2 };
    assert.deepEqual(await listReferences(client.bookings(texts)), references.slice(3, 9));
  });

  test("can be limited to one widget", async () => {
    const all = new Set(await listReferences(client.bookings({ widget: otherWidget, limit: 2 })));
    assert.deepEqual([all.size, all.has(references.at(-1) ?? "")], [4, true]);
  });

  test("works page by page, and from a cursor", async () => {
    const sizes: number[] = [];
    let cursor: string | null = null;
    for await (const page of client.bookings({ limit: 5 }).pages()) {
      sizes.push(page.data.length);
      cursor ??= page.nextCursor;
    }
    assert.deepEqual(sizes, [5, 5, 2]);
    assert.deepEqual(await listReferences(client.bookings({ limit: 5, cursor: cursor ?? "" })), references.slice(5));
  });

  test("makes no further request when stopped early", async () => {
    proxy.requests.length = 0;
    for await (const _ of connect({ baseUrl: proxy.url }).bookings({ limit: 5 })) break;
    assert.deepEqual(proxy.requests, ["/api/v1/bookings?limit=5"]);
  });

  test("makes no request before the first item is wanted, and is empty for an organization without bookings", async () => {
    const empty = await makeCaller(deps.db);
    const bookings = connect({ apiKey: empty.key }).bookings();
    assert.deepEqual(await listReferences(bookings), []);
    proxy.requests.length = 0;
    connect({ baseUrl: proxy.url }).bookings();
    assert.deepEqual(proxy.requests, []);
  });

  test("fails instead of looping when the same page comes again", async () => {
    const [booking] = await readFirst();
    const same: typeof fetch = async () => Response.json({ data: [booking], nextCursor: booking?.createdAt });
    const error = await caught(ApiError, () => listReferences(connect({ fetch: same }).bookings()));
    assert.equal(error.code, "unexpected_response");
  });
});

async function readFirst(): Promise<Booking[]> {
  for await (const page of client.bookings({ limit: 1 }).pages()) return page.data;
  return [];
}

describe("errors are typed", () => {
  const fact = ({ code, status, name }: ApiError) => ({ code, status, name });

  test("by the service's codes, with its message and the request id", async () => {
    const error = await caught(ApiError, () => listReferences(client.bookings({ since: "yesterday" })));
    assert.deepEqual(fact(error), { code: "bad_request", status: 400, name: "ApiError" });
    assert.match(error.message, /since/);
    assert.match(error.requestId ?? "", /^\S{8,}$/);
    assert.ok(error instanceof BookflowError);
  });

  test("for an unknown, a revoked and another organization's object", async () => {
    const unknown = connect({ apiKey: `${caller.key.slice(0, -1)}~` });
    assert.deepEqual(fact(await caught(ApiError, () => unknown.widgets())), {
      code: "unauthorized",
      status: 401,
      name: "ApiError",
    });
    const revoked = await makeCaller(deps.db);
    await deps.db.updateTable("api_keys").set({ revoked_at: clock.now() }).where("id", "=", revoked.keyId).execute();
    assert.equal((await caught(ApiError, () => connect({ apiKey: revoked.key }).widgets())).code, "unauthorized");
    const foreign = await makeCaller(deps.db);
    const { code, status } = await caught(ApiError, () => client.analytics({ widget: foreign.widgetId }));
    assert.deepEqual([code, status], ["not_found", 404]);
  });

  test("for a plan without the API", async () => {
    const { key } = await makeCaller(deps.db, { plan: "pro" });
    const { code, status } = await caught(ApiError, () => connect({ apiKey: key }).widgets());
    assert.deepEqual([code, status], ["plan_required", 403]);
  });

  test("for a response that isn't from the service", async () => {
    const odd = connect({ baseUrl: proxy.url, retries: 0 });
    const cases: [Fault, status: number, message: RegExp][] = [
      [{ status: 502, body: "<h1>Bad gateway</h1>" }, 502, /did not come from Bookflow/],
      [{ status: 200, body: "<h1>Welcome</h1>" }, 200, /baseUrl/],
      [{ status: 200, body: "null" }, 200, /baseUrl/],
      [{ status: 301, headers: { location: "https://elsewhere.example/" } }, 301, /elsewhere\.example/],
    ];
    for (const [fault, status, message] of cases) {
      proxy.faults = [fault];
      const error = await caught(ApiError, () => odd.widgets());
      assert.deepEqual([error.code, error.status], ["unexpected_response", status]);
      assert.match(error.message, message);
    }
  });

  test("when nobody is listening", async () => {
    const error = await caught(ConnectionError, () => connect({ baseUrl: "http://127.0.0.1:1", retries: 0 }).widgets());
    assert.equal(error.code, "unreachable");
    assert.ok(error.cause instanceof Error);
  });

  test("and never show the key", async () => {
    const key = `${caller.key.slice(0, -1)}~`;
    const errors = [
      await caught(ApiError, () => connect({ apiKey: key }).widgets()),
      await caught(TypeError, () => connect({ apiKey: `${key}\n` })),
      await caught(ConnectionError, () =>
        connect({ apiKey: key, baseUrl: "http://127.0.0.1:1", retries: 0 }).widgets(),
      ),
    ];
    for (const error of errors) assert.ok(!inspect(error, { depth: 9 }).includes(key), inspect(error));
    assert.ok(!inspect(connect({ apiKey: key }), { depth: 9, showHidden: true }).includes(key));
  });
});

describe("invalid options are refused at once", () => {
  const cases: [name: string, options: Partial<ClientOptions>][] = [
    ["no key", { apiKey: "" }],
    ["another kind of key", { apiKey: "sk_live_1" }],
    ["a key with a line end", { apiKey: "svc_live_a\n" }],
    ["no address", { baseUrl: "bookings.example.com" }],
    ["a password in the address", { baseUrl: "https://a:b@example.com" }],
    ["another protocol", { baseUrl: "file:///etc/passwd" }],
    ["a query in the address", { baseUrl: "https://example.com/?a=b" }],
    ["a fraction of a retry", { retries: 0.5 }],
    ["no time", { timeoutMs: 0 }],
  ];
  for (const [name, options] of cases) test(name, () => assert.throws(() => connect(options), TypeError));
});

describe("temporary failures are retried", () => {
  const patient = connect({ baseUrl: proxy.url, timeoutMs: 5_000 });

  test("after 5xx, no response or half a response, and the iteration continues", async () => {
    proxy.requests.length = 0;
    proxy.faults = ["reset", { status: 503 }, "cut"];
    assert.deepEqual(await listReferences(patient.bookings({ limit: 500 })), references);
    assert.equal(proxy.requests.length, 4);
    assert.equal(new Set(proxy.requests).size, 1);
  });

  test("after a timeout", async () => {
    proxy.faults = ["hang"];
    assert.equal((await connect({ baseUrl: proxy.url, timeoutMs: 300 }).widgets()).length, 2);
    proxy.faults = ["hang"];
    const hasty = connect({ baseUrl: proxy.url, timeoutMs: 50, retries: 0 });
    assert.equal((await caught(ConnectionError, () => hasty.widgets())).code, "timeout");
  });

  test("after 429, no earlier than Retry-After says", async () => {
    const limited = {
      status: 429,
      headers: { "retry-after": "1" },
      body: '{"error":{"code":"rate_limited","message":"Wait."}}',
    };
    proxy.faults = [limited];
    const startedAt = performance.now();
    assert.equal((await patient.widgets()).length, 2);
    assert.ok(performance.now() - startedAt >= 999);
    proxy.faults = [limited];
    const error = await caught(ApiError, () => connect({ baseUrl: proxy.url, retries: 0 }).widgets());
    assert.deepEqual([error.code, error.retryAfterSeconds], ["rate_limited", 1]);
    const at = new Date(Date.now() + 60_000).toUTCString();
    proxy.faults = [{ status: 503, headers: { "retry-after": at } }];
    const dated = await caught(ApiError, () => connect({ baseUrl: proxy.url, retries: 0 }).widgets());
    const seconds = dated.retryAfterSeconds ?? 0;
    assert.ok(seconds > 0 && seconds <= 60, String(seconds));
  });

  test("as often as configured, and then the last failure is thrown", async () => {
    proxy.requests.length = 0;
    proxy.faults = Array.from({ length: 9 }, () => ({ status: 500 }));
    const error = await caught(ApiError, () => connect({ baseUrl: proxy.url, retries: 2 }).widgets());
    assert.deepEqual([error.status, proxy.requests.length], [500, 3]);
    proxy.faults = [];
  });

  test("but not the caller's own mistakes", async () => {
    proxy.requests.length = 0;
    await caught(ApiError, () => patient.analytics({ days: 731 }));
    await caught(ApiError, () => patient.analytics({ widget: "w_unknown" }));
    assert.equal(proxy.requests.length, 2);
  });

  test("with pauses that double up to half a minute, half of each random, and never shorter than Retry-After", () => {
    const failure = new ConnectionError("timeout", "");
    const delays = (random: number) =>
      [0, 1, 2, 6, 7, 40].map((retriesUsed) => toDelayMs(failure, { retriesUsed, random }));
    assert.deepEqual(delays(1), [250, 500, 1_000, 16_000, 30_000, 30_000]);
    assert.deepEqual(delays(0), [125, 250, 500, 8_000, 15_000, 15_000]);
    const told = (retryAfterSeconds: number | null, status = 429) =>
      toDelayMs(new ApiError({ code: "", message: "", requestId: null, status, retryAfterSeconds }), {
        retriesUsed: 2,
        random: 1,
      });
    assert.deepEqual([told(60), told(0), told(null), told(120), told(121)], [60_000, 1_000, 1_000, 120_000, null]);
    assert.deepEqual([told(5, 503), told(null, 500), told(null, 404), told(1, 200)], [5_000, 1_000, null, null]);
    assert.equal(toDelayMs(new TypeError("a bug"), { retriesUsed: 0, random: 0 }), null);
  });
});

describe("an AbortSignal ends a request with its own reason", () => {
  const stopped = new Error("enough");

  test("before the request", async () => {
    proxy.requests.length = 0;
    const signal = AbortSignal.abort(stopped);
    assert.equal(await caught(Error, () => connect({ baseUrl: proxy.url }).widgets({ signal })), stopped);
    assert.deepEqual(proxy.requests, []);
  });

  test("while waiting for the response", async () => {
    proxy.faults = ["hang"];
    const stopping = new AbortController();
    proxy.onRequest = () => stopping.abort(stopped);
    const work = () => connect({ baseUrl: proxy.url }).analytics({ signal: stopping.signal });
    assert.equal(await caught(Error, work), stopped);
    proxy.onRequest = () => {};
  });

  test("while pausing before a retry", async (t) => {
    proxy.faults = [{ status: 503, headers: { "retry-after": "100" } }];
    const stopping = new AbortController();
    const { setTimeout: begin } = globalThis;
    t.mock.method(globalThis, "setTimeout", (run: (...args: unknown[]) => void, ms: number, ...args: unknown[]) => {
      if (ms === 100_000) setImmediate(() => stopping.abort(stopped));
      return begin(run, ms, ...args);
    });
    const pausing = caught(Error, () =>
      listReferences(connect({ baseUrl: proxy.url }).bookings({ signal: stopping.signal })),
    );
    assert.equal(await pausing, stopped);
  });
});

describe("management", async () => {
  const business = await makeCaller(deps.db, { plan: "business", scopes: KEY_SCOPES });
  const manager = connect({ apiKey: business.key });
  const shaky = connect({ apiKey: business.key, baseUrl: proxy.url });
  const countWidgets = async () => (await manager.widgets()).length;

  test("has every operation of the API reference that needs the scope manage, and no other", async () => {
    type Described = { operationId: string; security: { apiKey: string[] }[] };
    const { paths } = (await app.inject("/api/v1/openapi.json")).json() as {
      paths: Record<string, Record<string, Described>>;
    };
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { security }]) => security[0]?.apiKey.includes("manage") && security.length === 1)
        .map(([method, { operationId }]) => [operationId, `${method.toUpperCase()} ${path}`]),
    );
    const named = Object.entries(OPERATIONS).map(([name, { method, path }]) => [
      name,
      `${method} /api/v1${path.replaceAll(/:(\w+)/g, "{$1}")}`,
    ]);
    assert.deepEqual(named.sort(), described.sort());
    assert.ok(named.length > 30);
  });

  test("creates, lists, changes and deletes, with the types of the contract", async () => {
    const { name } = await manager.manage("changeOrganization", { body: { name: "Lindenhof Dental" } });
    assert.deepEqual([name, (await manager.manage("getOrganization")).name], ["Lindenhof Dental", "Lindenhof Dental"]);
    const widget = await manager.manage("createWidget", { body: { name: "Front page", collectData: true } });
    assert.equal((await manager.manage("getWidget", { widget: widget.id })).collectData, true);
    const { endpoint, secret } = await manager.manage("addEndpoint", {
      body: { kind: "webhook", url: "https://1.1.1.1/hooks", widgetIds: [widget.id] },
    });
    assert.match(String(secret), /^whsec_/);
    const changed = await manager.manage("changeEndpoint", { endpoint: endpoint.id, body: { description: "CRM" } });
    assert.deepEqual([changed.description, changed.widgetIds], ["CRM", [widget.id]]);
    const { deliveryId } = await manager.manage("testEndpoint", { endpoint: endpoint.id });
    const { data } = await manager.manage("listDeliveries", { query: { endpoint: endpoint.id, limit: 10 } });
    assert.deepEqual(
      data.map(({ id }) => id),
      [deliveryId],
    );
    const rotated = await manager.manage("rotateSecret", { endpoint: endpoint.id });
    assert.notEqual(rotated.secret, secret);
    assert.equal(await manager.manage("deleteEndpoint", { endpoint: endpoint.id }), null);
    assert.deepEqual((await manager.manage("listEndpoints")).data, []);
  });

  test("a request whose answer was lost is sent again, and nothing is created twice", async () => {
    const before = await countWidgets();
    proxy.faults = ["cut", { status: 503 }];
    proxy.requests.length = 0;
    const widget = await shaky.manage("createWidget", { body: { name: "Once" } });
    assert.deepEqual([widget.name, proxy.requests.length, await countWidgets()], ["Once", 3, before + 1]);
    const request = { body: { name: "By key" }, idempotencyKey: "import 7" };
    const [first, second] = [
      await manager.manage("createWidget", request),
      await manager.manage("createWidget", request),
    ];
    assert.deepEqual([second.id, await countWidgets()], [first.id, before + 2]);
    assert.notEqual((await manager.manage("createWidget", { body: { name: "By key" } })).id, first.id);
  });

  test("faults of a body are named by field, and wrong calls are refused before they are sent", async () => {
    const error = await caught(ApiError, () => manager.manage("createWidget", { body: { name: "" } }));
    assert.deepEqual([error.code, error.status, Object.keys(error.fields)], ["invalid_fields", 422, ["name"]]);
    const reader = connect({ apiKey: (await makeCaller(deps.db, { scopes: ["bookings"] })).key });
    assert.equal((await caught(ApiError, () => reader.manage("listKeys"))).code, "scope_required");
    const foreign = { widget: (await makeCaller(deps.db)).widgetId };
    assert.equal((await caught(ApiError, () => manager.manage("getWidget", foreign))).code, "not_found");
    assert.equal((await caught(ApiError, () => manager.manage("getWidget", { widget: "../keys" }))).code, "not_found");
    await caught(TypeError, () => manager.manage("getWidget", {} as never));
    await caught(TypeError, () => manager.manage("toString" as never, {} as never));
  });

  test("one booking is read by its reference", async () => {
    const reference = String(references[0]);
    assert.deepEqual(await client.booking(reference), await readDirectly(`/bookings/${reference}`));
    assert.equal((await caught(ApiError, () => client.booking("SVC-ZZZZZZ"))).code, "not_found");
  });
});

describe("browsers are refused", () => {
  const cases: [name: string, globals: object, isRefused: boolean][] = [
    ["a page", { document: {} }, true],
    ["a page with a made-up process", { document: {}, process: { versions: {} } }, true],
    ["a page's worker", { importScripts() {} }, true],
    ["Node", { process: { versions: { node: "20.3.0" } } }, false],
    ["Node with a made-up document, as in tests", { document: {}, process: { versions: { node: "26.10.0" } } }, false],
    ["an edge worker", {}, false],
  ];
  for (const [name, globals, isRefused] of cases) {
    test(`${name}: ${isRefused ? "refused" : "accepted"}`, () => {
      if (isRefused) assert.throws(() => refuseBrowsers(globals), /servers only/);
      else refuseBrowsers(globals);
    });
  }

  test("by the bundler entry, which has the same exports", async () => {
    const [browser, server] = await Promise.all([import("../../sdk/src/browser.ts"), import("../../sdk/src/index.ts")]);
    assert.deepEqual(Object.keys(browser).sort(), Object.keys(server).sort());
    assert.throws(() => browser.createClient(), /servers only/);
    assert.throws(() => browser.verifyWebhook(), /servers only/);
  });
});
