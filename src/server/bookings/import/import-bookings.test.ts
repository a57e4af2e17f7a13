import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { type ImportLine, importLines, makeLine, makeOwner } from "../../../../test/support/bookings/import-lines.ts";
import { makeBooking, makeKey, makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import type { Db } from "../../db/connections/pool.ts";
import { BOOKING_COLUMNS } from "../stored/queries.ts";

const { db, pool } = await createTestDatabase();

async function dumpDatabase(from: Db = db): Promise<unknown> {
  return {
    organizations: await from.selectFrom("organizations").selectAll().orderBy("id").execute(),
    widgets: await from.selectFrom("widgets").selectAll().orderBy("id").execute(),
    clocks: await from.selectFrom("booking_clocks").selectAll().orderBy("organization_id").execute(),
    references: await from.selectFrom("booking_references").selectAll().orderBy("reference").execute(),
    bookings: await from.selectFrom("bookings").selectAll().orderBy("reference").execute(),
  };
}

test("a reference may have any six letters or digits", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const lines = ["SVC-000001", "SVC-O0I1lo"].map((reference) => makeLine(widgetId, { reference }));
  assert.deepEqual(await importLines(db, owner, { lines }), { imported: 2, skipped: 0, deleted: 0 });
});

test("importing the same file twice changes nothing", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const file = [makeLine(widgetId), makeLine(widgetId), makeLine(widgetId, { createdAt: "2026-10-02T00:00:00Z" })];
  assert.deepEqual(await importLines(db, owner, { lines: file }), { imported: 3, skipped: 0, deleted: 0 });
  const before = await dumpDatabase();

  assert.deepEqual(await importLines(db, owner, { lines: file, now: new Date("2026-12-01T00:00:00.000Z") }), {
    imported: 0,
    skipped: 3,
    deleted: 0,
  });
  assert.deepEqual(await dumpDatabase(), before);
});

test("an existing booking stays unchanged, whatever the file says", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const { reference } = await makeBooking(db, owner, { widgetId });
  const before = await dumpDatabase();

  const changed = makeLine(widgetId, {
    reference,
    status: "canceled",
    customer: { name: "Else", email: "e@example.com" },
  });
  assert.deepEqual(await importLines(db, owner, { lines: [changed] }), { imported: 0, skipped: 1, deleted: 0 });
  assert.deepEqual(await dumpDatabase(), before);
});

test("empty files and blank lines are accepted", async () => {
  const { owner, widgetId } = await makeOwner(db);
  assert.deepEqual(await importLines(db, owner, { lines: [] }), { imported: 0, skipped: 0, deleted: 0 });
  assert.deepEqual(await importLines(db, owner, { lines: ["", "  ", "\t"] }), { imported: 0, skipped: 0, deleted: 0 });
  assert.deepEqual(await importLines(db, owner, { lines: ["", makeLine(widgetId), "", makeLine(widgetId), ""] }), {
    imported: 2,
    skipped: 0,
    deleted: 0,
  });
});

