import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { RawAttribution } from "#contract/analytics/attribution.ts";
import { classifySource, hasSpamReferrer } from "./classify-source.ts";
import { cutToHost, VisitClassifier } from "./classify-visit.ts";

const SITE = { page: "https://www.lindenhof.example/booking", ownHosts: ["https://book.example/"] };
const CLICK_ID = "EAIaIQobChMI1234567890abcdef";

function direct(raw: RawAttribution) {
  const found = classifySource(raw, { pageHosts: [SITE.page], ownHosts: SITE.ownHosts });
  return { ...found, campaign: found.campaign ?? "(not set)", isSpam: hasSpamReferrer(raw) };
}

const word = fc.constantFrom(
  "google",
  "Google",
  "fb-ads",
  "cpc",
  "email",
  "(not set)",
  "",
  "a b",
  "ä",
  "{gclid}",
  CLICK_ID,
  `x-${CLICK_ID}`,
  "x\ny",
  "1",
  "12",
);
const address = fc.constantFrom(
  "https://www.google.com/search?q=x#y",
  "https://www.lindenhof.example/a?gclid=1",
  "https://book.example/x",
  "https://chatgpt.com",
  "http://semalt.com/",
  "android-app://com.google.android.gm/x",
  "https://user@evil.example:8080?x",
  `https://${CLICK_ID}.example/`,
  "l.instagram.com",
  "",
  "nonsense",
  "https://[::1]/",
);
const clickId = fc.constantFrom(
  CLICK_ID,
  CLICK_ID.toLowerCase(),
  "abc",
  "",
  "null",
  "{gclid}",
  `${CLICK_ID}\u200b`,
  "1",
  " x ",
);
const attribution = fc.record(
  {
    utmSource: word,
    utmMedium: word,
    utmCampaign: word,
    referrer: address,
    landingPage: address,
    currentPage: address,
    gclid: clickId,
    fbclid: clickId,
    msclkid: clickId,
    ttclid: clickId,
    gadSource: clickId,
    gadCampaignid: clickId,
  },
  { requiredKeys: [] },
);

test("a cached result equals the rules' result, whatever was asked before, even if it differs in one field only", () => {
  const classifier = new VisitClassifier();
  fc.assert(
    fc.property(attribution, attribution, (raw, other) => {
      const neighbours = Object.entries(other).map(([field, value]) => ({ ...raw, [field]: value }));
      for (const visit of [raw, ...neighbours, raw] as RawAttribution[])
        assert.deepEqual(classifier.classify({ raw: visit, ...SITE }), direct(visit));
    }),
    { numRuns: 300 },
  );
});

test("a result is cached for visits that differ only in queries and click ids", () => {
  const classifier = new VisitClassifier();
  const visit = (n: number) =>
    classifier.classify({
      raw: { utmSource: "google", landingPage: `https://www.lindenhof.example/?gclid=${n}`, gclid: `${CLICK_ID}${n}` },
      page: `https://www.lindenhof.example/booking?n=${n}`,
      ownHosts: SITE.ownHosts,
    });
  assert.equal(visit(1), visit(2));
});

test("long texts aren't cached, so that strangers can't fill the memory with them", () => {
  const classifier = new VisitClassifier();
  const visit = (utmSource: string) => classifier.classify({ raw: { utmSource }, ...SITE });
  assert.equal(visit("newsletter"), visit("newsletter"));
  const long = "x".repeat(2_000);
  assert.deepEqual(visit(long), visit(long));
  assert.notEqual(visit(long), visit(long));
});

test("a click id that was cut together with its campaign isn't kept either", () => {
  const fbclid = `IwZXh0bgNhZW0CMTEAAR${"aB3".repeat(45)}`;
  for (const utmCampaign of [`autumn-${fbclid}`, `autumn-${fbclid.slice(0, 40)}`])
    assert.equal(new VisitClassifier().classify({ raw: { utmCampaign, fbclid }, ...SITE }).campaign, "(not set)");
});

test("a Google ad whose click id was stripped is recognised from the cache too", () => {
  const classifier = new VisitClassifier();
  const visit = (gadCampaignid: string) => classifier.classify({ raw: { gadSource: "1", gadCampaignid }, ...SITE });
  assert.equal(classifier.classify({ raw: {}, ...SITE }).channel, "Direct");
  assert.equal(visit("21834059621").channel, "Paid Search");
  assert.equal(visit("21834059621"), visit("9"));
});

test("texts that run into each other are not confused", () => {
  const classifier = new VisitClassifier();
  const sources = [
    { utmSource: "a", utmMedium: "b" },
    { utmSource: "a1 b", utmMedium: "" },
    { utmSource: "a1 b" },
    { utmMedium: "a1 b" },
  ].map((raw) => classifier.classify({ raw, ...SITE }).source);
  assert.deepEqual(sources, ["a", "a1 b", "a1 b", "(not set)"]);
});

for (const [text, host] of [
  ["https://a.example/b?c#d", "https://a.example"],
  ["https://a.example?c", "https://a.example"],
  ["https://a.example#c", "https://a.example"],
  ["https://a.example", "https://a.example"],
  ["a.example/b://c", "a.example"],
  ["", ""],
] as const)
  test(`the rules read ${JSON.stringify(host)} from ${JSON.stringify(text)}`, () =>
    assert.equal(cutToHost(text), host));
