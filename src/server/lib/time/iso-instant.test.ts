import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MINUTE_MS } from "#contract/durations.ts";
import { runInDistantTimeZone } from "../../../../test/support/time-zone.ts";
import { parseIsoInstant } from "./iso-instant.ts";

// Instants are read in UTC, whatever the server's own zone.
runInDistantTimeZone();

const ACCEPTED: readonly [text: string, instant: string][] = [
  ["2026-11-01", "2026-11-01T00:00:00.000Z"],
  ["2028-02-29", "2028-02-29T00:00:00.000Z"],
  ["1970-01-01", "1970-01-01T00:00:00.000Z"],
  ["1900-01-01", "1900-01-01T00:00:00.000Z"],
  ["0099-03-01", "0099-03-01T00:00:00.000Z"],
  ["0001-01-01T00:00:00", "0001-01-01T00:00:00.000Z"],
  ["1969-12-31T23:59:59-05:00", "1970-01-01T04:59:59.000Z"],
  ["9999-12-31", "9999-12-31T00:00:00.000Z"],
  ["2026-11-01T09:30", "2026-11-01T09:30:00.000Z"],
  ["2026-11-01T09:30Z", "2026-11-01T09:30:00.000Z"],
  ["2026-11-01T09:30:15", "2026-11-01T09:30:15.000Z"],
  ["2026-11-01T09:30:15Z", "2026-11-01T09:30:15.000Z"],
  ["2026-11-01T09:30:15.1Z", "2026-11-01T09:30:15.100Z"],
  ["2026-11-01T09:30:15.12Z", "2026-11-01T09:30:15.120Z"],
  ["2026-11-01T09:30:15.123Z", "2026-11-01T09:30:15.123Z"],
  ["2026-11-01T09:30:15.123", "2026-11-01T09:30:15.123Z"],
  ["2026-11-01T09:30:15.123000000Z", "2026-11-01T09:30:15.123Z"],
  ["2026-11-01T09:30:15.1230000000000Z", "2026-11-01T09:30:15.123Z"],
  ["2026-11-01t09:30:15.123z", "2026-11-01T09:30:15.123Z"],
  ["2026-11-01T09:30:15+02:00", "2026-11-01T07:30:15.000Z"],
  ["2026-11-01T09:30:15 02:00", "2026-11-01T07:30:15.000Z"],
  ["2026-11-01T09:30:15.123 02:00", "2026-11-01T07:30:15.123Z"],
  ["2026-11-01T09:30 02:00", "2026-11-01T07:30:00.000Z"],
  ["2026-11-01T09:30:15-03:30", "2026-11-01T13:00:15.000Z"],
  ["2026-11-01T09:30:15+00:00", "2026-11-01T09:30:15.000Z"],
  ["2026-11-01T09:30:15-00:00", "2026-11-01T09:30:15.000Z"],
  ["2026-11-01T09:30:15+0200", "2026-11-01T07:30:15.000Z"],
  ["2026-11-01T09:30:15+02", "2026-11-01T07:30:15.000Z"],
  ["2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00.000Z"],
  ["1970-01-01T00:00:00+14:00", "1969-12-31T10:00:00.000Z"],
  // Missing and ambiguous in this process's own zone, ordinary in UTC.
  ["2026-03-08T02:30:00", "2026-03-08T02:30:00.000Z"],
  ["2026-11-01T01:30:00", "2026-11-01T01:30:00.000Z"],
];

