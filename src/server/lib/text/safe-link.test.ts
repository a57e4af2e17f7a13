import assert from "node:assert/strict";
import { test } from "node:test";
import { isSafeLink } from "./safe-link.ts";

const PUBLIC = "https://bookings.example.com";
const LOCAL = "http://localhost:3000";
const LAN = "http://bookflow.lan";

const CASES: readonly [link: string, isSafe: Partial<Record<string, true>>][] = [
  ["https://scheduler.example/manage/1?x=1#y", { [PUBLIC]: true, [LOCAL]: true, [LAN]: true }],
  ["HTTPS://scheduler.example", { [PUBLIC]: true, [LOCAL]: true, [LAN]: true }],
  ["http://scheduler.example/manage/1", {}],
  ["http://localhost:3000/manage/1", { [LOCAL]: true }],
  ["http://127.0.0.1:4000/manage/1", { [LOCAL]: true }],
  ["http://[::1]/manage/1", { [LOCAL]: true }],
  ["http://bookflow.lan/manage/1", { [LAN]: true }],
  ["http://127.0.0.1.evil.example/", {}],
  ["http://localhost.evil.example/", {}],
  ["http://bookings.example.com/manage/1", {}],
  ["javascript:alert(1)", {}],
  ["JavaScript:alert(1)", {}],
  ["java\nscript:alert(1)", {}],
  [" https://scheduler.example", {}],
  ["https://scheduler.example/\u0000", {}],
  ["data:text/html,x", {}],
  ["ftp://scheduler.example", {}],
  ["//scheduler.example", {}],
  ["scheduler.example", {}],
  ["", {}],
  [`https://scheduler.example/${"a".repeat(2_048)}`, {}],
];

for (const baseUrl of [PUBLIC, LOCAL, LAN])
  for (const [link, isSafe] of CASES)
    test(`at ${baseUrl}, ${JSON.stringify(link.slice(0, 60))} is ${isSafe[baseUrl] ? "accepted" : "refused"}`, () =>
      assert.equal(isSafeLink(link, baseUrl), isSafe[baseUrl] ?? false));
