import assert from "node:assert/strict";
import { test } from "node:test";
import { findBusiest } from "./find-busiest.ts";

test("hours with the same largest count are all the busiest, and an empty week has none", () => {
  const week = Array.from({ length: 7 }, () => new Array<number>(24).fill(0));
  assert.deepEqual(findBusiest(week), { count: 0, hours: [] });
  const busy = week.map((hours, day) => hours.map((_, hour) => (day === hour ? 1 : day === 1 && hour > 21 ? 4 : 0)));
  assert.deepEqual(findBusiest(busy), {
    count: 4,
    hours: [
      { day: 1, hour: 22 },
      { day: 1, hour: 23 },
    ],
  });
});
