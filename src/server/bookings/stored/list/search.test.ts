import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import { type OrganizationId, REFERENCE, type Reference, type WidgetId } from "#contract/ids.ts";
import { plainBooking } from "../../../../../test/support/app/read-api.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../../test/support/database/database.ts";
import { cleanSearch } from "../../../http/parameters.ts";
import { type BookingSearch, searchBookings } from "./search-queries.ts";

const { db } = await createTestDatabase();

const EVERYTHING = {
  createdFrom: new Date(0),
  createdBefore: null,
  widgetId: null,
  startFrom: null,
  startBefore: null,
  status: null,
  sort: "newest",
  after: null,
  limit: 100,
} as const;

async function search(owner: OrganizationId, text: string, filters: Partial<BookingSearch> = {}): Promise<string[]> {
  const rows = await searchBookings(db, owner, { ...EVERYTHING, search: text, parts: ["o", "c"], ...filters });
  return rows.map((row) => row.customer_name);
}

type Business = { owner: OrganizationId; widgetId: WidgetId };

async function makeBusiness(): Promise<Business> {
  const owner = await makeOrganization(db);
  return { owner, widgetId: await makeWidget(db, owner) };
}

/** Enough newer bookings by others that only the index finds the older ones. */
const OTHERS = 500;

async function makeBusyBusiness(): Promise<Business> {
  const business = await makeBusiness();
  const { owner, widgetId } = business;
  const rows = Array.from({ length: OTHERS }, (_, i) => ({
    ...plainBooking(toReference(i), widgetId),
    organization_id: owner,
    created_at: new Date(NOON.getTime() + (i + 1) * DAY_MS),
    service_name: "0",
    customer_name: "0",
    customer_email: "0",
    api_json: "{}",
  }));
  await db.insertInto("bookings").values(rows).execute();
  return business;
}

/** Without letters except those in the prefix. */
function toReference(number: number): Reference {
  const digits = number.toString(8).padStart(REFERENCE.length, "0");
  return `${REFERENCE.prefix}${digits.replaceAll(/./g, (digit) => "23456789".charAt(Number(digit)))}` as Reference;
}

const businesses = { "few bookings": await makeBusiness(), "many bookings": await makeBusyBusiness() };

for (const [among, { owner, widgetId }] of Object.entries(businesses)) {
  const { reference } = await makeBooking(db, owner, {
    widgetId,
    customer_name: "Zoë O'Brien-Łukasz",
    customer_email: "Z.Obrien@Example.com",
    service_name: "Root canal \\ treatment",
    attribution: JSON.stringify({ campaign: "Autumn_2026 (50% off)", source: "google", utmTerm: "secret" }),
    customer_notes: "hidden words",
  });
  const isFound = async (text: string, parts: BookingSearch["parts"] = ["o", "c"]) =>
    (await search(owner, text, { parts, limit: 1_000 })).includes("Zoë O'Brien-Łukasz");

  describe(`among ${among} a booking is found by`, () => {
    // biome-ignore format: one case a line
    const cases: [what: string, text: string][] = [
      ["a part of its customer's name", "o'bri"], ["the name in capitals", "ZOË"], ["the name, decomposed", "zoe\u0308"],
      ["a name beyond ASCII", "łuk"], ["its email address", "obrien@EX"], ["its service", "canal \\ tr"],
      ["its campaign", "_2026 (50%"], ["its reference", reference.toLowerCase()], ["the name's one letter", "ł"],
      ["the name's two letters", "'b"], ["the last letter of a field", "m"], ["the end of its campaign", "f)"],
      ["a whole field", "Z.Obrien@Example.com"], ["what all references have", "svc-"],
    ];
    for (const [what, text] of cases) test(`${what}: ${text}`, async () => assert.equal(await isFound(text), true));

    // biome-ignore format: one case a line
    const others: [what: string, text: string][] = [
      ["its notes", "hidden"], ["where it came from", "google"], ["other letters", "canals"], ["the ends of two fields", "treatmentautumn"],
      ["a pattern", "z%n"], ["a pattern of one letter", "o_brien"], ["letters that it has elsewhere", "tcanal"],
    ];
    for (const [what, text] of others)
      test(`but not by ${what}: ${text}`, async () => assert.equal(await isFound(text), false));

    test("members without access to customers find bookings only by fields they can see", async () => {
      for (const text of ["canal", "autumn", "svc-"]) assert.equal(await isFound(text, ["o"]), true, text);
      for (const text of ["zoë", "example.com", "o'b", "@"]) assert.equal(await isFound(text, ["o"]), false, text);
    });
  });
}

