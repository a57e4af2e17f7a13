import assert from "node:assert/strict";
import { test } from "node:test";
import { toGoogleLink, toOutlookLink, toThankYouAddress } from "./calendar-links.ts";

const ENTRY = {
  uid: "SVC-234567@book.example",
  startMs: Date.parse("2026-11-02T08:00:00.000Z"),
  endMs: Date.parse("2026-11-02T08:30:00.000Z"),
  stampMs: 0,
  title: "Check-up – Lindenhof & Sons",
  description: "Reference: SVC-234567\nhttps://book.example/manage/1",
  location: "Lindenhof",
  url: null,
};

test("Google Calendar opens with the appointment filled in", () => {
  const link = new URL(toGoogleLink(ENTRY));
  assert.equal(link.origin + link.pathname, "https://calendar.google.com/calendar/render");
  assert.deepEqual(Object.fromEntries(link.searchParams), {
    action: "TEMPLATE",
    text: ENTRY.title,
    dates: "20261102T080000Z/20261102T083000Z",
    details: ENTRY.description,
    location: "Lindenhof",
  });
});

test("Outlook opens with the appointment filled in", () => {
  const { searchParams } = new URL(toOutlookLink({ ...ENTRY, location: null }));
  assert.equal(searchParams.get("startdt"), "2026-11-02T08:00:00.000Z");
  assert.equal(searchParams.get("enddt"), "2026-11-02T08:30:00.000Z");
  assert.equal(searchParams.get("subject"), ENTRY.title);
  assert.equal(searchParams.get("location"), "");
});

test("the thank-you page gets the reference beside its own parameters", () => {
  assert.equal(
    toThankYouAddress("https://lindenhof.example/thanks?a=1#top", "SVC-234567"),
    "https://lindenhof.example/thanks?a=1&reference=SVC-234567#top",
  );
});
