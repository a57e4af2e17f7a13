import assert from "node:assert/strict";
import { test } from "node:test";
import { TEXTS_WITH_EMAIL } from "../../../../test/support/funnel/email-texts.ts";
import { readPageAttribution } from "./page-attribution.ts";

const ADDRESS =
  "https://book.example/w/w_1?utm_source=google&utm_medium=cpc&utm_campaign=a%20b&gclid=X&li_fat_id=L&email=m%40x.org&utm_term=m%40x.org#top";

test("the page's own parameters are sent under the contract's names, and no others", () => {
  assert.deepEqual(
    readPageAttribution({ address: ADDRESS, referrer: "https://www.google.com/search?q=secret", isPrivate: false }),
    {
      utmSource: "google",
      utmMedium: "cpc",
      utmCampaign: "a b",
      gclid: "X",
      liFatId: "L",
      landingPage: "https://book.example/w/w_1?utm_source=google&utm_medium=cpc&utm_campaign=a+b&gclid=X&li_fat_id=L",
      currentPage: "https://book.example/w/w_1",
      referrer: "https://www.google.com/search",
    },
  );
});

test("values that are too long together are left out", () => {
  const value = "x".repeat(300);
  const { landingPage, utmCampaign, utmTerm } = readPageAttribution({
    address: `https://book.example/w/w_1?utm_source=${value}&utm_campaign=${value}&utm_content=${value}&utm_term=${value}`,
    referrer: "",
    isPrivate: false,
  });
  assert.deepEqual([utmCampaign, utmTerm], [value, undefined]);
  assert.equal(landingPage, `https://book.example/w/w_1?utm_source=${value}&utm_campaign=${value}`);
});

test("click ids are left out for visitors who ask for privacy", () => {
  const { gclid, liFatId, utmSource, landingPage } = readPageAttribution({
    address: ADDRESS,
    referrer: "",
    isPrivate: true,
  });
  assert.deepEqual([gclid, liFatId, utmSource], [undefined, undefined, "google"]);
  assert.doesNotMatch(landingPage ?? "", /gclid|li_fat_id/);
});

test("so are tags that contain a click id", () => {
  const clickId = "Cj0KCQiAwtu9BhC8ARIsAI9JHanB";
  const address = `https://book.example/w/w_1?utm_source=google&utm_campaign=autumn-${clickId}&gclid=${clickId}`;
  assert.deepEqual(readPageAttribution({ address, referrer: "", isPrivate: true }), {
    utmSource: "google",
    landingPage: "https://book.example/w/w_1?utm_source=google",
    currentPage: "https://book.example/w/w_1",
  });
});

for (const text of TEXTS_WITH_EMAIL)
  test(`a value or a referrer that may contain an email address is left out: ${text}`, () => {
    const address = `https://book.example/w/w_1?utm_source=news&utm_term=${encodeURIComponent(text)}`;
    assert.deepEqual(readPageAttribution({ address, referrer: `https://portal.example/${text}`, isPrivate: false }), {
      utmSource: "news",
      landingPage: "https://book.example/w/w_1?utm_source=news",
      currentPage: "https://book.example/w/w_1",
      referrer: "https://portal.example/",
    });
  });

test("our own pages and nonsense are not referrers", () => {
  for (const referrer of ["https://book.example/w/w_2", "", "about:blank#x", "nonsense"])
    assert.equal(readPageAttribution({ address: ADDRESS, referrer, isPrivate: false }).referrer, undefined);
});

test("over-long values are dropped, and Google's ad parameters are kept even with a privacy signal", () => {
  const long = "x".repeat(301);
  const address = `https://book.example/w/w_1?utm_source=${long}&gclid=${long}&gad_source=1&gad_campaignid=218`;
  const { utmSource, gclid, gadSource, gadCampaignid } = readPageAttribution({
    address,
    referrer: "",
    isPrivate: true,
  });
  assert.deepEqual([utmSource, gclid, gadSource, gadCampaignid], [undefined, undefined, "1", "218"]);
});
