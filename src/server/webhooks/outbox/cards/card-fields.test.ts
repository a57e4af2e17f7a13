import assert from "node:assert/strict";
import { test } from "node:test";
import { bookingCreated, cancelled, rescheduled } from "../../../../../test/support/webhooks/card-sample.ts";
import { type CardFields, textWriter, toCardFields } from "./card-fields.ts";

/** Slack refuses more. */
const TITLE_LENGTH_MAX = 150;

const write = textWriter((characters, index) => characters[index] ?? "");

function fieldsOf(change: Parameters<typeof bookingCreated>[0]): CardFields {
  return toCardFields(bookingCreated(change), write, false);
}

function factOf(label: string, change: Parameters<typeof bookingCreated>[0]): string | undefined {
  return fieldsOf(change).facts.find((fact) => fact.label === label)?.value;
}

test("the time is in the visitor's zone, with its name, or in UTC when the zone is unknown", () => {
  const table: [booking: { start: string; end: string; timeZone: string }, when: string][] = [
    [
      { start: "2026-05-05T12:30:00.000Z", end: "2026-05-05T13:00:00.000Z", timeZone: "Europe/Berlin" },
      "Tue 5 May 2026, 14:30–15:00 (Europe/Berlin)",
    ],
    [
      { start: "2026-05-05T12:30:00.000Z", end: "2026-05-05T13:00:00.000Z", timeZone: "Asia/Kolkata" },
      "Tue 5 May 2026, 18:00–18:30 (Asia/Kolkata)",
    ],
    [
      { start: "2026-05-05T12:30:00.000Z", end: "2026-05-05T13:00:00.000Z", timeZone: "Mars/Olympus" },
      "Tue 5 May 2026, 12:30–13:00 (UTC)",
    ],
    [
      { start: "2026-05-05T12:30:00.000Z", end: "2026-05-05T13:00:00.000Z", timeZone: "" },
      "Tue 5 May 2026, 12:30–13:00 (UTC)",
    ],
    [
      { start: "2026-12-31T22:45:00.000Z", end: "2026-12-31T23:45:00.000Z", timeZone: "Europe/Berlin" },
      "Thu 31 Dec 2026, 23:45 – Fri 1 Jan 2027, 00:45 (Europe/Berlin)",
    ],
    [
      { start: "2026-10-24T22:00:00.000Z", end: "2026-10-24T22:30:00.000Z", timeZone: "Europe/Berlin" },
      "Sun 25 Oct 2026, 00:00–00:30 (Europe/Berlin)",
    ],
    [
      { start: "2026-10-25T00:30:00.000Z", end: "2026-10-25T01:30:00.000Z", timeZone: "Europe/Berlin" },
      "Sun 25 Oct 2026, 02:30–02:30 (Europe/Berlin)",
    ],
    [{ start: "soon", end: "later", timeZone: "Europe/Berlin" }, "soon – later (Europe/Berlin)"],
  ];
  for (const [booking, when] of table) assert.equal(factOf("When", { booking }), when);
});

test("cards about changes are titled Cancelled and Moved; Moved has both times, and Cancelled no link to manage", () => {
  const start = "Tue 5 May 2026 14:30";
  const labels = ["Service", "When", "With", "Source", "Customer", "Reference"];
  const cancellation = toCardFields(cancelled(bookingCreated()), write, false);
  assert.deepEqual(
    [cancellation.title, cancellation.manageUrl, cancellation.facts.map(({ label }) => label)],
    [`Cancelled: Jane Doe, Intro call, ${start}`, null, labels],
  );
  const move = toCardFields(rescheduled(bookingCreated(), "2026-05-04T08:00:00.000Z"), write, false);
  assert.deepEqual(
    [move.title, move.facts.slice(1, 3)],
    [
      `Moved: Jane Doe, Intro call, ${start}`,
      [
        { label: "When", value: "Tue 5 May 2026, 14:30–15:00 (Europe/Berlin)" },
        { label: "Before", value: "Mon 4 May 2026 10:00 (Europe/Berlin)" },
      ],
    ],
  );
  assert.ok(move.manageUrl);
  const titles = [cancelled(bookingCreated()), rescheduled(bookingCreated(), "")].map(
    (event) => toCardFields(event, write, true).title.split(":")[0],
  );
  assert.deepEqual(titles, ["Test cancelled", "Test moved"]);
  const long = "x".repeat(5_000);
  const longest = bookingCreated({ booking: { service: { id: "s1", name: long }, start: long } });
  longest.data.booking.customer.name = long;
  for (const event of [cancelled(longest), rescheduled(longest, long)])
    assert.ok(toCardFields(event, write, true).title.length <= TITLE_LENGTH_MAX);
});