test("a bad line is reported by number, and nothing from the file is imported", async (t) => {
  const { owner, widgetId } = await makeOwner(db);
  const stranger = await makeOwner(db);
  const { reference: foreignReference } = await makeBooking(db, stranger.owner, { widgetId: stranger.widgetId });
  const good = makeLine(widgetId);
  const without = (name: string) => ({ ...makeLine(widgetId), [name]: undefined });
  const withAttribution = (attribution: unknown) => makeLine(widgetId, { attribution });
  const mib = "x".repeat(1024 * 1024);

  // biome-ignore format: one case a line
  const cases: [name: string, bad: ImportLine, fault: string][] = [
    ["not JSON", "{", "it is not valid JSON"],
    ["text around the JSON", `x ${JSON.stringify(good)}`, "it is not valid JSON"],
    ["two values on a line", "{} {}", "it is not valid JSON"],
    ["a byte order mark inside the file", "\uFEFF\uFEFF{}", "it is not valid JSON"],
    ["NaN", `{"reference":NaN}`, "it is not valid JSON"],
    ["a list", "[]", "it must be an object"],
    ["a list of bookings", JSON.stringify([good]), "it must be an object"],
    ["a number", "5", "it must be an object"],
    ["a text", '"SVC-222222"', "it must be an object"],
    ["null", "null", "it must be an object"],
    ["true", "true", "it must be an object"],
    ["brackets a hundred thousand deep", "[".repeat(100_000) + "]".repeat(100_000), "it is nested too deeply or has too many values"],
    [
      "an empty object",
      "{}",
      "reference, createdAt, start, end, timeZone, service, widgetId, customer are missing",
    ],
    ...["reference", "createdAt", "start", "end", "timeZone", "service", "widgetId", "customer"].map(
      (name): [string, ImportLine, string] => [
        `without ${name}`,
        without(name),
        `${name} is missing`,
      ],
    ),
    ["a number for a reference", makeLine(widgetId, { reference: 222222 }), "reference must be a string"],
    ["a null for a reference", makeLine(widgetId, { reference: null }), "reference must be a string"],
    ["a text for a service", makeLine(widgetId, { service: "Check-up" }), "service must be an object"],
    ["a service without a name", makeLine(widgetId, { service: { id: "1" } }), "service.name is missing"],
    ["staff as in a webhook", makeLine(widgetId, { staff: [{ id: "st-1", name: "Ada" }] }), "staff.0 must be a string"],
    ["staff as a text", makeLine(widgetId, { staff: "Ada" }), "staff must be a list"],
    ["a customer without an email", makeLine(widgetId, { customer: { name: "M" } }), "customer.email is missing"],
    ["a phone number as a number", makeLine(widgetId, { customer: { name: "M", email: "m@x.org", phone: 49 } }), "customer.phone must be a string"],
    ["an answer without its question", makeLine(widgetId, { answers: [{ questionId: "q", answer: "a" }] }), "answers.0.question is missing"],
    ["an answer of null", makeLine(widgetId, { answers: [null] }), "answers.0 must be an object"],
    ["half a touch", withAttribution({ touches: 1.5 }), "attribution.touches must be a whole number"],
    ["negative touches", withAttribution({ touches: -1 }), "attribution.touches must be at least 0"],
    ["attribution as a list", withAttribution([]), "attribution must be an object"],
    ["a source of null", withAttribution({ source: null }), "attribution.source must be a string"],
    ["firstSeenAt as a word", withAttribution({ firstSeenAt: "once" }), "attribution.firstSeenAt must be a date and time such as 2026-11-05T09:00:00Z"],
    ["firstSeenAt beyond the calendar", withAttribution({ firstSeenAt: "9999-12-31T23:59:59-12:00" }), "attribution.firstSeenAt is not a valid date"],
    ["a reference in another format", makeLine(widgetId, { reference: "SVC-12345" }), "reference does not have the form SVC-XXXXXX"],
    ["a reference with other characters", makeLine(widgetId, { reference: "SVC-12 45Ä" }), "reference does not have the form SVC-XXXXXX"],
    ["a reference in small letters", makeLine(widgetId, { reference: "svc-222222" }), "reference does not have the form SVC-XXXXXX"],
    ["another organization's reference", makeLine(widgetId, { reference: foreignReference }), "reference belongs to another organization's booking"],
    ["a reference repeated in the file", makeLine(widgetId, { reference: good["reference"] }), "reference already appears on line 1"],
    ["another organization's widget", makeLine(stranger.widgetId), "widgetId is not a widget of this organization"],
    ["a widget that does not exist", makeLine("w_zzzzzzzzzzzz" as WidgetId), "widgetId is not a widget of this organization"],
    ["a widget id in another format", makeLine(owner as string as WidgetId), "widgetId is not a widget ID"],
    ["a createdAt to come", makeLine(widgetId, { createdAt: "2026-11-01T12:00:00.001Z" }), "createdAt is in the future"],
    ["a future createdAt in another zone", makeLine(widgetId, { createdAt: "2026-11-01T12:00:00-00:01" }), "createdAt is in the future"],
    ["a createdAt without a time", makeLine(widgetId, { createdAt: "2026-10-01" }), "createdAt must be a date and time such as 2026-11-05T09:00:00Z"],
    ["a createdAt in seconds", makeLine(widgetId, { createdAt: 1_793_000_000 }), "createdAt must be a string"],
    ["a createdAt on 30 February", makeLine(widgetId, { createdAt: "2026-02-30T00:00:00Z" }), "createdAt must be a date and time such as 2026-11-05T09:00:00Z"],
    ["a createdAt in a leap second", makeLine(widgetId, { createdAt: "2016-12-31T23:59:60Z" }), "createdAt is not a valid date"],
    ["an end before the start", makeLine(widgetId, { end: "2026-11-05T08:59:59.999Z" }), "end is before start"],
    ["a start beyond the calendar", makeLine(widgetId, { start: "9999-12-31T23:59:59-12:00" }), "start is not a valid date"],
    ["an end beyond the calendar", makeLine(widgetId, { end: "9999-12-31T23:59:59-12:00" }), "end is not a valid date"],
    ["an unknown time zone", makeLine(widgetId, { timeZone: "Europe/Atlantis" }), "timeZone is not an IANA time zone"],
    ["an offset for a time zone", makeLine(widgetId, { timeZone: "+02:00" }), "timeZone is not an IANA time zone"],
    ["a time for a time zone", makeLine(widgetId, { timeZone: "T12:00+02:00" }), "timeZone is not an IANA time zone"],
    ["a null character in a name", makeLine(widgetId, { customer: { name: "Ma\u0000ra", email: "m@x.org" } }), "it contains a null character (\\u0000)"],
    ["a null character in the name of a member", withAttribution({ "so\u0000urce": "x" }), "it contains a null character (\\u0000)"],
    ["an email of a megabyte", makeLine(widgetId, { customer: { name: "M", email: mib } }), "customer.email is longer than 320 characters"],
    ["a manageUrl that a click would run", makeLine(widgetId, { manageUrl: "javascript:alert(1)" }), "manageUrl is not an https URL"],
    ["a manageUrl without encryption", makeLine(widgetId, { manageUrl: "http://scheduler.example/m/1" }), "manageUrl is not an https URL"],
    ["a joinUrl that a click would run", makeLine(widgetId, { joinUrl: "javascript:alert(1)" }), "joinUrl is not an https URL"],
    ["a question with two answers", makeLine(widgetId, { answers: ["Yes", "No"].map((answer) => ({ questionId: "q", question: "First visit?", answer })) }), "answers has a questionId more than once"],
    ["a manageUrl of null", makeLine(widgetId, { manageUrl: null }), "manageUrl must be a string"],
  ];

  const before = await dumpDatabase();
  for (const [name, bad, fault] of cases) {
    await t.test(name, async () => {
      assert.deepEqual(await importLines(db, owner, { lines: [good, "", bad, makeLine(widgetId)] }), {
        line: 3,
        fault,
      });
      assert.deepEqual(await dumpDatabase(), before);
    });
  }
});

