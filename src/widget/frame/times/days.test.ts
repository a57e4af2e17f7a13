import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import {
  addDays,
  addMonths,
  groupByDay,
  shiftMonth,
  toDay,
  toHour,
  toLastDay,
  toStartMs,
  toWeekday,
  toWeeks,
} from "./days.ts";

const slotAt = (start: string): FreeSlot => ({ start, end: start, staffIds: [] });

describe("an instant is on the day shown by the zone's calendar", () => {
  // biome-ignore format: one case a line
  const cases: [instant: string, zone: string, day: string][] = [
    ["2026-11-02T23:30:00.000Z", "UTC", "2026-11-02"],
    ["2026-11-02T23:30:00.000Z", "Europe/Berlin", "2026-11-03"],
    ["2026-11-02T23:30:00.000Z", "America/Los_Angeles", "2026-11-02"],
    ["2026-11-02T10:00:00.000Z", "Pacific/Kiritimati", "2026-11-03"],
    ["2026-11-02T10:59:59.999Z", "Pacific/Pago_Pago", "2026-11-01"],
    ["2026-10-24T22:30:00.000Z", "Europe/Berlin", "2026-10-25"],
    ["2026-10-25T22:30:00.000Z", "Europe/Berlin", "2026-10-25"],
    ["2026-03-29T21:30:00.000Z", "Europe/Berlin", "2026-03-29"],
    ["2026-03-29T22:30:00.000Z", "Europe/Berlin", "2026-03-30"],
    ["2026-11-02T18:20:00.000Z", "Asia/Kathmandu", "2026-11-03"],
  ];
  for (const [instant, zone, day] of cases)
    test(`${instant} in ${zone}`, () => assert.equal(toDay(Date.parse(instant), zone), day));
});

describe("a day starts when the zone's clocks say so", () => {
  // biome-ignore format: one case a line
  const cases: [day: string, zone: string, instant: string][] = [
    ["2026-11-03", "UTC", "2026-11-03T00:00:00.000Z"],
    ["2026-11-03", "Europe/Berlin", "2026-11-02T23:00:00.000Z"],
    ["2026-07-03", "Europe/Berlin", "2026-07-02T22:00:00.000Z"],
    ["2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00.000Z"],
    ["2026-10-26", "Europe/Berlin", "2026-10-25T23:00:00.000Z"],
    ["2026-03-30", "Europe/Berlin", "2026-03-29T22:00:00.000Z"],
    ["2026-11-03", "America/St_Johns", "2026-11-03T03:30:00.000Z"],
    ["2026-11-03", "Pacific/Kiritimati", "2026-11-02T10:00:00.000Z"],
  ];
  for (const [day, zone, instant] of cases)
    test(`${day} in ${zone}`, () => assert.equal(new Date(toStartMs(day, zone)).toISOString(), instant));

  test("a day whose midnight is skipped starts at its first instant", () => {
    const startMs = toStartMs("2026-09-06", "America/Santiago");
    assert.equal(toDay(startMs, "America/Santiago"), "2026-09-06");
    assert.equal(toDay(startMs - 1, "America/Santiago"), "2026-09-05");
  });
});

test("a day on which clocks go back has the repeated hour twice", () => {
  const slots = ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z", "2026-10-25T23:30:00.000Z"].map(slotAt);
  const days = groupByDay(slots, "Europe/Berlin");
  assert.deepEqual([...days.keys()], ["2026-10-25", "2026-10-26"]);
  const hours = days.get("2026-10-25")?.map(({ start }) => toHour(Date.parse(start), "Europe/Berlin"));
  assert.deepEqual(hours, [2, 2]);
});

test("days and months follow the calendar", () => {
  assert.equal(addDays("2026-12-31", 1), "2027-01-01");
  assert.equal(addDays("2026-03-01", -1), "2026-02-28");
  assert.equal(addMonths("2026-01-31", 1), "2026-02-28");
  assert.equal(addMonths("2026-01-31", -2), "2025-11-30");
  assert.equal(addMonths("2026-11-15", 12), "2027-11-15");
  assert.equal(shiftMonth("2026-12", 1), "2027-01");
  assert.equal(toLastDay("2028-02"), "2028-02-29");
  assert.equal(toWeekday("2026-11-01"), 7);
});

test("weeks start on the locale's first day", () => {
  const fromMonday = toWeeks("2026-11", 1);
  assert.equal(fromMonday.length, 6);
  assert.deepEqual([fromMonday[0]?.[0], fromMonday[0]?.[6]], ["2026-10-26", "2026-11-01"]);
  const fromSunday = toWeeks("2026-11", 7);
  assert.equal(fromSunday.length, 5);
  assert.equal(fromSunday[0]?.[0], "2026-11-01");
  assert.equal(toWeeks("2027-02", 1).length, 4);
});
