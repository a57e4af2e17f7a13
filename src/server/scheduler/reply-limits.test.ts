import assert from "node:assert/strict";
import { test } from "node:test";
import { toHttpsLink } from "./reply-limits.ts";

for (const [link, kept] of [
  ["https://app.cal.com/booking/uid1", true],
  ["HTTPS://app.cal.com/booking/uid1", true],
  ["javascript:alert(1)", false],
  [" javascript:alert(1)", false],
  ["data:text/html,<script>", false],
  ["http://app.cal.com/booking/uid1", false],
  ["//app.cal.com/booking/uid1", false],
  ["Lindenstrasse 1", false],
  [`https://app.cal.com/${"x".repeat(2_000)}`, false],
  ["", false],
  [null, false],
  [7, false],
] as const) {
  test(`a link ${JSON.stringify(link)?.slice(0, 40)} is ${kept ? "kept" : "dropped"}`, () => {
    assert.equal(toHttpsLink(link), kept ? link : null);
  });
}
