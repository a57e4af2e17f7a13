import assert from "node:assert/strict";
import { test } from "node:test";
import { toKeysText, toToggleTitle } from "./filter-words.ts";

test("a filter names up to three keys, and how many others there are", () => {
  const say = (...keys: string[]) => toKeysText({ dimension: "channel", isNegated: false, keys }, new Map());
  assert.equal(say("Email"), "Email");
  assert.equal(say("Email", "Direct"), "Email or Direct");
  assert.equal(say("Email", "Direct", "Display"), "Email, Direct or Display");
  assert.equal(say("Email", "Direct", "Display", "Referral"), "Email, Direct or 2 others");
});

test("times and lead times have names", () => {
  const say = (dimension: "leadTime" | "weekday", ...keys: string[]) =>
    toKeysText({ dimension, isNegated: false, keys }, new Map());
  assert.equal(say("leadTime", "0", "31-or-more"), "Less than a day or 31 days or more");
  assert.equal(say("weekday", "monday", "sunday"), "Monday or Sunday");
});

test("a row that is chosen says that a click removes its filter", () => {
  assert.equal(toToggleTitle("Germany", false), "Show only Germany");
  assert.equal(toToggleTitle("Germany", true), "Remove filter Germany");
});