for (const [among, make] of [
  ["few", makeBusiness],
  ["many", makeBusyBusiness],
] as const) {
  test(`among ${among}, results come newest first, within any period, up to the limit`, async () => {
    const { owner, widgetId } = await make();
    const days = [0, 1, 2, 3, 4, 5, 17, 40, 41, 300, 690];
    for (const day of days.toReversed())
      await makeBooking(db, owner, {
        widgetId,
        now: new Date(NOON.getTime() - day * DAY_MS),
        customer_name: `Mara ${day}`,
      });
    assert.deepEqual(
      await search(owner, "mara"),
      days.map((day) => `Mara ${day}`),
    );
    assert.deepEqual(await search(owner, "mara", { limit: 3 }), ["Mara 0", "Mara 1", "Mara 2"]);
    const [createdFrom, before] = [new Date(NOON.getTime() - 41 * DAY_MS), new Date(NOON.getTime() - 4 * DAY_MS)];
    const some = ["Mara 5", "Mara 17", "Mara 40", "Mara 41"];
    assert.deepEqual(await search(owner, "mara", { createdFrom, createdBefore: before }), some);
    assert.deepEqual(await search(owner, "mara", { createdFrom }), [
      "Mara 0",
      "Mara 1",
      "Mara 2",
      "Mara 3",
      "Mara 4",
      ...some,
    ]);
  });

  test(`among ${among}, bookings of another organization or widget are not found`, async () => {
    const mine = await make();
    const theirs = await make();
    const otherWidget = await makeWidget(db, mine.owner);
    await makeBooking(db, mine.owner, { widgetId: mine.widgetId, customer_name: "Mara one" });
    await makeBooking(db, mine.owner, { widgetId: otherWidget, customer_name: "Mara two" });
    await makeBooking(db, theirs.owner, { widgetId: theirs.widgetId, customer_name: "Mara three" });
    assert.deepEqual(await search(mine.owner, "mara", { widgetId: otherWidget }), ["Mara two"]);
    assert.deepEqual(await search(mine.owner, "mara", { widgetId: mine.widgetId }), ["Mara one"]);
    assert.deepEqual((await search(mine.owner, "mara")).sort(), ["Mara one", "Mara two"]);
    assert.deepEqual(await search(mine.owner, "mara", { widgetId: theirs.widgetId }), []);
  });
}

test("control characters and surrounding spaces are removed from the search text", () => {
  assert.equal(cleanSearch("  Mara \t Quell\n"), "Mara   Quell");
  assert.equal(cleanSearch(" \u0000\u0001 "), null);
});

test("a search finds exactly what scanning every booking finds", async () => {
  const letters = [
    "a",
    "b",
    "A",
    "ß",
    "İ",
    "Σ",
    "é",
    "e\u0301",
    "李",
    "😀",
    "'",
    "\\",
    "%",
    "_",
    " ",
    "&",
    "|",
    ":",
    "*",
    "(",
  ];
  const word = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 8 }).map((some) => some.join(""));
  const booking = fc.record({
    customer_name: word,
    customer_email: word,
    service_name: word,
    campaign: word,
    day: fc.integer({ min: 0, max: 20 }),
  });
  const { owner, widgetId } = await makeBusyBusiness();
  await fc.assert(
    fc.asyncProperty(fc.array(booking, { minLength: 1, maxLength: 5 }), word, async (bookings, typed) => {
      await db.deleteFrom("bookings").where("organization_id", "=", owner).where("created_at", "<=", NOON).execute();
      await db.deleteFrom("booking_clocks").where("organization_id", "=", owner).execute();
      for (const { campaign, day, ...columns } of bookings.toSorted((a, b) => b.day - a.day))
        await makeBooking(db, owner, {
          widgetId,
          ...columns,
          attribution: JSON.stringify({ campaign }),
          now: new Date(NOON.getTime() - (day + 1) * DAY_MS),
        });
      const text = cleanSearch(typed);
      if (text !== null) assert.deepEqual(await search(owner, text), await lookAtAll(owner, text), text);
    }),
    { numRuns: 60 },
  );
});

/** Compares with PostgreSQL's case folding on both sides, field by field, without an index. */
async function lookAtAll(owner: OrganizationId, text: string): Promise<string[]> {
  const { rows } = await sql<{ customer_name: string }>`
    select customer_name from bookings
    where organization_id = ${owner} and exists (
      select from unnest(array[customer_name, customer_email, reference, service_name, attribution ->> 'campaign']) field
      where strpos(lower(normalize(field) collate "pg_c_utf8"), lower(normalize(${text}::text) collate "pg_c_utf8")) > 0
    )
    order by created_at desc`.execute(db);
  return rows.map((row) => row.customer_name);
}
