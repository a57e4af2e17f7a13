import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { DeliveryId } from "#contract/ids.ts";
import { parseRetryAfter } from "../../sending/retry-after.ts";
import { nextAttemptAt, type RetrySchedule } from "./retry-schedule.ts";

const DELIVERY = "0197c7d0-1111-7000-8000-000000000001" as DeliveryId;
const NOW = new Date("2026-11-01T09:30:00.000Z");
const DELAYS = [30, 60, 120, 240, 480, 960, 1920, 3600];
const exact: RetrySchedule = { delaysSeconds: DELAYS, jitterFraction: 0 };
const jittered: RetrySchedule = { delaysSeconds: DELAYS, jitterFraction: 0.1 };

function delaySeconds(schedule: RetrySchedule, retriesUsed: number, retryAfter: string | null = null): number | null {
  const at = nextAttemptAt(schedule, { deliveryId: DELIVERY, retriesUsed, retryAfter, now: NOW });
  return at === null ? null : (at.getTime() - NOW.getTime()) / 1_000;
}

test("eight retries follow 30 seconds to an hour apart, counted from the end of the failed attempt", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((retriesUsed) => delaySeconds(exact, retriesUsed)),
    [30, 60, 120, 240, 480, 960, 1920, 3600, null, null],
  );
});

test("jitter adds at most 10%, never subtracts, and is the same on every worker", () => {
  for (const [retriesUsed, nominal] of DELAYS.entries()) {
    const delay = delaySeconds(jittered, retriesUsed);
    assert.ok(
      delay !== null && delay >= nominal && delay <= nominal * 1.1 + 0.001,
      `retry ${retriesUsed + 1}: ${delay}`,
    );
    assert.equal(delaySeconds(jittered, retriesUsed), delay);
  }
});

test("jitter spreads deliveries evenly over the 10%", () => {
  const quarters = [0, 0, 0, 0];
  for (let i = 0; i < 4_000; i++) {
    const deliveryId = `0197c7d0-1111-7000-8000-${i.toString(16).padStart(12, "0")}` as DeliveryId;
    const at = nextAttemptAt(jittered, { deliveryId, retriesUsed: 0, retryAfter: null, now: NOW });
    assert.ok(at !== null);
    const quarter = Math.min(3, Math.floor(((at.getTime() - NOW.getTime() - 30_000) / 3_000) * 4));
    quarters[quarter] = (quarters[quarter] ?? 0) + 1;
  }
  assert.ok(
    quarters.every((count) => count > 850 && count < 1_150),
    `quarters ${quarters}`,
  );
});

test("Retry-After moves a retry later, never earlier, and by at most an hour", () => {
  const cases: [retriesUsed: number, retryAfter: string, expected: number][] = [
    [0, "45", 45],
    [0, "5", 30],
    [0, "0", 30],
    [7, "100", 3_600],
    [0, "99999999999999999999", 3_600],
    [0, "Sun, 01 Nov 2026 09:32:00 GMT", 120],
    [0, "Sun, 01 Nov 2026 09:29:00 GMT", 30],
    [0, "Mon, 02 Nov 2026 09:30:00 GMT", 3_600],
    [0, "soon", 30],
  ];
  for (const [retriesUsed, retryAfter, expected] of cases) {
    assert.equal(delaySeconds(exact, retriesUsed, retryAfter), expected, retryAfter);
  }
});

test("Retry-After is whole seconds or one of the three HTTP date formats", () => {
  const cases: [header: string | null, seconds: number | null][] = [
    ["120", 120],
    [" 120 ", 120],
    ["0", 0],
    ["3601", 3_600],
    ["Sun, 01 Nov 2026 09:31:00 GMT", 60],
    ["Sunday, 01-Nov-26 09:31:00 GMT", 60],
    ["Sun Nov  1 09:31:00 2026", 60],
    ["Sat, 31 Oct 2026 09:31:00 GMT", 0],
    ["Sun, 99 Nov 2026 09:31:00 GMT", null],
    [null, null],
    ["", null],
    ["-1", null],
    ["1.5", null],
    ["1e3", null],
    ["0x10", null],
    ["2026-11-01T09:31:00Z", null],
    ["tomorrow", null],
  ];
  for (const [header, seconds] of cases) assert.equal(parseRetryAfter(header, NOW), seconds, `${header}`);
});

test("for any header text a retry falls between its nominal delay and the larger of that delay and an hour", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 7 }), fc.string(), (retriesUsed, header) => {
      const delay = delaySeconds(jittered, retriesUsed, header) ?? Number.NaN;
      const nominal = DELAYS[retriesUsed] ?? Number.NaN;
      assert.ok(delay >= nominal && delay <= Math.max(nominal * 1.1, 3_600) + 0.001);
    }),
  );
});
