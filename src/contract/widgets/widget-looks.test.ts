import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseAccentColor, parseAllowedDomain } from "./widget-looks.ts";

describe("a domain is a host name, with a port or with `*.` in front", () => {
  // biome-ignore format: one case a line
  const cases: [text: string, domain: string | null][] = [
    ["example.com", "example.com"],
    [" Example.COM ", "example.com"],
    ["*.example.com", "*.example.com"],
    ["localhost:8080", "localhost:8080"],
    ["müller.example", "xn--mller-kva.example"],
    ["127.0.0.1", "127.0.0.1"],
    ["", null],
    ["*", null],
    ["*.", null],
    ["a.*.example", null],
    ["https://example.com", null],
    ["example.com/path", null],
    ["example.com;script-src *", null],
    ["example.com 'self'", null],
    ["a,b", null],
    ["a..b", null],
    ["-a.example", null],
    ["example.com:99999", null],
    ["user@example.com", null],
    ["a\r\nb", null],
    [`${"a".repeat(250)}.com`, null],
  ];
  for (const [text, domain] of cases) test(JSON.stringify(text), () => assert.equal(parseAllowedDomain(text), domain));
});

test("an accent is six hexadecimal digits", () => {
  assert.equal(parseAccentColor("#4B45D6"), "#4b45d6");
  for (const wrong of ["", "#fff", "4b45d6", "#4b45d6ff", "red", "#4b45dg", "#4b45d6;"])
    assert.equal(parseAccentColor(wrong), null);
});
