import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { CalendlyPlan } from "#contract/scheduling.ts";
import { createTestClock } from "../../../../test/support/app/app.ts";
import { NOON } from "../../../../test/support/builders.ts";
import { BookingQuota } from "./booking-quota.ts";

/** A quota after bookings at these milliseconds. Returns the wait at others. */
function fill(plan: CalendlyPlan, times: readonly number[]): (ms: number) => number {
  const clock = createTestClock();
  const quota = new BookingQuota(clock, plan);
  const findWaitMs = (ms: number) => {
    clock.set(new Date(NOON.getTime() + ms));
    return quota.findWaitMs();
  };
  for (const ms of times) {
    assert.equal(findWaitMs(ms), 0, `${ms} ms`);
    quota.add();
  }
  return findWaitMs;
}

const every = (count: number, ms: number) => Array.from({ length: count }, (_, n) => n * ms);

test("on a paid plan, ten bookings fit into a minute, fifty into an hour and a hundred into a day", () => {
  const minute = fill("paid", every(10, 1_000));
  assert.deepEqual([9_000, MINUTE_MS - 1, MINUTE_MS].map(minute), [MINUTE_MS - 9_000, 1, 0]);
  const hour = fill("paid", every(50, MINUTE_MS));
  assert.deepEqual([49 * MINUTE_MS, HOUR_MS].map(hour), [HOUR_MS - 49 * MINUTE_MS, 0]);
  const day = fill("paid", every(100, 2 * MINUTE_MS));
  assert.deepEqual([198 * MINUTE_MS, DAY_MS].map(day), [DAY_MS - 198 * MINUTE_MS, 0]);
});

test("a trial has five bookings a day, an enterprise five hundred a minute", () => {
  assert.equal(fill("trial", every(5, 0))(0), DAY_MS);
  assert.equal(fill("enterprise", every(499, 0))(0), 0);
  assert.equal(fill("enterprise", every(500, 0))(0), MINUTE_MS);
});

test("a clock that is set back does not make the wait longer than the window", () => {
  assert.ok(fill("paid", every(10, 0))(-HOUR_MS) <= MINUTE_MS);
});
