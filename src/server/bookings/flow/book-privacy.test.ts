import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { findFreeTime } from "../../../../test/support/bookings/book.ts";
import { makeKey, makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { dumpDatabase, eventsBody, listEvents, postEvents } from "../../../../test/support/funnel/collect.ts";
import { TEXTS_WITH_EMAIL } from "../../../../test/support/funnel/email-texts.ts";

const { app, deps, clock } = await createTestApp({
  rateLimitBookingsPerMinute: 0,
  rateLimitWidgetBookingsPerMinute: 0,
});
clock.set(new Date());
const base = await app.listen({ host: "127.0.0.1", port: 0 });

const ATTRIBUTION = {
  landingPage: "https://site.example/lp?utm_medium=social&gclid=marker-click",
  referrer: "https://www.facebook.com/",
  gclid: "marker-click",
  fbclid: "marker-click",
  gaClientId: "marker-browser",
  fbp: "marker-browser",
  fbc: "marker-browser",
  touches: 1,
};

async function makeSetting() {
  const owner = await makeOrganization(deps.db);
  return { owner, widgetId: await makeWidget(deps.db, owner), key: (await makeKey(deps.db, owner)).key };
}

/** Books with these headers and returns the stored attribution. */
async function bookWith(headers: Record<string, string>, sent: object = ATTRIBUTION): Promise<Record<string, unknown>> {
  const { widgetId, key } = await makeSetting();
  const time = await findFreeTime(base, widgetId);
  const response = await app.inject({
    method: "POST",
    url: `/embed-api/${widgetId}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": widgetId, ...headers },
    payload: JSON.stringify({
      visitId: "6f1c1d9e-7b0a-4a51-9d7e-0c1b5a3f2e44",
      timeZone: "Europe/Berlin",
      customer: { name: "Mara Quell", email: "mara@example.com" },
      attribution: sent,
      ...time,
    }),
  });
  assert.equal(response.statusCode, 201, response.body);
  const read = await app.inject({ url: "/api/v1/bookings", headers: { authorization: `Bearer ${key}` } });
  return read.json().data[0].attribution;
}

test("with Global Privacy Control a booking keeps no click or browser identifiers", async () => {
  const attribution = await bookWith({ "sec-gpc": "1" });
  assert.ok(!JSON.stringify(attribution).includes("marker"), JSON.stringify(attribution));
  assert.equal(attribution["landingPage"], "https://site.example/lp?utm_medium=social");
  assert.equal(attribution["channel"], "Organic Social");
});

test("with Global Privacy Control a booking keeps no tag or page that contains a click id", async () => {
  const gclid = "marker-click-of-twenty-letters";
  const attribution = await bookWith(
    { "sec-gpc": "1" },
    {
      landingPage: `https://site.example/lp?utm_source=google&utm_campaign=${gclid}`,
      currentPage: `https://site.example/${gclid}`,
      utmSource: "google",
      utmCampaign: `autumn-${gclid}`,
      utmTerm: gclid,
      gclid,
    },
  );
  assert.deepEqual(attribution, {
    source: "google",
    medium: "(not set)",
    channel: "Organic Search",
    pageUrl: "https://site.example",
    landingPage: "https://site.example/lp?utm_source=google",
    currentPage: "https://site.example/",
    utmSource: "google",
  });
});

test("without the signal they are stored and used for classification", async () => {
  const attribution = await bookWith({});
  assert.equal(attribution["gclid"], "marker-click");
  assert.equal(attribution["gaClientId"], "marker-browser");
});

test("a funnel event with the signal is classified without click identifiers", async () => {
  const { widgetId } = await makeSetting();
  const page = "https://site.example/book";
  const body = () => eventsBody({ page, attribution: { gclid: "marker-click-of-twenty-letters" } });
  await postEvents(app, widgetId, body(), { "sec-gpc": "1" });
  await postEvents(app, widgetId, body());
  const sources = (await listEvents(deps.db)).filter((row) => row.widget_id === widgetId).map(({ source }) => source);
  assert.deepEqual(sources.sort(), ["(direct)", "google"]);
});

test("tags, pages and referrers that may contain an email address leave nothing in any table, booked or not", async () => {
  for (const text of TEXTS_WITH_EMAIL) {
    const marked = text.replace(/jane/i, "janeleak");
    const address = `https://site.example/c/${marked}?utm_source=news&x=${encodeURIComponent(marked)}`;
    const names = ["utmSource", "utmMedium", "utmCampaign", "utmTerm", "utmContent"];
    const raw = {
      ...Object.fromEntries(names.map((name) => [name, marked])),
      ...{ landingPage: address, currentPage: address, referrer: address },
    };
    await bookWith({}, raw);
    const { widgetId } = await makeSetting();
    await postEvents(app, widgetId, eventsBody({ page: address, attribution: raw }));
  }
  assert.doesNotMatch(await dumpDatabase(deps.db), /janeleak/i);
});

test("stored addresses keep their campaign, but no email address or token", async () => {
  const attribution = await bookWith(
    {},
    {
      landingPage: "https://site.example/book/leak@example.com?utm_source=news&email=leak%40example.com&gclid=Cj0KCQ",
      currentPage: "https://site.example/c/leak%2540example.com?step=2",
      referrer: "https://leak:pw@portal.example/reset/eyJhbGciOiJIUzI1NiJ9x1Y2z3",
    },
  );
  assert.equal(attribution["landingPage"], "https://site.example/book/[redacted]?utm_source=news&gclid=Cj0KCQ");
  assert.equal(attribution["currentPage"], "https://site.example/c/[redacted]?step=2");
  assert.equal(attribution["referrer"], "https://portal.example/reset/[redacted]");
});
