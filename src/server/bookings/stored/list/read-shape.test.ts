import assert from "node:assert/strict";
import { test } from "node:test";
import { Attribution } from "#contract/analytics/attribution.ts";
import { createTestApp } from "../../../../../test/support/app/app.ts";
import { getJson, makeCaller } from "../../../../../test/support/app/read-api.ts";
import { makeBooking } from "../../../../../test/support/builders.ts";

const { app, deps } = await createTestApp();

type Columns = Partial<Parameters<typeof makeBooking>[2]>;

/** A new organization's only booking, as returned, with the raw response text. */
async function readBack(columns: Columns) {
  const { owner, widgetId, headers } = await makeCaller(deps.db);
  const { reference } = await makeBooking(deps.db, owner, { widgetId, ...columns });
  const response = await app.inject({ url: "/api/v1/bookings", headers });
  assert.equal(response.statusCode, 200, response.body);
  const { data } = response.json() as { data: Record<string, unknown>[] };
  return { reference, booking: data[0], text: response.body };
}

test("fields the visitor left empty are null; fields the scheduling system did not give are absent", async () => {
  const { reference, booking } = await readBack({
    customer_phone: null,
    customer_notes: null,
    manage_url: null,
    join_url: null,
    external_id: null,
    staff: "[]",
    answers: "[]",
    attribution: "{}",
  });
  assert.deepEqual(booking, {
    reference,
    status: "confirmed",
    createdAt: "2026-11-01T12:00:00.000Z",
    start: "2026-11-05T09:00:00.000Z",
    end: "2026-11-05T09:30:00.000Z",
    timeZone: "Europe/Berlin",
    service: { id: "svc-1", name: "Check-up" },
    staff: [],
    customer: { name: "Mara Quell", email: "mara.quell@example.com", phone: null, notes: null },
    answers: [],
    attribution: {},
  });
});

const ATTRIBUTION = {
  source: "google",
  medium: "cpc",
  campaign: "autumn",
  channel: "Paid Search",
  pageUrl: "https://www.lindenhof.example/book",
  landingPage: "https://www.lindenhof.example/?gclid=1",
  referrer: "https://www.google.com/",
  utmSource: "google",
  utmMedium: "cpc",
  utmCampaign: "autumn",
  utmTerm: "dentist",
  utmContent: "blue",
  gclid: "c1",
  gbraid: "c2",
  wbraid: "c3",
  fbclid: "c4",
  msclkid: "c5",
  liFatId: "c6",
  ttclid: "c7",
  gadSource: "1",
  gadCampaignid: "21834059621",
  gaClientId: "123.456",
  fbp: "fb.1.1.1",
  fbc: "fb.1.1.2",
  firstSeenAt: "2026-10-30T08:00:00.000Z",
  currentPage: "https://www.lindenhof.example/book?step=2",
  touches: 4,
};

test("every attribution field of the contract is returned, flat and under its own name", async () => {
  assert.deepEqual(Object.keys(ATTRIBUTION).sort(), Object.keys(Attribution.properties).sort());
  const { booking } = await readBack({ attribution: JSON.stringify(ATTRIBUTION) });
  assert.deepEqual(booking?.["attribution"], ATTRIBUTION);
});

test("only the attribution fields that were present are included", async () => {
  for (const [name, value] of Object.entries(ATTRIBUTION)) {
    const { booking } = await readBack({ attribution: JSON.stringify({ [name]: value }) });
    assert.deepEqual(booking?.["attribution"], { [name]: value });
  }
});

test("nothing outside the contract is sent: staff ids, the external id, the join link, stray members", async () => {
  const { booking, text } = await readBack({
    staff: JSON.stringify([
      { id: "hidden-staff", name: "Ada", email: "hidden-mail" },
      { id: null, name: "Ben" },
    ]),
    answers: JSON.stringify([{ questionId: "q1", question: "Why?", answer: "So.", hidden: "hidden-answer" }]),
    attribution: JSON.stringify({ source: "google", ip: "hidden-ip", utm: { source: "hidden-utm" } }),
    external_id: "hidden-external",
    join_url: "https://meet.example/hidden-join",
  });
  assert.doesNotMatch(text, /hidden/);
  assert.deepEqual(
    [booking?.["staff"], booking?.["answers"], booking?.["attribution"]],
    [["Ada", "Ben"], [{ questionId: "q1", question: "Why?", answer: "So." }], { source: "google" }],
  );
});

test("a booking that lacks a field of the contract cannot be stored", async () => {
  const answers = JSON.stringify([{ questionId: "q1", question: "Why?", answer: "So." }, { questionId: "q2" }]);
  await assert.rejects(readBack({ answers }), /a stored booking has every field of the contract/);
});

test("every character survives: quotes, line breaks, other scripts, emoji, control characters", async () => {
  const odd = '"; \\ / \b\f\n\r\t \u0001\u007f\u2028 <script> ä ñ 漢字 😀 \u{1F468}\u200D\u{1F469}';
  const { booking } = await readBack({
    customer_name: odd,
    customer_email: `"${odd}"@example.com`,
    customer_phone: odd,
    customer_notes: odd,
    service_name: odd,
    staff: JSON.stringify([{ id: "st-1", name: odd }]),
    answers: JSON.stringify([{ questionId: odd, question: odd, answer: odd }]),
    attribution: JSON.stringify({ campaign: odd }),
    manage_url: `https://scheduler.example/${odd}`,
  });
  assert.deepEqual(
    {
      customer: booking?.["customer"],
      service: booking?.["service"],
      staff: booking?.["staff"],
      answers: booking?.["answers"],
      attribution: booking?.["attribution"],
      manageUrl: booking?.["manageUrl"],
    },
    {
      customer: { name: odd, email: `"${odd}"@example.com`, phone: odd, notes: odd },
      service: { id: "svc-1", name: odd },
      staff: [odd],
      answers: [{ questionId: odd, question: odd, answer: odd }],
      attribution: { campaign: odd },
      manageUrl: `https://scheduler.example/${odd}`,
    },
  );
});

test("a booking whose timestamp is none cannot be stored", async () => {
  const attribution = JSON.stringify({ firstSeenAt: 'x","hidden":"y' });
  await assert.rejects(readBack({ attribution }), /a stored booking has every field of the contract/);
});

test("timestamps are UTC with milliseconds, whatever the appointment's zone", async () => {
  const { booking } = await readBack({
    now: new Date("2026-10-25T00:59:59.009Z"),
    start_at: new Date("2026-10-25T01:30:00.000Z"),
    end_at: new Date("2026-10-25T02:00:00.500Z"),
    time_zone: "Pacific/Auckland",
  });
  assert.deepEqual(
    [booking?.["createdAt"], booking?.["start"], booking?.["end"], booking?.["timeZone"]],
    ["2026-10-25T00:59:59.009Z", "2026-10-25T01:30:00.000Z", "2026-10-25T02:00:00.500Z", "Pacific/Auckland"],
  );
});

test("a reference is SVC, a hyphen and six unambiguous characters", async () => {
  const { booking } = await readBack({});
  assert.match(String(booking?.["reference"]), /^SVC-[23456789ABCDEFGHJKLMNPQRSTUVWXYZ]{6}$/);
});

test("an organization without bookings gets an empty page", async () => {
  const { headers } = await makeCaller(deps.db);
  assert.deepEqual(await getJson(app, "/api/v1/bookings", headers), {
    status: 200,
    body: { data: [], nextCursor: null },
  });
});
