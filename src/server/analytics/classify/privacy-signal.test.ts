import assert from "node:assert/strict";
import { test } from "node:test";
import { honourPrivacySignal } from "./attribution.ts";

const RAW = {
  landingPage: "https://site.example/lp?utm_source=google&gclid=X&li_fat_id=Y#z",
  currentPage: "https://site.example/book?fbclid=X",
  referrer: "https://www.google.com/",
  utmSource: "google",
  gclid: "X",
  gbraid: "X",
  wbraid: "X",
  fbclid: "X",
  msclkid: "X",
  liFatId: "X",
  ttclid: "X",
  gaClientId: "1.2",
  fbp: "fb.1",
  fbc: "fb.2",
  touches: 2,
};

for (const headers of [{ "sec-gpc": "1" }, { dnt: "1" }]) {
  test(`${JSON.stringify(headers)}: every click and browser id is removed, from the addresses too`, () => {
    assert.deepEqual(honourPrivacySignal(headers, RAW), {
      landingPage: "https://site.example/lp?utm_source=google",
      currentPage: "https://site.example/book",
      referrer: "https://www.google.com/",
      utmSource: "google",
      touches: 2,
    });
  });
}

test("tags and addresses that contain a click id are removed too, in any case", () => {
  const clickId = "Cj0KCQiAwtu9BhC8ARIsAI9JHanB";
  const raw = {
    landingPage: `https://site.example/${clickId}/lp?utm_source=google&utm_campaign=autumn-${clickId}`,
    currentPage: `https://${clickId}.example/book`,
    referrer: "https://www.google.com/",
    utmSource: "google",
    utmMedium: clickId.toLowerCase(),
    utmCampaign: `autumn-${clickId}`,
    utmTerm: clickId.toUpperCase(),
    utmContent: "headline-b",
  };
  assert.deepEqual(honourPrivacySignal({ "sec-gpc": "1" }, { ...raw, gclid: clickId }), {
    landingPage: "https://site.example/?utm_source=google",
    currentPage: "",
    referrer: "https://www.google.com/",
    utmSource: "google",
    utmContent: "headline-b",
  });
  const short = honourPrivacySignal({ "sec-gpc": "1" }, { utmSource: "google", gclid: "google" });
  assert.deepEqual(short, { utmSource: "google" }, "too short to be a click id");
});

test("without a signal, or with one turned off, everything is kept", () => {
  for (const headers of [{}, { "sec-gpc": "0" }, { dnt: "0" }])
    assert.deepEqual(honourPrivacySignal(headers, RAW), RAW);
});

test("invalid addresses are dropped", () => {
  assert.deepEqual(honourPrivacySignal({ "sec-gpc": "1" }, { landingPage: "gclid=X" }), { landingPage: "" });
});
