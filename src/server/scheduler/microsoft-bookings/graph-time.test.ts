import assert from "node:assert/strict";
import { test } from "node:test";
import cldr from "cldr-core/supplemental/windowsZones.json" with { type: "json" };
import { assertGrowsLinearly } from "../../../../test/support/cost.ts";
import { toGraphMinute, toGraphTime, toIanaZone, toInstant, toMinutes } from "./graph-time.ts";

for (const [name, zone] of [
  ["W. Europe Standard Time", "Europe/Berlin"],
  ["Pacific Standard Time", "America/Los_Angeles"],
  ["(UTC-08:00) Pacific Time (US & Canada)", "America/Los_Angeles"],
  ["(UTC+00:00) Dublin, Edinburgh, Lisbon, London", "Europe/Dublin"],
  ["(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna", "Europe/Amsterdam"],
  ["(UTC+05:30) Chennai, Kolkata, Mumbai, New Delhi", "Asia/Kolkata"],
  ["(UTC+08:00) Beijing, Chongqing, Hong Kong, Urumqi", "Asia/Chongqing"],
  ["(UTC-03:00) Brasilia", "America/Sao_Paulo"],
  ["(UTC-10:00) Hawaii", "US/Hawaii"],
  ["(UTC+01:00) Tokyo", null],
  ["(UTC) Coordinated Universal Time", "UTC"],
  ["UTC", "UTC"],
  ["Europe/Prague", "Europe/Prague"],
  ["tzone://Microsoft/Custom", null],
  ["(UTC-07:00) Mars, Olympus", null],
  ["", null],
] as const) {
  test(`Microsoft's time zone “${name}” is ${zone}`, () => assert.equal(toIanaZone(name), zone));
}

test("every Windows zone in the CLDR maps to a zone the runtime knows", () => {
  for (const { mapZone } of cldr.supplemental.windowsZones.mapTimezones)
    assert.notEqual(toIanaZone(mapZone._other), null, mapZone._other);
});

for (const [dateTime, timeZone, instant] of [
  ["2026-11-02T09:00:00.0000000", "UTC", "2026-11-02T09:00:00.000Z"],
  ["2026-11-02T09:00:00", "W. Europe Standard Time", "2026-11-02T08:00:00.000Z"],
  ["2026-07-02T09:00:00", "W. Europe Standard Time", "2026-07-02T07:00:00.000Z"],
  ["2026-11-02T09:00:00.0000000+00:00", "Pacific Standard Time", "2026-11-02T09:00:00.000Z"],
  ["2026-11-02T09:00:00Z", null, "2026-11-02T09:00:00.000Z"],
  ["2026-11-02T09:00:00", "Nowhere Standard Time", null],
  ["tomorrow", "UTC", null],
] as const) {
  test(`Graph's time ${dateTime} in ${timeZone} is ${instant}`, () => {
    assert.equal(toInstant({ dateTime, timeZone })?.toISOString() ?? null, instant);
  });
}

for (const [duration, minutes] of [
  ["PT30M", 30],
  ["PT1H30M", 90],
  ["P1D", 1_440],
  ["P365D", 525_600],
  ["PT99999999999H", 5_256_000],
  ["-PT99999999999H", -5_256_000],
  ["PT0S", 0],
  ["P1M", null],
  ["soon", null],
  [null, null],
] as const) {
  test(`Graph's duration ${duration} is ${minutes} minutes`, () => assert.equal(toMinutes(duration), minutes));
}

test("times are written as Graph expects: seven digits and an offset, or whole minutes that cover everything", () => {
  assert.deepEqual(toGraphTime(new Date("2026-11-02T09:00:00.000Z")), {
    "@odata.type": "#microsoft.graph.dateTimeTimeZone",
    dateTime: "2026-11-02T09:00:00.0000000+00:00",
    timeZone: "UTC",
  });
  const instant = new Date("2026-11-02T09:00:30.001Z");
  assert.deepEqual(toGraphMinute(instant, "down"), { dateTime: "2026-11-02T09:00:00", timeZone: "UTC" });
  assert.deepEqual(toGraphMinute(instant, "up"), { dateTime: "2026-11-02T09:01:00", timeZone: "UTC" });
});

test("a zone name of any length is not understood, and takes linear time", () => {
  for (const part of [" ", "a,"])
    assertGrowsLinearly((length) => assert.equal(toIanaZone(`(UTC) ${part.repeat(length)}x`), null), 64_000);
});