for (const [text, instant] of ACCEPTED) {
  test(`${text} is ${instant}`, () => {
    assert.deepEqual(
      [parseIsoInstant(text, "down")?.toISOString(), parseIsoInstant(text, "up")?.toISOString()],
      [instant, instant],
    );
  });
}

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "nothing, or blanks": ["", " ", "2026-11-01 ", " 2026-11-01", "2026-11-01\n"],
  "a usual text with a day or time that does not exist": [
    "2026-02-29T09:30:15.123Z",
    "2026-02-30T09:30:15.123Z",
    "2026-04-31T09:30:15.123Z",
    "2026-13-01T09:30:15.123Z",
    "2026-00-01T09:30:15.123Z",
    "2026-01-00T09:30:15.123Z",
    "2026-01-32T09:30:15.123Z",
    "2026-11-01T24:00:00.000Z",
    "2026-11-01T25:30:15.123Z",
    "2026-11-01T09:60:15.123Z",
    "2026-11-01T09:30:60.123Z",
    "0000-12-31T23:59:59.999Z",
  ],
  "a day that does not exist": ["2026-02-29", "2026-02-30", "2026-04-31", "2026-13-01", "2026-00-01", "2026-01-00"],
  "a time that does not exist": [
    "2026-11-01T24:00:00Z",
    "2026-11-01T24:00:01Z",
    "2026-11-01T25:00Z",
    "2026-11-01T09:60Z",
    "2026-11-01T09:30:60Z",
  ],
  "an offset that does not exist": ["2026-11-01T09:30+24:00", "2026-11-01T09:30+02:60", "2026-11-01T09:30+2:00"],
  "a year outside 1 to 9999": ["0000-01-01", "+12026-11-01", "-002026-11-01", "12026-11-01"],
  "an epoch number": ["0", "1793527815", "1793527815000", "1793527815.5", "-1"],
  "a word": ["now", "today", "yesterday", "tomorrow", "infinity", "-infinity", "epoch", "null", "undefined", "NaN"],
  "another form of ISO 8601": [
    "2026",
    "2026-11",
    "20261101",
    "20261101T093000Z",
    "2026-W44-7",
    "2026-305",
    "P1D",
    "T09:30",
  ],
  "another form of date": ["11/01/2026", "01.11.2026", "Sun, 01 Nov 2026 12:00:00 GMT", "2026-11-1", "2026/11/01"],
  "a half-written time": ["2026-11-01T", "2026-11-01T09", "2026-11-01T09Z", "2026-11-01T09:", "2026-11-01T09:30:15.Z"],
  "a date with an offset and no time": ["2026-11-01Z", "2026-11-01+02:00"],
  "a space where the T belongs": ["2026-11-01 09:30:15Z"],
  "a comma in the seconds": ["2026-11-01T09:30:15,123Z"],
  "a zone by its name": ["2026-11-01T09:30:15[Europe/Berlin]", "2026-11-01T09:30:15 CET", "2026-11-01T09:30:15UTC"],
  "digits in another script": ["٢٠٢٦-١١-٠١", "２０２６-11-01"],
  "something after it": ["2026-11-01T09:30:15ZZ", "2026-11-01T09:30:15Z'", "2026-11-01;drop table bookings"],
};

for (const [kind, texts] of Object.entries(REFUSED)) {
  test(`${kind} is not an ISO date`, () => {
    for (const text of texts) {
      assert.deepEqual(
        [parseIsoInstant(text, "down"), parseIsoInstant(text, "up")],
        [null, null],
        JSON.stringify(text),
      );
    }
  });
}

const ROUNDED: readonly [text: string, down: string, up: string][] = [
  ["2026-11-01T09:30:15.1234Z", "2026-11-01T09:30:15.123Z", "2026-11-01T09:30:15.124Z"],
  ["2026-11-01T09:30:15.1230001Z", "2026-11-01T09:30:15.123Z", "2026-11-01T09:30:15.124Z"],
  ["2026-11-01T09:30:15.123999999Z", "2026-11-01T09:30:15.123Z", "2026-11-01T09:30:15.124Z"],
  ["2026-11-01T09:30:15.000000001Z", "2026-11-01T09:30:15.000Z", "2026-11-01T09:30:15.001Z"],
  ["2026-12-31T23:59:59.9999Z", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"],
  ["2026-11-01T09:30:15.1234 02:00", "2026-11-01T07:30:15.123Z", "2026-11-01T07:30:15.124Z"],
];

for (const [text, down, up] of ROUNDED) {
  test(`${text} rounds down to ${down} and up to ${up}`, () => {
    assert.deepEqual(
      [parseIsoInstant(text, "down")?.toISOString(), parseIsoInstant(text, "up")?.toISOString()],
      [down, up],
    );
  });
}

test("every instant from the year 1 to 9999 reads back from its own ISO text, in any offset", () => {
  const instants = fc.date({
    min: new Date("0001-01-02T00:00:00.000Z"),
    max: new Date("9999-12-30T23:59:59.999Z"),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(instants, fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 }), (instant, offsetMinutes) => {
      const wallClock = new Date(instant.getTime() + offsetMinutes * MINUTE_MS).toISOString().slice(0, -1);
      const size = Math.abs(offsetMinutes);
      const offset = `${String(Math.floor(size / 60)).padStart(2, "0")}:${String(size % 60).padStart(2, "0")}`;
      const text = `${wallClock}${offsetMinutes < 0 ? "-" : "+"}${offset}`;
      assert.deepEqual(parseIsoInstant(text, "down"), instant, text);
      assert.deepEqual(parseIsoInstant(instant.toISOString(), "up"), instant);
    }),
  );
});
