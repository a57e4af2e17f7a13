import assert from "node:assert/strict";
import { test } from "node:test";
import { toIcs } from "./ics.ts";

const entry = {
  uid: "SVC-AB23CD@book.example",
  startMs: Date.parse("2026-11-02T08:00:00.000Z"),
  endMs: Date.parse("2026-11-02T09:00:00.000Z"),
  stampMs: Date.parse("2026-11-01T12:00:00.123Z"),
  title: "Check-up; teeth, gums \\ more",
  description: "Reference: SVC-AB23CD\nhttps://book.example/manage/x",
  location: null,
  url: null,
};

test("an appointment is one event in UTC, with its texts escaped", () => {
  assert.equal(
    toIcs(entry),
    [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:-//Bookflow//Booking//EN",
      "CALSCALE:GREGORIAN",
      "METHOD:PUBLISH",
      "BEGIN:VEVENT",
      "UID:SVC-AB23CD@book.example",
      "DTSTAMP:20261101T120000Z",
      "DTSTART:20261102T080000Z",
      "DTEND:20261102T090000Z",
      "SUMMARY:Check-up\\; teeth\\, gums \\\\ more",
      "DESCRIPTION:Reference: SVC-AB23CD\\nhttps://book.example/manage/x",
      "END:VEVENT",
      "END:VCALENDAR",
      "",
    ].join("\r\n"),
  );
});

test("a URL is written unchanged, and only when there is one", () => {
  const file = toIcs({ ...entry, location: "Room 1, left", url: "https://x.example/a?b=1,2;3" });
  assert.match(file, /\r\nLOCATION:Room 1\\, left\r\n/);
  assert.match(file, /\r\nURL:https:\/\/x\.example\/a\?b=1,2;3\r\n/);
});

test("no line exceeds 75 bytes, no character is split, and unfolding restores the text", () => {
  const title = "Zahnärztliche Prüfung 🦷".repeat(12);
  const file = toIcs({ ...entry, title });
  for (const line of file.split("\r\n")) {
    assert.ok(Buffer.byteLength(line) <= 75, line);
    assert.ok(line.isWellFormed(), line);
  }
  assert.ok(file.replaceAll("\r\n ", "").includes(`SUMMARY:${title}\r\n`));
});

test("a line break in a title cannot start a new line", () => {
  const file = toIcs({ ...entry, title: "A\r\nATTENDEE:mailto:x@example.com\rB" });
  assert.doesNotMatch(file, /^ATTENDEE/m);
  assert.match(file, /SUMMARY:A\\nATTENDEE:mailto:x@example\.com\\nB\r\n/);
});
