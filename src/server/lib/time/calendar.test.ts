import assert from "node:assert/strict";
import { test } from "node:test";
import { runInDistantTimeZone } from "../../../../test/support/time-zone.ts";
import { addDays, countDaysBetween, parseTimeZone } from "./calendar.ts";

// Days are counted in UTC, whatever the server's own zone.
runInDistantTimeZone();

const DAYS: readonly [day: string, count: number, result: string][] = [
  ["2026-11-01", 0, "2026-11-01"],
  ["2026-10-24", 2, "2026-10-26"],
  ["2026-03-08", -1, "2026-03-07"],
  ["2028-02-28", 2, "2028-03-01"],
  ["1970-01-01", -1, "1969-12-31"],
];

for (const [day, count, result] of DAYS) {
  test(`${count} days after ${day} is ${result}`, () => {
    assert.deepEqual([addDays(day, count), countDaysBetween(day, result)], [result, count]);
  });
}

test("invalid days come back as different text", () => {
  for (const text of ["2026-02-30", "2026-13-01", "someday"]) assert.notEqual(addDays(text, 0), text);
});

const ZONES: readonly [text: string, zone: string | null][] = [
  ["Europe/Berlin", "Europe/Berlin"],
  ["europe/berlin", "Europe/Berlin"],
  ["UTC", "UTC"],
  ["", null],
  [" ", null],
  ["+02:00", null],
  ["-03:30", null],
  ["Europe/Atlantis", null],
  ["Europe/Berlin ", null],
  ["2026-11-01T12:00:00[Europe/Berlin]", null],
];

for (const [text, zone] of ZONES) {
  test(`${JSON.stringify(text)} is ${zone === null ? "not a time zone" : `the time zone ${zone}`}`, () => {
    assert.equal(parseTimeZone(text), zone);
  });
}
