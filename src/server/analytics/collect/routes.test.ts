import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, test } from "node:test";
import Fastify from "fastify";
import { sql } from "kysely";
import { BROWSER_STEPS } from "#contract/analytics/steps.ts";
import type { WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { readAnalytics } from "../../../../test/support/funnel/analytics.ts";
import {
  countViews,
  eventsBody,
  listEvents,
  postEvents,
  readOutcomes,
} from "../../../../test/support/funnel/collect.ts";
import { buildApp } from "../../app.ts";
import { installErrorHandler } from "../../http/errors/error-handler.ts";
import { createMetrics } from "../../lib/log/metrics.ts";
import { VisitReader } from "../classify/read-visit.ts";
import { Collector } from "./collect.ts";
import { collectRoutes } from "./routes.ts";

const service = await createTestApp();
const widgetId = await makeWidget(service.deps.db, await makeOrganization(service.deps.db));

const GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

test("events are recorded with the permitted request fields, and answered 204 without a body", async () => {
  const visitId = randomUUID();
  const posted = await postEvents(
    service.app,
    widgetId,
    eventsBody({
      visitId: visitId.toUpperCase(),
      page: "https://user:pass@www.lindenhof.example:8443/booking/teeth?email=a@b.example#top",
      attribution: { utmSource: "Google", utmMedium: "cpc", utmCampaign: "Autumn", gclid: "x", touches: 3 },
      events: [{ step: "widget_viewed" }, { step: "slot_selected" }, { step: "widget_viewed" }],
      unknown: { member: true },
    }),
  );
  assert.deepEqual([posted.status, posted.body, posted.headers["content-type"]], [204, "", undefined]);
  const kept = {
    widget_id: widgetId,
    visit_id: visitId,
    page: "https://www.lindenhof.example:8443/booking/teeth",
    source: "google",
    medium: "cpc",
    campaign: "Autumn",
    channel: "Paid Search",
    device: "desktop",
    country: "",
  };
  assert.deepEqual(
    (await listEvents(service.deps.db)).filter((row) => row.visit_id === visitId),
    [
      { ...kept, step: "slot_selected" },
      { ...kept, step: "widget_viewed" },
    ],
  );
});

test("a beacon, which sends its JSON as text/plain, is recorded too", async () => {
  const body = eventsBody();
  const posted = await postEvents(service.app, widgetId, body, { "content-type": "text/plain;charset=UTF-8" });
  assert.equal(posted.status, 204);
  assert.equal(await isRecorded(body), true);
});

test("page and attribution may be missing, and a page that isn't a web address is stored as nothing", async () => {
  const visitId = randomUUID();
  assert.equal((await postEvents(service.app, widgetId, { visitId, events: [{ step: "form_started" }] })).status, 204);
  const app = eventsBody({ page: "android-app://com.example/path" });
  assert.equal((await postEvents(service.app, widgetId, app)).status, 204);
  const rows = (await listEvents(service.deps.db)).filter((row) => [visitId, app["visitId"]].includes(row.visit_id));
  assert.deepEqual(
    rows.map((row) => [row.page, row.channel]),
    [
      ["", "Direct"],
      ["", "Direct"],
    ],
  );
});

test("every browser step is accepted, up to 20 events at once", async () => {
  const steps = BROWSER_STEPS.map((step) => ({ step }));
  const body = eventsBody({
    events: [...steps, ...steps, ...steps, { step: "widget_viewed" }, { step: "widget_viewed" }],
  });
  assert.equal((await postEvents(service.app, widgetId, body)).status, 204);
  const rows = (await listEvents(service.deps.db)).filter((row) => row.visit_id === body["visitId"]);
  assert.deepEqual(rows.map((row) => row.step).sort(), [...BROWSER_STEPS].sort());
});

describe("malformed requests get 400 in the error shape, and nothing is recorded", () => {
  const valid = eventsBody();
  const manyEvents = (count: number) => Array.from({ length: count }, () => ({ step: "widget_viewed" }));
  const VISIT = "The field visitId must be a UUID.";
  const OBJECT = 'The body must be a JSON object like {"visitId":"<uuid>","events":[{"step":"widget_viewed"}]}.';
  const EVENTS =
    "The field events must be a list of 1 to 20 objects, each with a step of widget_viewed, service_selected, date_selected, slot_selected, form_started, no_availability.";
  const cases: [name: string, body: unknown, message: string][] = [
    ["no body", "", OBJECT],
    ["malformed JSON", '{"visitId":', OBJECT],
    ["JSON after JSON", `${JSON.stringify(valid)}{}`, OBJECT],
    ["brackets without end", "[".repeat(10), OBJECT],
    ["null", "null", OBJECT],
    ["a list", [valid], OBJECT],
    ["a text", '"text"', OBJECT],
    ["no visit id", { events: valid["events"] }, VISIT],
    ["a visit id that is not a UUID", { ...valid, visitId: "visit-1" }, VISIT],
    ["a visit id in braces", { ...valid, visitId: `{${randomUUID()}}` }, VISIT],
    ["a visit id with a line feed", { ...valid, visitId: `${randomUUID()}\n` }, VISIT],
    ["a visit id with a null character", { ...valid, visitId: `${randomUUID()}\u0000` }, VISIT],
    ["a number for a visit id", { ...valid, visitId: 7 }, VISIT],
    [
      "a visit id by way of the prototype",
      `{"__proto__":{"visitId":"${randomUUID()}"},"events":[{"step":"widget_viewed"}]}`,
      VISIT,
    ],
    ["no events", { visitId: randomUUID() }, EVENTS],
    ["an empty list of events", { ...valid, events: [] }, EVENTS],
    ["21 events", { ...valid, events: manyEvents(21) }, EVENTS],
    ["one event outside a list", { ...valid, events: { step: "widget_viewed" } }, EVENTS],
    ["a wrong step", { ...valid, events: [{ step: "widget_closed" }] }, EVENTS],
    ["a step that only the server writes", { ...valid, events: [{ step: "booking_completed" }] }, EVENTS],
    ["a step with a null character", { ...valid, events: [{ step: "widget_viewed\u0000" }] }, EVENTS],
    ["an event without a step", { ...valid, events: [{}] }, EVENTS],
    ["an event that is null", { ...valid, events: [null] }, EVENTS],
  ];
  for (const [name, body, message] of cases) {
    test(name, async () => {
      const before = (await listEvents(service.deps.db)).length;
      const { status, body: response } = await postEvents(service.app, widgetId, body);
      assert.deepEqual([status, JSON.parse(response)], [400, { error: { code: "bad_request", message } }]);
      assert.equal((await listEvents(service.deps.db)).length, before);
    });
  }

  test("a request with another content type, or none", async () => {
    for (const contentType of [
      "application/x-www-form-urlencoded",
      "text/html",
      "multipart/form-data; boundary=x",
      "",
    ]) {
      const { status, body } = await postEvents(service.app, widgetId, eventsBody(), { "content-type": contentType });
      const { error } = JSON.parse(body) as { error: { code: string } };
      assert.deepEqual([contentType, status, error.code], [contentType, 400, "bad_request"]);
    }
  });
});

test("null characters, lone surrogates and invalid UTF-8 are cleaned up and never fail a request", async () => {
  const hostile = "a\u0000b\ud800c\udfffd\u0007\u2028";
  const texts = [
    "utmSource",
    "utmMedium",
    "utmCampaign",
    "referrer",
    "landingPage",
    "currentPage",
    "gclid",
    "firstSeenAt",
  ];
  const attribution = Object.fromEntries(texts.map((name) => [name, hostile]));
  const body = eventsBody({ page: `https://www.lindenhof.example/${hostile}?${hostile}`, attribution });
  assert.equal((await postEvents(service.app, widgetId, body)).status, 204);
  const [row] = (await listEvents(service.deps.db)).filter((one) => one.visit_id === body["visitId"]);
  assert.deepEqual(
    [row?.page, row?.source, row?.medium, row?.campaign],
    [
      "https://www.lindenhof.example/a%00b%EF%BF%BDc%EF%BF%BDd%07%E2%80%A8",
      "ab\ufffdc\ufffdd",
      "ab\ufffdc\ufffdd",
      "ab\ufffdc\ufffdd",
    ],
  );

  const visitId = randomUUID();
  const bytes = Buffer.concat([
    Buffer.from(`{"visitId":"${visitId}","events":[{"step":"widget_viewed"}],"attribution":{"utmSource":"caf`),
    Buffer.from([0xe9, 0xff, 0xc3]),
    Buffer.from('"}}'),
  ]);
  assert.equal((await postEvents(service.app, widgetId, bytes)).status, 204);
  assert.equal(
    (await listEvents(service.deps.db)).find((one) => one.visit_id === visitId)?.source,
    "caf\ufffd\ufffd\ufffd",
  );
});

test("attribution never fails an event, whatever it contains", async () => {
  const fine = { utmSource: "google", utmMedium: "cpc" };
  const cases: unknown[] = [
    null,
    [],
    "text",
    { ...fine, utmTerm: "a".repeat(12_000) },
    { ...fine, landingPage: `https://www.lindenhof.example/?a=${"a".repeat(12_000)}` },
    { ...fine, landingPage: "javascript:alert(1)", touches: 1e30 },
    { ...fine, touches: -1, utmCampaign: 7, referrer: { href: "https://www.google.com/" } },
    { ...fine, touches: "3", utmContent: "\u0000", fbclid: null },
  ];
  for (const attribution of cases) {
    const body = eventsBody({ attribution });
    const { status } = await postEvents(service.app, widgetId, body);
    const [row] = (await listEvents(service.deps.db)).filter((one) => one.visit_id === body["visitId"]);
    const expected = attribution !== null && Object.hasOwn(attribution as object, "utmSource") ? "google" : "(direct)";
    assert.deepEqual([status, row?.source], [204, expected], JSON.stringify(attribution).slice(0, 80));
  }
  for (const page of [7, { href: "https://a.example/" }, `https://a.example/${"a/".repeat(6_000)}`])
    assert.equal((await postEvents(service.app, widgetId, eventsBody({ page }))).status, 204);
});

test("an unknown widget, a malformed id and another kind of id get 404", async () => {
  for (const id of ["w_1111111111111", "w_111111111111", "nonsense", "%00", "w_%F0%9F%98%80", "org_1111111111111111"]) {
    const { status, body } = await postEvents(service.app, id, eventsBody());
    assert.deepEqual(
      [id, status, JSON.parse(body)],
      [id, 404, { error: { code: "not_found", message: "Widget not found." } }],
    );
  }
});

test("a widget created just after it was requested is found", async () => {
  const { db } = service.deps;
  const owner = await makeOrganization(db);
  const id = "w_222222222222" as WidgetId;
  assert.equal((await postEvents(service.app, id, eventsBody())).status, 404);
  await sql`insert into widgets (id, organization_id, name, business_name, template, status, collect_data, created_at)
    values (${id}, ${owner}, 'New', '', 'classic', 'active', false, '2026-11-01')`.execute(db);
  assert.equal((await postEvents(service.app, id, eventsBody())).status, 204);
});

test("a body over 16 KiB gets 413, with or without a Content-Length", async () => {
  const large = JSON.stringify(eventsBody({ padding: "x".repeat(1_000_000) }));
  const { status, body } = await postEvents(service.app, widgetId, large);
  assert.deepEqual(
    [status, JSON.parse(body)],
    [413, { error: { code: "payload_too_large", message: "The request body is too large." } }],
  );
  const chunked = await postEvents(service.app, widgetId, large, { "transfer-encoding": "chunked" });
  assert.equal(chunked.status, 413);
  const fitting = eventsBody({ padding: "x".repeat(16_000) });
  assert.equal((await postEvents(service.app, widgetId, fitting)).status, 204);
});

test("a body that is nested deeply or has thousands of values gets 400, even where its contents would be ignored", async () => {
  const brackets = "[".repeat(7_000) + "]".repeat(7_000);
  const cases = { attribution: brackets, page: brackets, ignored: `[${Array(5_000).fill("0").join()}]` };
  for (const [name, text] of Object.entries(cases)) {
    const body = JSON.stringify(eventsBody({ [name]: "here" })).replace('"here"', text);
    const response = await postEvents(service.app, widgetId, body);
    const message = "The body is nested too deeply or has too many values.";
    assert.deepEqual([name, response.status, JSON.parse(response.body).error.message], [name, 400, message]);
  }
});

test("other methods get 405, even OPTIONS: the frame has our own origin and needs no CORS", async () => {
  for (const method of ["GET", "PUT", "OPTIONS", "DELETE"] as const) {
    const response = await service.app.inject({ method, url: `/embed-api/${widgetId}/events` });
    assert.deepEqual([method, response.statusCode, response.headers["allow"]], [method, 405, "POST"]);
    assert.equal(response.headers["access-control-allow-origin"], undefined);
  }
});

describe("events dropped on purpose get 204 and leave only a count", () => {
  const cases: [name: string, outcome: string, body: Record<string, unknown>, headers: Record<string, string>][] = [
    ["a bot", "bot", eventsBody(), { "user-agent": GOOGLEBOT }],
    ["a program", "bot", eventsBody(), { "user-agent": "curl/8.14.1" }],
    ["a browser without a window", "bot", eventsBody(), { "user-agent": "Mozilla/5.0 HeadlessChrome/141.0.0.0" }],
    ["a prefetch", "prefetch", eventsBody(), { "sec-purpose": "prefetch" }],
    ["a prerender", "prefetch", eventsBody(), { "sec-purpose": "prefetch;prerender" }],
    ["a spam referrer", "spam_referrer", eventsBody({ attribution: { referrer: "https://semalt.com/x" } }), {}],
  ];
  for (const [name, outcome, body, headers] of cases) {
    test(name, async () => {
      const before = (await readOutcomes(service.app))[outcome] ?? 0;
      const posted = await postEvents(service.app, widgetId, body, headers);
      assert.deepEqual([posted.status, posted.body], [204, ""]);
      assert.equal(await isRecorded(body), false);
      assert.equal((await readOutcomes(service.app))[outcome], before + 1);
    });
  }

  test("events for a paused widget, until it is active again", async () => {
    const { db } = service.deps;
    const id = await makeWidget(db, await makeOrganization(db));
    const setStatus = (status: string) => sql`update widgets set status = ${status} where id = ${id}`.execute(db);
    const bodies = [eventsBody(), eventsBody(), eventsBody()];
    const responses: number[] = [];
    for (const [body, status] of [
      [bodies[0], "active"],
      [bodies[1], "paused"],
      [bodies[2], "active"],
    ] as const) {
      await setStatus(status);
      responses.push((await postEvents(service.app, id, body)).status);
    }
    assert.deepEqual(responses, [204, 204, 204]);
    assert.deepEqual(await Promise.all(bodies.map((body) => isRecorded(body ?? {}))), [true, false, true]);
    assert.ok(((await readOutcomes(service.app))["paused"] ?? 0) >= 1);
  });
});

test('a request without a user agent is counted as a visitor on device "other"', async () => {
  const body = eventsBody();
  assert.equal((await postEvents(service.app, widgetId, body, { "user-agent": "" })).status, 204);
  assert.equal((await listEvents(service.deps.db)).find((row) => row.visit_id === body["visitId"])?.device, "other");
});

test("every outcome is counted per event; an unreadable request counts as one", async () => {
  const { app, deps } = await createTestApp();
  const id = await makeWidget(deps.db, await makeOrganization(deps.db));
  await postEvents(app, id, eventsBody({ events: [{ step: "widget_viewed" }, { step: "slot_selected" }] }));
  await postEvents(app, id, "{");
  await postEvents(app, "w_111111111111", eventsBody());
  assert.deepEqual(await readOutcomes(app), { recorded: 2, malformed: 1, unknown_widget: 1 });
});

test("requests are limited per network and minute, with Retry-After", async () => {
  const { app, deps, clock } = await createTestApp({ rateLimitEventsPerMinute: 2, trustProxy: 1 });
  const id = await makeWidget(deps.db, await makeOrganization(deps.db));
  const post = (ip: string) => postEvents(app, id, eventsBody(), { "x-forwarded-for": ip });
  clock.set(new Date("2026-11-01T12:00:45.000Z"));
  assert.deepEqual([(await post("192.0.2.1")).status, (await post("192.0.2.1")).status], [204, 204]);
  const refused = await post("192.0.2.1");
  assert.deepEqual(
    [refused.status, refused.headers["retry-after"], JSON.parse(refused.body)],
    [
      429,
      "15",
      {
        error: {
          code: "rate_limited",
          message: "Each network may send 2 requests per minute. Wait before sending more.",
        },
      },
    ],
  );
  assert.equal((await post("192.0.2.2")).status, 204, "another address");
  assert.deepEqual(
    [
      (await post("2001:db8:1:2::1")).status,
      (await post("2001:db8:1:ffff::9")).status,
      (await post("2001:db8:1:2::3")).status,
    ],
    [204, 204, 429],
    "one subscriber may have a whole /48 of IPv6",
  );
  clock.set(new Date("2026-11-01T12:01:00.000Z"));
  assert.equal((await post("192.0.2.1")).status, 204, "the next minute");
  assert.equal((await readOutcomes(app))["rate_limited"], 2);
});

test("a limit of 0 turns limiting off", async () => {
  const { app, deps } = await createTestApp({ rateLimitEventsPerMinute: 0 });
  const id = await makeWidget(deps.db, await makeOrganization(deps.db));
  const responses = await Promise.all(Array.from({ length: 50 }, () => postEvents(app, id, eventsBody())));
  assert.deepEqual(new Set(responses.map((response) => response.status)), new Set([204]));
});

function createCollector(deps: typeof service.deps, limits: { itemsMax: number; waitMs: number }): Collector {
  return new Collector(deps, new VisitReader(deps.config), { batchMax: 2, atOnce: 1, ...limits });
}

test("when the queue is full, requests get 503 with Retry-After, and everything answered 204 is recorded", async () => {
  const { db } = service.deps;
  const owner = await makeOrganization(db);
  const id = await makeWidget(db, owner);
  const app = Fastify();
  const deps = { ...service.deps, metrics: createMetrics() };
  installErrorHandler(app, deps);
  await collectRoutes(app, deps, createCollector(deps, { itemsMax: 4, waitMs: 5_000 }));
  await postEvents(app, id, eventsBody());

  const bodies = Array.from({ length: 10 }, () => eventsBody());
  const responses = await db.transaction().execute(async (transaction) => {
    // Recording waits for this row.
    await sql`select from visit_progress where organization_id = ${owner} for update`.execute(transaction);
    const sent = bodies.map((body) => postEvents(app, id, body));
    const refused = await Promise.all(sent.slice(4));
    assert.deepEqual(
      refused.map((response) => [response.status, response.headers["retry-after"], JSON.parse(response.body)]),
      Array(6).fill([
        503,
        "2",
        {
          error: {
            code: "unavailable",
            message: "Too many events are waiting to be recorded. Try again in a few seconds.",
          },
        },
      ]),
    );
    return sent;
  });
  const statuses = (await Promise.all(responses)).map((response) => response.status);
  assert.deepEqual(statuses, [204, 204, 204, 204, 503, 503, 503, 503, 503, 503]);
  assert.deepEqual(
    await Promise.all(bodies.map(isRecorded)),
    statuses.map((status) => status === 204),
  );
  await app.close();
});

test("a commit that takes too long gets 503, never 204", async () => {
  const { db } = service.deps;
  const owner = await makeOrganization(db);
  const id = await makeWidget(db, owner);
  const app = Fastify();
  const deps = { ...service.deps, metrics: createMetrics() };
  installErrorHandler(app, deps);
  await collectRoutes(app, deps, createCollector(deps, { itemsMax: 100, waitMs: 500 }));
  await db.transaction().execute(async (transaction) => {
    await sql`select from visit_progress where organization_id = ${owner} for update`.execute(transaction);
    const responses = await Promise.all(Array.from({ length: 5 }, () => postEvents(app, id, eventsBody())));
    assert.deepEqual(
      responses.map((response) => [response.status, response.headers["retry-after"]]),
      Array(5).fill([503, "5"]),
    );
  });
  assert.equal((await postEvents(app, id, eventsBody())).status, 204, "recovers by itself");
  await app.close();
});

test("two processes that get the same visits at once give the same numbers as one", async () => {
  const first = await createTestApp();
  const owner = await makeOrganization(first.deps.db);
  const widget = await makeWidget(first.deps.db, owner);
  const second = await buildApp({ ...first.deps, metrics: createMetrics() });
  const visits = Array.from({ length: 60 }, () => randomUUID());
  const steps = ["widget_viewed", "service_selected", "slot_selected", "form_started"] as const;
  const posts = visits.flatMap((visitId) =>
    steps.flatMap((step) =>
      [first.app, second, first.app].map((app) => postEvents(app, widget, eventsBody({ visitId, events: [{ step }] }))),
    ),
  );
  assert.deepEqual(new Set((await Promise.all(posts)).map((response) => response.status)), new Set([204]));
  for (const widgetId of [null, widget]) {
    const { funnel } = await readAnalytics(first.deps.db, owner, { days: 1, now: first.clock.now(), widgetId });
    assert.deepEqual(Object.values(funnel), [60, 60, 60, 60, 60, 0]);
  }
  assert.equal(await countViews(first.deps.db), 60);
  await second.close();
});

async function isRecorded(body: Record<string, unknown>): Promise<boolean> {
  return (await listEvents(service.deps.db)).some((row) => row.visit_id === body["visitId"]);
}

test("a browser that disconnects right after sending its beacon causes no error", async () => {
  const { app, deps } = await createTestApp({ rateLimitEventsPerMinute: 0 });
  const id = await makeWidget(deps.db, await makeOrganization(deps.db));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const address = app.server.address();
  assert.ok(address !== null && typeof address === "object");
  const body = JSON.stringify(eventsBody());
  const sent = connect({ host: "127.0.0.1", port: address.port }, () => {
    const head = `POST /embed-api/${id}/events HTTP/1.1\r\nHost: x\r\nUser-Agent: Mozilla/5.0 (Windows NT 10.0)\r\n`;
    sent.write(`${head}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`, () =>
      sent.resetAndDestroy(),
    );
  });
  await once(sent, "close");
  // However the race between the bytes and the reset ends, the service accepts the next request and nothing failed.
  assert.equal((await postEvents(app, id, eventsBody())).status, 204);
  const failed = Object.keys(await readOutcomes(app)).filter((outcome) => outcome !== "recorded");
  assert.deepEqual(failed, []);
});
