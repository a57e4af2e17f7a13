import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "./errors/api-error.ts";
import { readInstant, readPageSize, readParameter } from "./parameters.ts";

const PAGE_SIZES: readonly [text: string, limit: number][] = [
  ["1", 1],
  ["2", 2],
  ["99", 99],
  ["100", 100],
  ["499", 499],
  ["500", 500],
  ["501", 500],
  ["999", 500],
  ["1000", 500],
  ["9007199254740993", 500],
  ["9".repeat(30), 500],
  ["9".repeat(5_000), 500],
  ["007", 7],
  ["0000000500", 500],
];

for (const [text, limit] of PAGE_SIZES) {
  test(`limit=${text.length > 40 ? `${text.length} digits` : text} asks for ${limit} bookings`, () => {
    assert.equal(readPageSize({ limit: text }, "limit"), limit);
  });
}

test("without a limit a page holds 100 bookings", () => {
  assert.equal(readPageSize({}, "limit"), 100);
});

const REFUSED_PAGE_SIZES = [
  "",
  " ",
  "0",
  "00",
  "0".repeat(30),
  "-1",
  "-0",
  "+5",
  " 5",
  "5 ",
  "5\n",
  "1.5",
  "1.0",
  "1,000",
  "1_000",
  "1e2",
  "0x10",
  "0b1",
  "1n",
  "abc",
  "ten",
  "NaN",
  "Infinity",
  "null",
  "true",
  "[1]",
  "٣",
  "５",
];

for (const text of REFUSED_PAGE_SIZES) {
  test(`limit=${JSON.stringify(text)} is refused`, () => {
    assert.throws(
      () => readPageSize({ limit: text }, "limit"),
      new ApiError("bad_request", "The parameter limit must be a whole number from 1 to 500."),
    );
  });
}

test("a parameter sent twice is refused, even with equal values", () => {
  for (const values of [
    ["2026-11-01", "2026-11-02"],
    ["2026-11-01", "2026-11-01"],
    ["", ""],
  ]) {
    const refusal = new ApiError("bad_request", "The parameter since was sent more than once.");
    assert.throws(() => readParameter({ since: values }, "since"), refusal);
    assert.throws(() => readInstant({ since: values }, "since", "down"), refusal);
  }
});

test("an empty parameter is not the same as a missing one", () => {
  assert.equal(readParameter({ widget: "" }, "widget"), "");
  assert.equal(readParameter({}, "widget"), null);
  assert.equal(readInstant({}, "since", "down"), null);
  assert.throws(() => readInstant({ since: "" }, "since", "down"), ApiError);
});