test("of several faults, the one on the earliest line is reported, whether the parser or the database found it", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const twice = makeLine(widgetId);
  const unknown = makeLine("w_zzzzzzzzzzzz" as WidgetId);
  assert.deepEqual(await importLines(db, owner, { lines: [twice, twice, unknown] }), {
    line: 2,
    fault: `reference already appears on line 1`,
  });
  assert.deepEqual(await importLines(db, owner, { lines: [unknown, twice, twice] }), {
    line: 1,
    fault: "widgetId is not a widget of this organization",
  });
});

test("a bad line after the first batch leaves nothing behind either", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const before = await dumpDatabase();
  const lines = [...Array.from({ length: 1_700 }, () => makeLine(widgetId)), "{", makeLine(widgetId)];
  assert.deepEqual(await importLines(db, owner, { lines }), { line: 1_701, fault: "it is not valid JSON" });
  assert.deepEqual(await dumpDatabase(), before);
});

test("an imported file comes out of the read API unchanged", async (t) => {
  const { app, deps } = await createTestApp();
  const owner = await makeOrganization(deps.db);
  const widgetId = await makeWidget(deps.db, owner);
  const { key } = await makeKey(deps.db, owner);
  const all = {
    reference: "SVC-ABCDEF",
    status: "no-show",
    createdAt: "2026-10-01T09:30:00.123Z",
    start: "2026-11-05T09:00:00.000Z",
    end: "2026-11-05T09:30:00.456Z",
    timeZone: "Asia/Calcutta",
    service: { id: "svc-🦷", name: "Zahnreinigung & Kontrolle" },
    staff: ["Dr. Ada Winter", "", "דנה"],
    customer: {
      name: '\u202Eשרה\u202C 👩🏽‍⚕️ O\'Neil \\ "x"',
      email: "Mara.Quell+tag@EXAMPLE.com",
      phone: "+49 30 1234",
      notes: "Line one\nline two\u2028line three\u2029\u0001\u007F\uFEFF",
    },
    answers: [
      { questionId: "q1", question: "مرحبا؟", answer: "" },
      { questionId: "q2", question: "Tell us all", answer: "🧾".repeat(300_000) },
    ],
    attribution: {
      source: "google",
      medium: "cpc",
      campaign: "Herbst 🍂",
      channel: "Paid Search",
      pageUrl: "https://example.com/book?x=1#y",
      landingPage: "https://example.com/",
      referrer: "https://www.google.com/",
      utmSource: "google",
      utmMedium: "cpc",
      utmCampaign: "Herbst 🍂",
      utmTerm: "zahn",
      utmContent: "a",
      gclid: "g",
      gbraid: "gb",
      wbraid: "wb",
      fbclid: "f",
      msclkid: "m",
      liFatId: "l",
      ttclid: "t",
      gaClientId: "1.2",
      fbp: "fb.1",
      fbc: "fb.2",
      firstSeenAt: "2026-09-30T23:59:59.999Z",
      currentPage: "https://example.com/book",
      touches: 3,
    },
    manageUrl: "https://scheduler.example/m/1?token=a%20b",
  };
  const least = {
    reference: "SVC-ABCDEG",
    status: "confirmed",
    createdAt: "2026-10-01T09:30:00.000Z",
    start: "2026-11-05T09:00:00.000Z",
    end: "2026-11-05T09:00:00.000Z",
    timeZone: "UTC",
    service: { id: "", name: "" },
    staff: [],
    customer: { name: "", email: "", phone: null, notes: null },
    answers: [],
    attribution: {},
  };
  const read = async (): Promise<unknown> =>
    (await app.inject({ url: "/api/v1/bookings", headers: { authorization: `Bearer ${key}` } })).json();
  const run = async (to: OrganizationId, lines: ImportLine[]) => await importLines(deps.db, to, { lines });

  await t.test("every field", async () => {
    const result = await run(owner, [
      { ...all, widgetId, id: "ext-1", joinUrl: "https://meet.example/1" },
      { ...least, widgetId },
    ]);
    assert.deepEqual(result, { imported: 2, skipped: 0, deleted: 0 });
    assert.deepEqual(await read(), { data: [all, least], nextCursor: null });
  });

  await t.test("the two fields outside the read API are stored too", async () => {
    const row = await deps.db
      .selectFrom("bookings")
      .select(["external_id", "join_url", "widget_id", "customer_email_key", "staff"])
      .where("reference", "=", all.reference as never)
      .executeTakeFirst();
    assert.deepEqual(row, {
      external_id: "ext-1",
      join_url: "https://meet.example/1",
      widget_id: widgetId,
      customer_email_key: "mara.quell+tag@example.com",
      staff: all.staff.map((name) => ({ id: null, name })),
    });
  });

  await t.test("exporting, deleting and importing again gives the same response", async () => {
    const answered = (await read()) as { data: Record<string, unknown>[] };
    await deps.db.deleteFrom("bookings").execute();
    await deps.db.deleteFrom("booking_references").execute();
    const other = await makeOrganization(deps.db);
    const otherWidget = await makeWidget(deps.db, other);
    const { key: otherKey } = await makeKey(deps.db, other);

    const result = await run(
      other,
      answered.data.map((booking) => ({ ...booking, widgetId: otherWidget })),
    );

    assert.deepEqual(result, { imported: 2, skipped: 0, deleted: 0 });
    const response = await app.inject({ url: "/api/v1/bookings", headers: { authorization: `Bearer ${otherKey}` } });
    assert.deepEqual(response.json(), answered);
    assert.deepEqual(await read(), { data: [], nextCursor: null });
  });
});

