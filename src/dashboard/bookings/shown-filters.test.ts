import assert from "node:assert/strict";
import { test } from "node:test";
import { describeList, FILTER_DEFAULTS, toBookingFilters, toSort } from "./shown-filters.ts";

test("values of an address that every object has as a property are ignored, like other unknown ones", () => {
  for (const unknown of ["constructor", "toString", "tomorrow"]) {
    const shown = { ...FILTER_DEFAULTS, when: unknown, sort: unknown, status: unknown };
    assert.equal(describeList(shown), "All bookings");
    assert.equal(describeList({ ...shown, search: "ada" }), "Matching bookings");
    assert.equal(toSort(shown), "newest");
    const { when, status } = toBookingFilters(shown, "UTC");
    assert.deepEqual([when, status], ["", ""]);
  }
});
