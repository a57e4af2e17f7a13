import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import { BookingQuota } from "./booking-quota.ts";

const START_MS = Date.parse("2026-11-01T12:00:00.000Z");
const at = (ms: number) => new Date(START_MS + ms);

/** Sends bookings at these milliseconds, and returns the wait at the last one of them. */
function fill(quota: BookingQuota, times: readonly number[]): number {
  for (const ms of times) {
    assert.equal(quota.findWaitMs(at(ms)), 0, `${ms} ms`);
    quota.add(at(ms));
  }
  return quota.findWaitMs(at(times.at(-1) ?? 0));
}

const every = (count: number, ms: number) => Array.from({ length: count }, (_, n) => n * ms);

test("on a paid plan, ten bookings fit into a minute, fifty into an hour and a hundred into a day", () => {
  const minute = new BookingQuota("paid");
  assert.equal(fill(minute, every(10, 1_000)), MINUTE_MS - 9_000);
  assert.equal(minute.findWaitMs(at(MINUTE_MS - 1)), 1);
  assert.equal(minute.findWaitMs(at(MINUTE_MS)), 0);

  const hour = new BookingQuota("paid");
  assert.equal(fill(hour, every(50, MINUTE_MS)), HOUR_MS - 49 * MINUTE_MS);
  assert.equal(hour.findWaitMs(at(HOUR_MS)), 0);

  const day = new BookingQuota("paid");
  assert.equal(fill(day, every(100, 2 * MINUTE_MS)), DAY_MS - 198 * MINUTE_MS);
  assert.equal(day.findWaitMs(at(DAY_MS)), 0);
});

test("a trial has five bookings a day, an enterprise five hundred a minute", () => {
  assert.equal(fill(new BookingQuota("trial"), every(5, 0)), DAY_MS);
  assert.equal(fill(new BookingQuota("enterprise"), every(499, 0)), 0);
  assert.equal(fill(new BookingQuota("enterprise"), every(500, 0)), MINUTE_MS);
});

test("a clock that is set back does not make the wait longer than the window", () => {
  const quota = new BookingQuota("paid");
  fill(quota, every(10, 0));
  assert.ok(quota.findWaitMs(at(-HOUR_MS)) <= MINUTE_MS);
});