test("the source is source / medium plus campaign, and never undefined", () => {
  const table: [attribution: Record<string, string>, source: string][] = [
    [{ source: "google", medium: "cpc", campaign: "spring_sale" }, "google / cpc, spring_sale"],
    [{ source: "google", medium: "cpc", campaign: "" }, "google / cpc"],
    [{ source: "", medium: "", campaign: "" }, "Direct"],
    [{ source: "newsletter", medium: "", campaign: "may" }, "newsletter / (none), may"],
  ];
  for (const [attribution, source] of table) assert.equal(factOf("Source", { attribution }), source);
  const { attribution: _, ...data } = bookingCreated().data;
  const event = { ...bookingCreated(), data: { ...data, attribution: { utm: {}, clickIds: {} } } };
  assert.equal(toCardFields(event, write, false).facts.find((fact) => fact.label === "Source")?.value, "Direct");
});

test("missing values are shown as a dash", () => {
  assert.equal(factOf("With", { booking: { staff: [] } }), "–");
  assert.equal(
    factOf("Customer", { booking: { customer: { name: " \n", email: "", phone: null, notes: null } } }),
    "–, –",
  );
  assert.equal(fieldsOf({ business: "", widget: "" }).footer, "– | –");
});

test("neither notes nor answers are on a card", () => {
  assert.equal(JSON.stringify(fieldsOf({})).includes("never shown"), false);
});

test("line breaks and characters that reverse text are removed, giving one plain line", () => {
  const name = " Jane\r\n\r\nDoe\u0000\u202e\t\u2028 x\u2066 ";
  assert.equal(factOf("Service", { booking: { service: { id: "s1", name } } }), "Jane Doe x");
});

test("there is a button only for an http or https link", () => {
  const table: [manageUrl: string, expected: string | null][] = [
    ["https://book.example.com/m?a=<b>", "https://book.example.com/m?a=%3Cb%3E"],
    ["http://book.example.com", "http://book.example.com/"],
    ["javascript:alert(1)", null],
    ["data:text/html,x", null],
    ["msteams:/l/x", null],
    ["/manage/1", null],
    ["", null],
    [`https://book.example.com/${"a".repeat(3_000)}`, null],
  ];
  for (const [manageUrl, expected] of table) {
    assert.equal(fieldsOf({ booking: { manageUrl } }).manageUrl, expected, manageUrl);
  }
  const { manageUrl: _, ...booking } = bookingCreated().data.booking;
  const event = { ...bookingCreated(), data: { ...bookingCreated().data, booking } };
  assert.equal(toCardFields(event, write, false).manageUrl, null);
});

test("long parts are cut individually, so that every part stays on the card", () => {
  const long = "x".repeat(5_000);
  const fields = fieldsOf({
    booking: {
      service: { id: "s1", name: long },
      customer: { name: long, email: "jane@example.com", phone: null, notes: null },
    },
    attribution: { source: long, medium: long, campaign: "may" },
  });
  assert.ok(fields.title.length <= TITLE_LENGTH_MAX && fields.title.endsWith("…, Tue 5 May 2026 14:30"));
  assert.ok(fields.facts.some((fact) => fact.label === "Customer" && fact.value.endsWith("…, jane@example.com")));
  assert.ok(fields.facts.some((fact) => fact.label === "Source" && fact.value.endsWith("…, may")));
});

test("a text is cut between characters and never inside an escape sequence", () => {
  const escaping = textWriter((characters, index) => (characters[index] === "&" ? "&amp;" : (characters[index] ?? "")));
  const table: [text: string, maxLength: number, expected: string][] = [
    ["abcdef", 6, "abcdef"],
    ["abcdefg", 6, "abcde…"],
    ["😀😀😀", 6, "😀😀😀"],
    ["😀😀😀😀", 6, "😀😀…"],
    ["a😀b😀", 5, "a😀b…"],
    ["&&", 10, "&amp;&amp;"],
    ["&&&", 10, "&amp;…"],
    ["&&", 4, "…"],
    ["a\ud83d", 5, "a\ufffd"],
  ];
  for (const [text, maxLength, expected] of table)
    assert.equal(escaping(text, maxLength), expected, `${text} in ${maxLength}`);
});
