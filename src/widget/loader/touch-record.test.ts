import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { CLICK_ID_PARAMETERS } from "#contract/analytics/attribution-fields.ts";
import {
  parseRecord,
  readAnalyticsIds,
  recordArrival,
  type TouchRecord,
  toPageAttribution,
  toRawAttribution,
} from "./touch-record.ts";

const START = new Date("2026-11-01T12:00:00.000Z");
const SITE = "https://www.site.example";

function arrive(path: string, { from = "", minute = 0 }: { from?: string; minute?: number } = {}) {
  return {
    page: SITE + path,
    referrer: from,
    at: new Date(START.getTime() + minute * 60_000),
  };
}

/** Consecutive page loads. */
function visit(...arrivals: ReturnType<typeof arrive>[]): TouchRecord {
  const record = arrivals.reduce<TouchRecord | undefined>((known, each) => recordArrival(known, each), undefined);
  assert.ok(record);
  return record;
}

const AD = "/lp?utm_source=google&utm_medium=cpc&gclid=X";

test("the first visit is touch 1, with its page, referrer and parameters", () => {
  const record = visit(arrive(`${AD}&name=jane#top`, { from: "https://www.google.com/search?q=dentist" }));
  const tags = { utmSource: "google", utmMedium: "cpc", gclid: "X" };
  const at = START.toISOString();
  assert.deepEqual(record, {
    firstSeenAt: at,
    landingPage: `${SITE}${AD}`,
    referrer: "https://www.google.com/search",
    touches: 1,
    first: tags,
    last: tags,
    seen: at,
  });
});

describe("touches", () => {
  // biome-ignore format: one case a line
  const cases: [what: string, touches: number, ...later: ReturnType<typeof arrive>[]][] = [
    ["a reload", 1, arrive(AD), arrive(AD)],
    ["a reload after hours", 1, arrive(AD, { minute: 600 })],
    ["the next page", 1, arrive("/about", { from: `${SITE}/lp` })],
    ["the next page after hours", 1, arrive("/about", { from: `${SITE}/lp`, minute: 600 })],
    ["another host of the same site after hours", 1, arrive("/", { from: "https://shop.site.example/", minute: 600 })],
    ["another site within half an hour", 1, arrive("/", { from: "https://pay.example/done", minute: 29 })],
    ["another site after half an hour", 2, arrive("/", { from: "https://blog.example/", minute: 30 })],
    ["coming back directly after hours", 1, arrive("/", { minute: 600 })],
    ["another campaign at once", 2, arrive("/lp?utm_source=news")],
    ["another click of the same campaign", 2, arrive(`${AD}2`)],
    ["another campaign, and its reload", 2, arrive("/lp?utm_source=news"), arrive("/lp?utm_source=news")],
    ["another campaign, and the first again", 3, arrive("/lp?utm_source=news"), arrive(AD)],
    ["pages in between keep the visit alive", 1, arrive("/a", { minute: 20 }), arrive("/", { from: "https://blog.example/", minute: 40 })],
  ];
  for (const [what, touches, ...later] of cases) {
    test(`${what}: ${touches}`, () => assert.equal(visit(arrive(AD), ...later).touches, touches));
  }

  test("a later touch changes only the last page and parameters, not the first", () => {
    const record = visit(arrive(AD), arrive("/offer?utm_source=news", { from: "https://mail.example/", minute: 90 }));
    assert.equal(record.landingPage, `${SITE}${AD}`);
    assert.equal(record.referrer, "");
    assert.equal(record.firstSeenAt, "2026-11-01T12:00:00.000Z");
    assert.deepEqual(record.first, { utmSource: "google", utmMedium: "cpc", gclid: "X" });
    assert.deepEqual(record.last, { utmSource: "news" });
    assert.equal(record.seen, "2026-11-01T13:30:00.000Z");
  });

  test("the first parameters are those of the first touch that had any", () => {
    const record = visit(arrive("/", { from: "https://blog.example/post" }), arrive(AD, { minute: 5 }));
    assert.equal(record.referrer, "https://blog.example/post");
    assert.equal(record.landingPage, `${SITE}/`);
    assert.deepEqual(record.first, { utmSource: "google", utmMedium: "cpc", gclid: "X" });
    assert.equal(record.touches, 2);
  });
});

test("the fields sent have the contract's names, from the first touch, with the current page", () => {
  const record = visit(arrive(AD, { from: "https://www.google.com/" }), arrive("/about"));
  assert.deepEqual(toRawAttribution(record, `${SITE}/booking?session=1&utm_source=own`), {
    landingPage: `${SITE}${AD}`,
    referrer: "https://www.google.com/",
    firstSeenAt: "2026-11-01T12:00:00.000Z",
    touches: 1,
    utmSource: "google",
    utmMedium: "cpc",
    gclid: "X",
    currentPage: `${SITE}/booking?utm_source=own`,
  });
});

test("without consent only this page view's campaign and referring host are sent: no click, first visit or referrer path", () => {
  const arrival = arrive(AD, { from: "https://www.google.com/search?q=dentist" });
  assert.deepEqual(toPageAttribution(arrival, `${SITE}/booking?gclid=X`), {
    referrer: "https://www.google.com/",
    utmSource: "google",
    utmMedium: "cpc",
    currentPage: `${SITE}/booking`,
  });
  assert.equal(toPageAttribution(arrive("/", { from: `${SITE}/lp` }), SITE).referrer, "");
});

test("without consent no click id in the contract is sent", () => {
  const query = CLICK_ID_PARAMETERS.map((parameter) => `${parameter}=X`);
  const arrival = arrive(`/lp?${query.join("&")}`);
  assert.equal(Object.keys(visit(arrival).first).length, CLICK_ID_PARAMETERS.length);
  assert.deepEqual(toPageAttribution(arrival, arrival.page), { referrer: "", currentPage: `${SITE}/lp` });
});

