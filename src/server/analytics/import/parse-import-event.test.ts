import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OrganizationId } from "#contract/ids.ts";
import type { Hit } from "../record/hit.ts";
import { EventParser } from "./parse-import-event.ts";

const NOW = new Date("2026-11-01T12:00:00.000Z");
const WIDGET = "w_123456789abc";
const VISIT = "0b9ab1d2-5f3e-4c6a-8d7b-9e0f1a2b3c4d";

const LEAST = { widgetId: WIDGET, visitId: VISIT, step: "widget_viewed", at: "2026-10-01T09:30:00.000Z" };

const OWNER = "org_1111111111111111" as OrganizationId;
const parser = new EventParser();
const parse = (line: unknown) =>
  parser.parse(typeof line === "string" ? line : JSON.stringify(line), { owner: OWNER, now: NOW });

function parseHit(fields: Record<string, unknown>): Hit {
  const parsed = parse({ ...LEAST, ...fields });
  assert.ok("hit" in parsed, JSON.stringify(parsed));
  return parsed.hit;
}

test("the shortest valid line is a direct visit with nothing else known", () => {
  assert.deepEqual(parse(LEAST), {
    hit: {
      organizationId: OWNER,
      widgetId: WIDGET,
      visitId: VISIT,
      at: new Date("2026-10-01T09:30:00.000Z"),
      steps: 1,
      source: "(direct)",
      medium: "(none)",
      campaign: "(not set)",
      channel: "Direct",
      page: "",
      device: "",
      country: "",
      conversion: null,
    },
  });
});

test("lines with similar tags and pages keep their own", () => {
  const tags = [
    { source: "a", medium: "bc", campaign: "d" },
    { source: "ab", medium: "c", campaign: "d" },
    { source: "a", medium: "b", campaign: "cd" },
    { source: "a", medium: "bc", campaign: null },
    { source: "a", medium: null, campaign: "bcd" },
    { source: null, medium: "a", campaign: "bcd" },
  ];
  const parseAlone = (fields: Record<string, unknown>) =>
    new EventParser().parse(JSON.stringify({ ...LEAST, ...fields }), { owner: OWNER, now: NOW });
  for (const fields of [...tags, ...tags]) assert.deepEqual(parse({ ...LEAST, ...fields }), parseAlone(fields));
  for (const page of ["https://a.example/1", "https://a.example/2", "https://a.example/1?a", "not a page", ""])
    for (const _ of [1, 2]) assert.deepEqual(parse({ ...LEAST, page }), parseAlone({ page }));
});

test("a line with every field", () => {
  const line = {
    widgetId: WIDGET,
    visitId: VISIT.toUpperCase(),
    step: "booking_completed",
    at: "2026-10-01T11:30:00.1239+02:00",
    page: "https://user:word@Example.com:8443/Book/now?email=a@b.org#form",
    source: " Google ",
    medium: "CPC",
    campaign: "Autumn  Sale",
    device: "Tablet",
    country: "de",
    start: "2026-10-03T09:30:00Z",
    ip: "192.0.2.1",
  };
  assert.deepEqual(parse(line), {
    hit: {
      organizationId: OWNER,
      widgetId: WIDGET,
      visitId: VISIT,
      at: new Date("2026-10-01T09:30:00.123Z"),
      steps: 32,
      source: "google",
      medium: "cpc",
      campaign: "Autumn Sale",
      channel: "Paid Search",
      page: "https://example.com:8443/Book/now",
      device: "tablet",
      country: "DE",
      conversion: {
        step: "booking_completed",
        key: "2026-10-01T09:30:00.123Z",
        startAt: new Date("2026-10-03T09:30:00.000Z"),
      },
    },
  });
});

describe("the class follows from the tags, by the rules for a tagged link", () => {
  const cases: [tags: Record<string, unknown>, source: string, campaign: string, channel: string][] = [
    [{}, "(direct) / (none)", "(not set)", "Direct"],
    [{ source: null, medium: null, campaign: null }, "(direct) / (none)", "(not set)", "Direct"],
    [{ source: "", medium: "", campaign: "" }, "(direct) / (none)", "(not set)", "Direct"],
    [{ source: "(direct)", medium: "(none)", campaign: "(not set)" }, "(direct) / (none)", "(not set)", "Direct"],
    [{ source: "google", medium: "organic" }, "google / organic", "(not set)", "Organic Search"],
    [{ source: "newsletter", medium: "email", campaign: "May" }, "newsletter / email", "May", "Email"],
    [{ source: "fb-ads" }, "facebook / cpc", "(not set)", "Paid Social"],
    [{ campaign: "Flyer" }, "(not set) / (not set)", "Flyer", "Unassigned"],
    [{ source: "x.example", medium: "referral" }, "x.example / referral", "(not set)", "Referral"],
    [{ source: "chatgpt.com", medium: "ai-assistant" }, "chatgpt.com / ai-assistant", "(not set)", "AI Assistant"],
  ];
  for (const [tags, source, campaign, channel] of cases) {
    test(JSON.stringify(tags), () => {
      const hit = parseHit(tags);
      assert.deepEqual([`${hit.source} / ${hit.medium}`, hit.campaign, hit.channel], [source, campaign, channel]);
    });
  }
});

