import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { TEXTS_WITH_EMAIL, TEXTS_WITHOUT_EMAIL } from "../../test/support/funnel/email-texts.ts";
import { readAddress } from "./address.ts";

describe("campaign parameters", () => {
  test("the allow-listed ones are read under the contract's names, and nothing else", () => {
    const query =
      "utm_source=google&utm_medium=cpc&utm_campaign=autumn&utm_term=a+b&utm_content=c%26d&gclid=1&gbraid=2&wbraid=3" +
      "&fbclid=4&msclkid=5&li_fat_id=6&ttclid=7&gad_source=1&gad_campaignid=218&email=x&token=secret&utm_id=9&__proto__=1";
    assert.deepEqual(readAddress(`https://site.example/lp?${query}#top`).tags, {
      utmSource: "google",
      utmMedium: "cpc",
      utmCampaign: "autumn",
      utmTerm: "a b",
      utmContent: "c&d",
      gclid: "1",
      gbraid: "2",
      wbraid: "3",
      fbclid: "4",
      msclkid: "5",
      liFatId: "6",
      ttclid: "7",
      gadSource: "1",
      gadCampaignid: "218",
    });
  });

  test("a value over 300 characters is dropped, not cut: half a click id would be wrong", () => {
    const { tags, whole } = readAddress(
      `https://site.example/?gclid=${"x".repeat(301)}&fbclid=${"y".repeat(300)}&utm_source=${"z".repeat(301)}`,
    );
    assert.deepEqual(tags, { fbclid: "y".repeat(300) });
    assert.equal(whole.includes("gclid"), false);
  });

  test("parameters that don't fit in 600 characters are dropped, the least informative first", () => {
    const long = "x".repeat(300);
    const { tags } = readAddress(
      `https://site.example/?utm_content=${long}&utm_source=${long}&utm_campaign=${long}&utm_term=t`,
    );
    assert.deepEqual(tags, { utmSource: long, utmCampaign: long });
  });

  for (const text of TEXTS_WITH_EMAIL) {
    test(`a value or a path that may contain an email address is dropped: ${text}`, () => {
      const address = readAddress(`https://site.example/${text}?utm_term=${encodeURIComponent(text)}&utm_source=news`);
      assert.deepEqual(address.tags, { utmSource: "news" });
      assert.equal(address.whole, "https://site.example/?utm_source=news");
    });
  }

  for (const text of TEXTS_WITHOUT_EMAIL) {
    test(`another value is kept: ${text}`, () => {
      const { tags } = readAddress(`https://site.example/?utm_term=${encodeURIComponent(text)}`);
      assert.deepEqual(tags, { utmTerm: text });
    });
  }

  test("those that are to be dropped are not read", () => {
    const address = readAddress("https://site.example/lp?utm_source=google&gclid=1", ["gclid"]);
    assert.deepEqual(address.tags, { utmSource: "google" });
    assert.equal(address.whole, "https://site.example/lp?utm_source=google");
  });
});

describe("addresses", () => {
  // biome-ignore format: one case a line
  const cases: [address: string, place: string, whole: string][] = [
    ["https://site.example/lp?utm_source=a&x=1#f", "https://site.example/lp", "https://site.example/lp?utm_source=a"],
    ["https://user:pass@site.example:8443/", "https://site.example:8443/", "https://site.example:8443/"],
    ["https://site.example/users/jane@example.com/", "https://site.example/", "https://site.example/"],
    ["https://site.example/users/jane%40example.com", "https://site.example/", "https://site.example/"],
    [`https://site.example/${"p".repeat(600)}`, "https://site.example/", "https://site.example/"],
    ["android-app://com.google.android.gm/", "android-app://com.google.android.gm/", "android-app://com.google.android.gm/"],
    ["file:///home/jane/page.html", "", ""],
    ["about:srcdoc", "", ""],
    ["data:text/html,hi", "", ""],
    ["", "", ""],
    ["nonsense", "", ""],
  ];
  for (const [address, place, whole] of cases) {
    test(`${address.slice(0, 60)} becomes ${whole || "nothing"}`, () => {
      const read = readAddress(address);
      assert.deepEqual([read.place, read.whole], [place, whole]);
    });
  }

  test("an address too long with its query is kept without it", () => {
    const { whole } = readAddress(`https://site.example/${"p".repeat(400)}?utm_source=${"ü".repeat(150)}`);
    assert.equal(whole, `https://site.example/${"p".repeat(400)}`);
  });

  // biome-ignore format: one case a line
  const sites: [host: string, site: string][] = [
    ["www.example.com", "example.com"], ["example.com", "example.com"], ["a.b.example.com", "example.com"],
    ["shop.example.co.uk", "example.co.uk"], ["example.com.au", "example.com.au"], ["x.org.uk", "x.org.uk"],
    ["localhost", "localhost"], ["127.0.0.1", "127.0.0.1"], ["10.0.0.1", "10.0.0.1"],
  ];
  for (const [host, site] of sites) {
    test(`${host} belongs to ${site}`, () => assert.equal(readAddress(`http://${host}/`).site, site));
  }

  test("no text makes it throw, and no value exceeds its maximum length", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.dictionary(fc.constantFrom("utm_source", "gclid", "q"), fc.string()),
        (path, query) => {
          readAddress(path);
          const address = readAddress(
            `https://site.example/${encodeURI(path.toWellFormed())}?${new URLSearchParams(query)}`,
          );
          assert.ok(address.whole.length <= 1000);
          assert.ok(Object.values(address.tags).every((value) => value.length <= 300));
          assert.equal(new URL(address.whole).searchParams.has("q"), false);
        },
      ),
    );
  });
});
