import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp, type TestApp } from "../../../../test/support/app/app.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { dumpDatabase, eventsBody, listEvents, postEvents } from "../../../../test/support/funnel/collect.ts";
import type { Config } from "../../config.ts";

// The contract's promise: an anonymous event keeps only the step, time, page, source, medium, campaign, channel, device,
// country and the random visit id. Everything else in a request is marked here, and searched for in every table, log line and
// response.

const CLICK_ID = "Cj0KCQiAMarkerClickIdValue_BwE";
const MARKERS = {
  ipv4: "193.99.144.77",
  ipv6: "2a02:8109:9a40:feed::77",
  userAgent: "MarkerBrowser/77.7",
  query: "marker-query-value",
  fragment: "marker-fragment",
  userinfo: "marker-user",
  clickId: CLICK_ID,
  term: "marker-term",
  cookie: "marker-cookie",
  unknown: "marker-unknown-member",
};

const attribution = {
  landingPage: `https://www.lindenhof.example/land?gclid=${CLICK_ID}&mail=${MARKERS.query}#${MARKERS.fragment}`,
  currentPage: `https://www.lindenhof.example/now?x=${MARKERS.query}`,
  referrer: `https://www.google.com/search?q=${MARKERS.query}`,
  utmSource: "google",
  // Tracking templates put the click id into a tag.
  utmCampaign: `autumn-${CLICK_ID}`,
  utmTerm: MARKERS.term,
  utmContent: MARKERS.term,
  ...Object.fromEntries(
    ["gclid", "gbraid", "wbraid", "fbclid", "msclkid", "liFatId", "ttclid", "gaClientId", "fbp", "fbc"].map((name) => [
      name,
      CLICK_ID,
    ]),
  ),
};

const body = eventsBody({
  page: `https://${MARKERS.userinfo}:x@www.lindenhof.example/book?mail=${MARKERS.query}#${MARKERS.fragment}`,
  attribution,
  extra: MARKERS.unknown,
});

const toHeaders = (ip: string) => ({
  "user-agent": `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148 ${MARKERS.userAgent}`,
  "x-forwarded-for": ip,
  "x-real-ip": ip,
  forwarded: `for=${ip}`,
  cookie: `id=${MARKERS.cookie}`,
  referer: `https://www.lindenhof.example/?${MARKERS.query}`,
});

async function sendEverything(
  settings: Partial<Config>,
  signal: Record<string, string> = {},
): Promise<TestApp & { answers: string }> {
  const headers = (ip: string) => ({ ...toHeaders(ip), ...signal });
  const service = await createTestApp(settings);
  const { app, deps } = service;
  const widget = await makeWidget(deps.db, await makeOrganization(deps.db));
  const responses: unknown[] = [];
  for (const ip of [MARKERS.ipv4, MARKERS.ipv6, `::ffff:${MARKERS.ipv4}`, `${MARKERS.ipv4}, 10.0.0.1`]) {
    responses.push(
      await postEvents(app, widget, { ...body, visitId: crypto.randomUUID() }, headers(ip)),
      await postEvents(app, widget, { ...body, visitId: MARKERS.unknown }, headers(ip)),
      await postEvents(app, widget, { ...body, events: [{ step: MARKERS.unknown }] }, headers(ip)),
      await postEvents(app, "w_111111111111", body, headers(ip)),
      await postEvents(app, MARKERS.query, body, headers(ip)),
      await postEvents(app, widget, `{"${MARKERS.unknown}`, headers(ip)),
      await postEvents(
        app,
        widget,
        { ...body, visitId: crypto.randomUUID() },
        { ...headers(ip), "user-agent": `bot ${MARKERS.userAgent}` },
      ),
    );
  }
  const metrics = await app.inject({ url: "/metrics" });
  return { ...service, answers: JSON.stringify([responses, metrics.body]) };
}

for (const [name, settings, signal] of [
  ["believing a proxy", { trustProxy: 1 }, {}],
  ["believing nobody", { trustProxy: false }, {}],
  ["with the country from a header", { trustProxy: 1, countryHeader: "x-country" }, {}],
  ["when an address has sent too much", { trustProxy: 1, rateLimitEventsPerMinute: 3 }, {}],
  ["with Global Privacy Control", { trustProxy: 1 }, { "sec-gpc": "1" }],
  ["with Do Not Track", { trustProxy: 1 }, { dnt: "1" }],
] satisfies [string, Partial<Config>, Record<string, string>][]) {
  test(`no address, user agent, query, click id or cookie is in a table, log line or response, ${name}`, async () => {
    const { deps, lines, answers: responses } = await sendEverything(settings, signal);
    const database = await dumpDatabase(deps.db);
    assert.ok(database.includes("https://www.lindenhof.example/book"), "something was recorded");
    assert.ok(lines.length > 20, "something was logged");
    for (const [what, marker] of Object.entries(MARKERS)) {
      for (const [where, text] of Object.entries({ database, log: lines.join(""), answers: responses })) {
        const found = text.toLowerCase().includes(marker.toLowerCase());
        assert.equal(found, false, `${what} (${marker}) is in the ${where}`);
      }
    }
  });
}

test("only these values are stored", async () => {
  const { deps } = await sendEverything({ trustProxy: 1 });
  const rows = await listEvents(deps.db);
  assert.equal(rows.length, 4);
  const kept = new Set(rows.map(({ widget_id: _widget, visit_id: _visit, ...row }) => JSON.stringify(row)));
  const common = {
    step: "widget_viewed",
    page: "https://www.lindenhof.example/book",
    source: "google",
    medium: "cpc",
    campaign: "(not set)",
    channel: "Paid Search",
    device: "mobile",
  };
  assert.deepEqual(kept, new Set(["", "DE"].map((country) => JSON.stringify({ ...common, country }))));
});

test("a click id in the path of the page isn't stored, with or without a privacy signal", async () => {
  const { app, deps } = await createTestApp();
  const widget = await makeWidget(deps.db, await makeOrganization(deps.db));
  const gclid = "marker-click-of-twenty-letters";
  for (const signal of [{}, { "sec-gpc": "1" }, { dnt: "1" }])
    await postEvents(
      app,
      widget,
      eventsBody({ page: `https://www.lindenhof.example/${gclid}`, attribution: { gclid } }),
      signal,
    );
  const pages = (await listEvents(deps.db)).map(({ page }) => page);
  assert.deepEqual(pages, Array(3).fill("https://www.lindenhof.example"));
});

test("a database error is logged without any value from the events", async () => {
  const { app, deps, lines } = await createTestApp();
  const widget = await makeWidget(deps.db, await makeOrganization(deps.db));
  await deps.db.schema.alterTable("funnel_visits").renameColumn("source", "gone").execute();
  const { status } = await postEvents(app, widget, { ...body, visitId: crypto.randomUUID() }, toHeaders(MARKERS.ipv4));
  assert.equal(status, 503);
  const failure = lines.find((line) => line.includes("collection.interrupted"));
  assert.match(failure ?? "", /"error":\{"type":"DatabaseError","code":"42703","routine":/);
  for (const text of [...Object.values(MARKERS), String(body["visitId"]), "lindenhof"])
    assert.equal(lines.join("").includes(text), false, text);
});
