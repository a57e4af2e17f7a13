import assert from "node:assert/strict";
import { test } from "node:test";
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
  test(`${address} is kept as ${page || "nothing"}`, () => assert.equal(toPage(address), page));

test("a query stays away although it is encoded, and so does a path with a click id in it", () => {
  const clickId = "Cj0KCQiAwtu9BhC8ARIsAI9J+han/B";
  assert.equal(toPage("https://example.com/book%3Fname=mara%26x"), "https://example.com/book");
  assert.equal(toPage("https://example.com/book%253Fname=mara"), "https://example.com/book");
  for (const path of [`lp/${clickId}/x`, `lp;gclid=${clickId}`, `lp/${encodeURIComponent(clickId)}`]) {
    assert.equal(toPage(`https://example.com/${path}`, [clickId]), "https://example.com", path);
  }
  assert.equal(toPage("https://example.com/lp", [clickId]), "https://example.com/lp");
});

test("a long path is cut to 1,024 characters", () => {
  const page = toPage(`https://example.com/${"a/".repeat(2000)}`);
  assert.equal(page.length, 1024);
});
