import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../../test/support/cost.ts";
import { TEXTS_WITH_EMAIL } from "../../../../test/support/funnel/email-texts.ts";
import { toPage } from "./page.ts";

for (const [address, page] of [
  ["https://www.example.com/book", "https://www.example.com/book"],
  ["https://www.example.com", "https://www.example.com/"],
  ["HTTP://WWW.Example.COM:80/A/b/", "http://www.example.com/A/b/"],
  ["https://example.com:8443/a", "https://example.com:8443/a"],
  ["https://example.com/a?b=c&d", "https://example.com/a"],
  ["https://example.com/a#b?c", "https://example.com/a"],
  ["https://user:pass@example.com/a", "https://example.com/a"],
  ["https://example.com/a;jsessionid=1", "https://example.com/a;jsessionid=1"],
  ["https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe"],
  ["https://example.com/../../etc", "https://example.com/etc"],
  [" https://example.com/a\n", "https://example.com/a"],
  ["/book", ""],
  ["example.com/book", ""],
  ["about:blank", ""],
  ["javascript:alert(1)", ""],
  ["data:text/html,x", ""],
  ["file:///etc/passwd", ""],
  ["blob:https://example.com/1", ""],
  ["https://", ""],
  ["", ""],
  [undefined, ""],
] as const)
  test(`${address} is stored as ${page || "nothing"}`, () => assert.equal(toPage(address), page));

test("an encoded query is dropped too, and so is a path with a click id in it", () => {
  const clickId = "Cj0KCQiAwtu9BhC8ARIsAI9J+han/B";
  assert.equal(toPage("https://example.com/book%3Fname=mara%26x"), "https://example.com/book");
  assert.equal(toPage("https://example.com/book%253Fname=mara"), "https://example.com/book");
  for (const path of [`lp/${clickId}/x`, `lp;gclid=${clickId}`, `lp/${encodeURIComponent(clickId)}`]) {
    assert.equal(toPage(`https://example.com/${path}`, [clickId]), "https://example.com", path);
  }
  assert.equal(toPage("https://example.com/lp", [clickId]), "https://example.com/lp");
});

test("a long path is cut to 512 characters", () => {
  const page = toPage(`https://example.com/${"a/".repeat(2000)}`);
  assert.equal(page.length, 512);
});

for (const segment of [
  ...TEXTS_WITH_EMAIL,
  "%6e%61%6d%65%40example.com",
  "mara%40b%C3%BCcher.example",
  "%E0%A4%A-name%40example.com",
  "book%2Fname%40example.com",
  "6f1c1d9e-7b0a-4a51-9d7e-0c1b5a3f2e44",
  "9f86d081884c7d659a2feaa0c55ad015",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x",
  "b%2FC3xQ9pLm7Tz2Vk8Rn4Wd",
  "a;jsessionid=1A530637289A03B07199A44E8D531427",
  "0151-2345-6789",
  "%2B4915123456789",
  "z".repeat(60),
])
  test(`/book/${segment} is redacted`, () => {
    assert.equal(toPage(`https://example.com/book/${segment}/done`), "https://example.com/book/[redacted]/done");
  });

for (const path of [
  "/termin-online-buchen-in-berlin-mitte",
  "/Zahnreinigung-Berlin-10115",
  "/2026/11/15/herbstaktion-2026",
  "/%D0%B7%D0%B0%D0%BF%D0%B8%D1%81%D1%8C-%D0%BA-%D0%B2%D1%80%D0%B0%D1%87%D1%83",
  "/B%C3%BCrgersteig/stra%C3%9Fe-und-pl%C3%A4tze-am-%C3%BCbergang",
  "/@kanzlei",
  "/products/iphone15promax",
  "/index.html",
  "/20261115",
])
  test(`${path} is kept`, () => assert.equal(toPage(`https://example.com${path}`), `https://example.com${path}`));

test("the effort for a hostile path grows with its length, not with its square", () => {
  for (const hostile of ["%25", "a1B", "@", "%"])
    assertGrowsLinearly((length) => toPage(`https://example.com/${hostile.repeat(length)}`), 32_000);
});
