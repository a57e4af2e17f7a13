import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReportPeriod } from "#contract/app/reports.ts";
import { findDueStart, nextStart, toDaysBefore, toPeriodDays } from "./due-periods.ts";

// 2 November 2026 is a Monday.
const DUE: readonly [period: ReportPeriod, zone: string, now: string, start: string][] = [
  ["weekly", "UTC", "2026-11-02T07:59:59.999Z", "2026-10-19"],
  ["weekly", "UTC", "2026-11-02T08:00:00.000Z", "2026-10-26"],
  ["weekly", "UTC", "2026-11-08T23:59:59.999Z", "2026-10-26"],
  ["weekly", "Europe/Berlin", "2026-11-02T06:59:59.999Z", "2026-10-19"],
  ["weekly", "Europe/Berlin", "2026-11-02T07:00:00.000Z", "2026-10-26"],
  // Clocks went back on 25 October: 8:00 is an hour later than on the Monday before.
  ["weekly", "Europe/Berlin", "2026-10-26T06:59:59.999Z", "2026-10-12"],
  ["weekly", "Europe/Berlin", "2026-10-26T07:00:00.000Z", "2026-10-19"],
  ["weekly", "Europe/Berlin", "2026-10-19T06:00:00.000Z", "2026-10-12"],
  ["weekly", "Pacific/Kiritimati", "2026-11-01T18:00:00.000Z", "2026-10-26"],
  ["weekly", "Pacific/Pago_Pago", "2026-11-02T18:59:59.999Z", "2026-10-19"],
  ["weekly", "Pacific/Pago_Pago", "2026-11-02T19:00:00.000Z", "2026-10-26"],
  ["monthly", "UTC", "2026-11-01T07:59:59.999Z", "2026-09-01"],
  ["monthly", "UTC", "2026-11-01T08:00:00.000Z", "2026-10-01"],
  ["monthly", "America/New_York", "2026-11-01T12:59:59.999Z", "2026-09-01"],
  ["monthly", "America/New_York", "2026-11-01T13:00:00.000Z", "2026-10-01"],
  ["monthly", "Asia/Kathmandu", "2027-01-01T02:15:00.000Z", "2026-12-01"],
];

for (const [period, zone, now, start] of DUE) {
  test(`at ${now} in ${zone}, the latest ${period} report is about the days from ${start}`, () => {
    assert.equal(findDueStart(period, zone, new Date(now)), start);
  });
}

test("a report is about whole weeks or months, and compared with the one before", () => {
  assert.deepEqual(toPeriodDays("weekly", "2026-10-26"), { from: "2026-10-26", to: "2026-11-01", days: 7 });
  assert.deepEqual(toPeriodDays("monthly", "2028-02-01"), { from: "2028-02-01", to: "2028-02-29", days: 29 });
  assert.deepEqual(toDaysBefore("weekly", "2026-10-26"), { from: "2026-10-19", to: "2026-10-25", days: 7 });
  assert.deepEqual(toDaysBefore("monthly", "2026-03-01"), { from: "2026-02-01", to: "2026-02-28", days: 28 });
  assert.equal(nextStart("monthly", "2026-12-01"), "2027-01-01");
});