test("values are converted to the read API's form", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const lone = "a\uD800b";
  const text = `${JSON.stringify(
    makeLine(widgetId, {
      createdAt: "2026-10-01t11:30:00.1239+02:00",
      start: "2026-11-05T10:00:00+01:00",
      end: "2026-11-05T10:30:00+01:00",
      timeZone: "europe/berlin",
      customer: { name: lone, email: "m@x.org", phone: "", notes: "" },
      answers: [{ questionId: lone, question: "Q", answer: "\uDFFF", extra: 1 }],
      attribution: { firstSeenAt: "2026-10-01T11:30:00+02:00", source: lone, [lone]: 1, unknown: { deep: [] } },
      manageUrl: "",
      joinUrl: "",
      id: "",
      unknown: true,
    }),
  )}\r`;
  await importLines(db, owner, { lines: [text] });
  const row = await db
    .selectFrom("bookings")
    .select([...BOOKING_COLUMNS, "customer_email_key"])
    .where("organization_id", "=", owner)
    .executeTakeFirstOrThrow();
  assert.deepEqual(row, {
    reference: row.reference,
    widget_id: widgetId,
    status: "confirmed",
    created_at: new Date("2026-10-01T09:30:00.123Z"),
    start_at: new Date("2026-11-05T09:00:00.000Z"),
    end_at: new Date("2026-11-05T09:30:00.000Z"),
    time_zone: "Europe/Berlin",
    service_id: "svc-1",
    service_name: "Check-up",
    staff: [],
    customer_name: "a\uFFFDb",
    customer_email: "m@x.org",
    customer_email_key: "m@x.org",
    customer_phone: null,
    customer_notes: null,
    answers: [{ questionId: "a\uFFFDb", question: "Q", answer: "\uFFFD" }],
    attribution: { firstSeenAt: "2026-10-01T09:30:00.000Z", source: "a\uFFFDb" },
    external_id: null,
    manage_url: null,
    join_url: null,
    is_test: false,
  });
});

test("many lines with texts of a megabyte are imported in batches", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const mib = "é".repeat(1024 * 1024);
  function* lines() {
    for (let count = 0; count < 15; count++)
      yield makeLine(widgetId, { customer: { name: "M", email: "m@x.org", notes: mib } });
  }
  assert.deepEqual(await importLines(db, owner, { lines: lines() }), { imported: 15, skipped: 0, deleted: 0 });
  const { rows } = await pool.query(
    "select distinct length(customer_notes) as length from bookings where organization_id = $1",
    [owner],
  );
  assert.deepEqual(rows, [{ length: mib.length }]);
});
