import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toEndOfDay, toInstant, toLocalTime } from "./days.ts";

describe("local times are converted to instants", () => {
  for (const [local, timeZone, instant] of [
    ["2026-11-01T13:00", "Europe/Berlin", "2026-11-01T12:00:00.000Z"],
    ["2026-07-01T13:00", "Europe/Berlin", "2026-07-01T11:00:00.000Z"],
    ["2026-11-01T00:30", "America/New_York", "2026-11-01T04:30:00.000Z"],
    ["2026-11-02T00:30", "America/New_York", "2026-11-02T05:30:00.000Z"],
    ["2026-11-01T13:00", "Asia/Kathmandu", "2026-11-01T07:15:00.000Z"],
    // This hour is skipped there; what is typed means the hour after.
    ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z"],
  ] as const) {
    test(`${local} in ${timeZone}`, () => assert.equal(toInstant(local, timeZone), instant));
  }

  test("an invalid time gives null", () => {
    assert.deepEqual([toInstant("", "UTC"), toInstant("soon", "UTC")], [null, null]);
  });

  test("a day ends at local midnight, whether it has 23, 24 or 25 hours", () => {
    assert.equal(toEndOfDay("2026-10-25", "Europe/Berlin"), "2026-10-25T22:59:59.000Z");
    assert.equal(toEndOfDay("2026-10-24", "Europe/Berlin"), "2026-10-24T21:59:59.000Z");
  });

  test("instants are converted to local times", () => {
    assert.equal(toLocalTime("2026-11-01T12:00:00.000Z", "Europe/Berlin"), "2026-11-01T13:00");
    assert.equal(toLocalTime("2026-07-01T12:00:30.000Z", "America/New_York"), "2026-07-01T08:00");
  });
});