test("without consent a campaign that contains a click id isn't sent", () => {
  const [gclid, gbraid] = ["Cj0KCQiAwtu9BhC8ARIsAI9JHanB", "0AAAAABZLxNWFqGtE"];
  const query = `utm_source=google&utm_campaign=autumn-${gclid}&utm_term=${gbraid}&gbraid=${gbraid}&gclid=${gclid}`;
  assert.deepEqual(toPageAttribution(arrive(`/lp?${query}`), `${SITE}/booking?${query}`), {
    referrer: "",
    utmSource: "google",
    currentPage: `${SITE}/booking?utm_source=google`,
  });
  assert.equal(toRawAttribution(visit(arrive(`/lp?${query}`)), SITE).utmCampaign, `autumn-${gclid}`, "with consent");
});

describe("stored attribution", () => {
  test("is read back unchanged", () => {
    const record = { ...visit(arrive(AD)), granted: true as const };
    assert.deepEqual(parseRecord(JSON.stringify(record), START), record);
  });

  test("is valid for 180 days from the first visit", () => {
    const text = JSON.stringify(visit(arrive(AD)));
    const daysLater = (days: number) => new Date(START.getTime() + days * 86_400_000);
    assert.ok(parseRecord(text, daysLater(179.9)));
    assert.equal(parseRecord(text, daysLater(180)), undefined);
  });

  test("is ignored if it isn't ours", () => {
    for (const text of [null, "null", "{}", "5", '"x"', "[]", '{"firstSeenAt":"x"}'])
      assert.equal(parseRecord(text, START), undefined, String(text));
  });

  test("is at most 4 KB, for any addresses and campaign words", () => {
    const word = fc.string({ maxLength: 400, unit: fc.constantFrom("a", "ü", "%", " ", "–", "😀", '"') });
    fc.assert(
      fc.property(word, word, word, word, (source, term, fbclid, path) => {
        const query = new URLSearchParams({ utm_source: source, utm_term: term, fbclid });
        const place = `/${encodeURIComponent(path)}`;
        const from = `https://blog.example${place}`;
        const record = visit(arrive(`${place}?${query}`, { from }), arrive(`${place}?${query}1`));
        assert.ok(JSON.stringify(record).length <= 4096);
      }),
    );
  });
});

describe("Google Analytics and Meta ids", () => {
  // biome-ignore format: one case a line
  const cases: [cookies: string, ids: [string, string, string]][] = [
    ["_ga=GA1.1.123.456; _fbp=fb.1.17.9; _fbc=fb.1.17.AbC-_", ["123.456", "fb.1.17.9", "fb.1.17.AbC-_"]],
    ["a=b; _ga=GA1.2-2.1834059621.1761989400", ["1834059621.1761989400", "", ""]],
    ["x_ga=GA1.1.1.2; _gat=1; _ga_ABC=GS1.1.5.6; my_fbp=2", ["", "", ""]],
    ["_ga=nonsense; _fbp=", ["", "", ""]],
    ["", ["", "", ""]],
  ];
  for (const [cookies, [gaClientId, fbp, fbc]] of cases) {
    test(cookies || "no cookies", () =>
      assert.deepEqual(readAnalyticsIds(cookies, visit(arrive("/"))), { gaClientId, fbp, fbc }),
    );
  }

  const FBCLID = "IwAR2F4-dbP0l7Mn1IawQQGCINEz7PYXQvwjNwB_qa2ofrHyiLjcbCRxTDMgk";
  const toFbc = (minute: number, fbclid = FBCLID) => `fb.1.${START.getTime() + minute * 60_000}.${fbclid}`;

  test("without Meta's cookie, fbc is built from the fbclid and the time of the click, in Meta's format", () => {
    const record = visit(arrive(`/lp?fbclid=${FBCLID}`));
    assert.equal(readAnalyticsIds("", record).fbc, toFbc(0));
    assert.equal(readAnalyticsIds("_fbc=fb.1.1.own", record).fbc, "fb.1.1.own");
  });

  // biome-ignore format: one case a line
  const clicks: [what: string, fbc: string, ...arrivals: ReturnType<typeof arrive>[]][] = [
    ["a click on the second visit has its own time", toFbc(90), arrive("/"), arrive(`/lp?fbclid=${FBCLID}`, { minute: 90 })],
    ["a click after another campaign counts", toFbc(90), arrive(AD), arrive(`/lp?fbclid=${FBCLID}`, { minute: 90 })],
    ["a later campaign leaves the click", toFbc(0), arrive(`/lp?fbclid=${FBCLID}`), arrive(AD, { minute: 90 })],
    ["the last of several clicks counts", toFbc(90, "second"), arrive(`/lp?fbclid=${FBCLID}`), arrive("/lp?fbclid=second", { minute: 90 })],
    ["a reload is not another click", toFbc(0), arrive(`/lp?fbclid=${FBCLID}`), arrive(`/lp?fbclid=${FBCLID}`, { minute: 90 })],
    ["going back to the page of the click is not another click", toFbc(0), arrive(`/lp?fbclid=${FBCLID}`), arrive(AD, { minute: 5 }), arrive(`/lp?fbclid=${FBCLID}`, { minute: 90 })],
    ["no click gives nothing", "", arrive(AD), arrive("/lp?utm_source=facebook", { minute: 90 })],
  ];
  for (const [what, fbc, ...arrivals] of clicks)
    test(what, () => assert.equal(readAnalyticsIds("", visit(...arrivals)).fbc, fbc));
});