describe("unknown values are left empty", () => {
  const cases: [field: "page" | "device" | "country", given: unknown, kept: string][] = [
    ["page", "/book", ""],
    ["page", "javascript:alert(1)", ""],
    ["page", "http://example.com", "http://example.com/"],
    ["page", null, ""],
    ["device", "mobile", "mobile"],
    ["device", "DESKTOP", "desktop"],
    ["device", "smart fridge", "other"],
    ["device", "", ""],
    ["device", null, ""],
    ["country", "gb", "GB"],
    ["country", "DEU", ""],
    ["country", "ÄÖ", ""],
    ["country", "XX", ""],
    ["country", "", ""],
  ];
  for (const [field, given, kept] of cases) {
    test(`${field} ${JSON.stringify(given)}`, () => assert.equal(parseHit({ [field]: given })[field], kept));
  }
});

describe("bookings and failed attempts are distinguished by their instant", () => {
  test("a failed attempt has no appointment", () => {
    const { conversion } = parseHit({ step: "booking_failed", start: "2026-10-03T09:30:00Z" });
    assert.deepEqual(conversion, { step: "booking_failed", key: "2026-10-01T09:30:00.000Z", startAt: null });
  });

  test("a booking's appointment may be unknown, or before the booking", () => {
    const starts = [undefined, null, "2026-09-01"].map((start) => parseHit({ step: "booking_completed", start }));
    assert.deepEqual(
      starts.map(({ conversion }) => conversion?.startAt),
      [null, null, new Date("2026-09-01T00:00:00.000Z")],
    );
  });

  test("a start on another step is ignored: exports repeat it on every row", () => {
    assert.equal(parseHit({ step: "slot_selected", start: "soon" }).conversion, null);
  });
});

describe("a bad line says what is wrong", () => {
  const steps =
    "step is not one of widget_viewed, service_selected, date_selected, slot_selected, form_started, " +
    "booking_completed, no_availability, booking_failed";
  const cases: [line: unknown, fault: string][] = [
    ["{", "it is not valid JSON"],
    ["widgetId,visitId,step,at", "it is not valid JSON"],
    ["null", "it is not an object"],
    ["[]", "it is not an object"],
    ['"text"', "it is not an object"],
    ["{}", "widgetId is missing"],
    ["[".repeat(100_000), "it is nested too deeply or has too many values"],
    [{ ...LEAST, at: undefined }, "at is missing"],
    [{ ...LEAST, widgetId: "w_1" }, "widgetId is not a widget ID"],
    [{ ...LEAST, widgetId: 7 }, "widgetId is not a widget ID"],
    [{ ...LEAST, visitId: "visit-1" }, "visitId is not a UUID"],
    [{ ...LEAST, visitId: `{${VISIT}}` }, "visitId is not a UUID"],
    [{ ...LEAST, visitId: VISIT.replaceAll("-", "") }, "visitId is not a UUID"],
    [{ ...LEAST, visitId: null }, "visitId is not a UUID"],
    [{ ...LEAST, step: "page_viewed" }, steps],
    [{ ...LEAST, step: "Widget_Viewed" }, steps],
    [{ ...LEAST, step: 1 }, steps],
    [{ ...LEAST, at: "yesterday" }, "at is not a valid date"],
    [{ ...LEAST, at: "2026-02-30T00:00:00Z" }, "at is not a valid date"],
    [{ ...LEAST, at: 1_700_000_000_000 }, "at is not a valid date"],
    [{ ...LEAST, at: "2026-11-01T12:00:00.001Z" }, "at is in the future"],
    [{ ...LEAST, at: "9999-12-31T23:59:59Z" }, "at is in the future"],
    [{ ...LEAST, step: "booking_completed", start: "soon" }, "start is not a valid date"],
    [{ ...LEAST, step: "booking_completed", start: 5 }, "start is not a string"],
    [{ ...LEAST, page: {} }, "page is not a string"],
    [{ ...LEAST, source: ["google"] }, "source is not a string"],
    [{ ...LEAST, medium: true }, "medium is not a string"],
    [{ ...LEAST, campaign: 2026 }, "campaign is not a string"],
    [{ ...LEAST, device: 1 }, "device is not a string"],
    [{ ...LEAST, country: 49 }, "country is not a string"],
    [{ ...LEAST, campaign: "a\u0000b" }, "it contains a null character (\\u0000)"],
    [{ ...LEAST, note: "\u0000" }, "it contains a null character (\\u0000)"],
  ];
  for (const [line, fault] of cases) {
    const name = typeof line === "string" ? line : JSON.stringify(line);
    test(`${name.slice(0, 120)}: ${fault}`, () => assert.deepEqual(parse(line), { fault }));
  }

  test("the exact moment of the import is not in the future", () => {
    assert.deepEqual(parseHit({ at: NOW.toISOString() }).at, NOW);
  });
});
