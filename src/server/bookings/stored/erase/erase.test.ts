import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { Reference } from "#contract/ids.ts";
import { makeBooking } from "../../../../../test/support/builders.ts";
import { findEverywhere } from "../../../../../test/support/database/search-database.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  pathOf,
  readDeliveries,
  startReplying,
} from "../../../../../test/support/webhooks/webhook-service.ts";
import { sweepExpired } from "../../../operations/retention.ts";
import type { NewBooking } from "../../flow/keep-booking.ts";
import { reserveReference } from "../queries.ts";
import { countErasable, deleteBooking, eraseBookingsByEmail } from "./erase.ts";

const service = await createWebhookService();
const { deps, loop } = service;
const { db } = deps;

/** Echoes what it was sent, as receivers being debugged do, so the reply becomes part of the log. */
const receiver = await startReplying((request) => ({
  status: pathOf(request).includes("down") ? 500 : pathOf(request).includes("chat") ? 404 : 200,
  body: request.body.toString(),
}));

let people = 0;

/** A visitor with a unique value in every personal field. */
function makePerson(): { columns: Partial<NewBooking>; markers: string[] } {
  const number = ++people;
  const mark = (field: string) => `zq${number}${field}`;
  const attribution = {
    source: mark("source"),
    landingPage: `https://x.example/${mark("landing")}`,
    referrer: `https://y.example/${mark("referrer")}`,
    gclid: mark("gclid"),
    gaClientId: mark("client"),
    fbp: mark("fbp"),
  };
  const columns = {
    external_id: mark("external"),
    customer_name: `Zoë ${mark("name")}`,
    customer_email: `${mark("mail")}@example.com`,
    customer_phone: `+49 ${mark("phone")}`,
    customer_notes: `allergic: ${mark("notes")}`,
    answers: JSON.stringify([{ questionId: "q", question: "Which?", answer: mark("answer") }]),
    attribution: JSON.stringify(attribution),
    manage_url: `https://s.example/${mark("manage")}`,
    join_url: `https://m.example/${mark("join")}`,
  };
  const fields = ["external", "name", "mail", "phone", "notes", "answer", "source", "landing", "referrer", "gclid"];
  return { columns, markers: [...fields, "client", "fbp", "manage", "join"].map(mark) };
}

async function makeFullBusiness(): Promise<Business> {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: `${receiver.url}/up` });
  await makeEndpoint(deps, business, { url: `${receiver.url}/down` });
  await makeEndpoint(deps, business, { url: `${receiver.url}/chat`, kind: "slack" });
  await makeEndpoint(deps, business, { url: `${receiver.url}/down/chat`, kind: "teams" });
  return business;
}

async function assertNowhere(markers: readonly string[]): Promise<void> {
  for (const marker of markers) assert.deepEqual(await findEverywhere(db, marker), [], marker);
}

/** Shows that there was a booking, and nothing about it: see docs/decisions/0003-references-have-a-table.md. */
async function assertTakenOnly(references: readonly Reference[]): Promise<void> {
  for (const reference of references)
    assert.deepEqual(
      await findEverywhere(db, reference),
      ["public.booking_deletions", "public.booking_references"],
      reference,
    );
}

async function assertEverywhere(markers: readonly string[]): Promise<void> {
  for (const marker of markers) assert.ok((await findEverywhere(db, marker)).includes("public.bookings"), marker);
}

test("erasing by email leaves nothing about the person anywhere in the database", async () => {
  const business = await makeFullBusiness();
  const { columns, markers } = makePerson();
  const reference = await book(deps, business, columns);
  await deliverAll(loop);
  const again = await book(deps, business, {
    ...columns,
    customer_email: ` ${columns.customer_email?.toUpperCase()} `,
  });
  await assertEverywhere(markers);
  const inLog = await findEverywhere(db, markers[2] as string);
  assert.deepEqual(inLog, [
    "public.bookings",
    "public.deliveries",
    "public.delivery_attempts",
    "public.webhook_events",
  ]);

  assert.equal(await eraseBookingsByEmail(deps, business.owner, String(columns.customer_email)), 2);
  await assertNowhere(markers);
  await assertTakenOnly([reference, again]);
  const before = receiver.requests.length;
  moveClock(service, 24 * 3_600);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, before, "and nothing more is sent");
  const states = (await readDeliveries(deps, business.owner)).map(({ state }) => state).sort();
  assert.deepEqual(states, [...Array(6).fill("canceled"), "delivered", "failed"], "the lines of the log stay");
});

test("deleting one booking removes everything about it and nothing about the others", async () => {
  const business = await makeFullBusiness();
  const [one, other] = [makePerson(), makePerson()];
  const reference = await book(deps, business, one.columns);
  await book(deps, business, other.columns);
  await deliverAll(loop);
  assert.equal(await deleteBooking(deps, business.owner, reference), true);
  await assertNowhere(one.markers);
  await assertTakenOnly([reference]);
  await assertEverywhere(other.markers);
  assert.equal(await deleteBooking(deps, business.owner, reference), false);
});

test("a booking past its plan's retention leaves nothing in the log either", async () => {
  const business = await makeFullBusiness();
  const { columns, markers } = makePerson();
  await book(deps, business, columns);
  await deliverAll(loop);
  // Within the delivery log's retention, but past the plan's.
  await db
    .updateTable("bookings")
    .set({ created_at: new Date("2020-01-01T00:00:00.000Z") })
    .where("organization_id", "=", business.owner)
    .execute();
  assert.equal((await sweepExpired(deps)).bookings, 1);
  await assertNowhere(markers);
});

const SPELLINGS: readonly [stored: string, typed: string][] = [
  ["mara@example.com", "mara@example.com"],
  ["Mara@Example.COM", "mara@example.com"],
  ["mara@example.com", "  MARA@EXAMPLE.COM\t"],
  ["\u00a0mara@example.com\n", "mara@example.com"],
  ["zoë@müller.example", "ZOË@MÜLLER.example"],
  ["zoe\u0308@example.com", "zo\u00eb@example.com"],
  ["zo\u00eb@example.com", "ZOE\u0308@example.com"],
  ["ΣΟΦΙΑ@example.com", "σοφια@example.com"],
];

for (const [stored, typed] of SPELLINGS) {
  test(`${JSON.stringify(typed)} erases ${JSON.stringify(stored)}; the dry run counts and deletes nothing`, async () => {
    const { owner, widgetId } = await makeBusiness(deps);
    await makeBooking(db, owner, { widgetId, customer_email: stored });
    await makeBooking(db, owner, { widgetId, customer_email: "other@example.com" });
    assert.equal(await countErasable(deps, owner, typed), 1);
    assert.equal(await countErasable(deps, owner, typed), 1);
    assert.equal(await eraseBookingsByEmail(deps, owner, typed), 1);
    assert.equal(await eraseBookingsByEmail(deps, owner, typed), 0);
    const left = await db
      .selectFrom("bookings")
      .select("customer_email")
      .where("organization_id", "=", owner)
      .execute();
    assert.deepEqual(left, [{ customer_email: "other@example.com" }]);
  });
}

test("similar addresses and other organizations' bookings are not erased", async () => {
  const { owner, widgetId } = await makeBusiness(deps);
  const other = await makeBusiness(deps);
  await makeBooking(db, other.owner, { widgetId: other.widgetId, customer_email: "mara@example.com" });
  const { reference } = await makeBooking(db, owner, { widgetId, customer_email: "mara+work@example.com" });
  for (const email of ["mara@example.com", "", "%", "mara_work@example.com", "ara+work@example.com"])
    assert.equal(await eraseBookingsByEmail(deps, owner, email), 0, email);
  assert.equal(await deleteBooking(deps, other.owner, reference as never), false);
});

test("an address with more bookings than a statement has parameters for is erased at once", async () => {
  const { owner, widgetId } = await makeBusiness(deps);
  const email = "regular@example.com";
  await makeBooking(db, owner, { widgetId, customer_email: email });
  const count = 13_108;
  await sql`
    insert into bookings (organization_id, reference, widget_id, status, created_at, start_at, end_at, time_zone, service_id,
      service_name, staff, customer_name, customer_email, answers, attribution, api_json)
    select organization_id, 'SVC-' || n, widget_id, status, created_at + n * interval '1 millisecond', start_at, end_at,
      time_zone, service_id, service_name, staff, customer_name, customer_email, answers, attribution, api_json
    from bookings, generate_series(2, ${count}::integer) n where organization_id = ${owner}`.execute(db);
  assert.equal(await eraseBookingsByEmail(deps, owner, email), count);
  const { rows } = await sql`
    select count(*)::integer as count, count(distinct deleted_at)::integer as instants, array_agg(distinct widget_id) as widgets
    from booking_deletions where organization_id = ${owner} and reason = 'erased'`.execute(db);
  assert.deepEqual(rows, [{ count, instants: count, widgets: [widgetId] }]);
});

test("an erased reference is never given out again", async () => {
  const { owner, widgetId } = await makeBusiness(deps);
  const other = await makeBusiness(deps);
  const { reference } = await makeBooking(db, owner, { widgetId });
  await deleteBooking(deps, owner, reference as Reference);
  assert.equal(await reserveReference(db, owner, reference as Reference), false);
  assert.equal(await reserveReference(db, other.owner, reference as Reference), false);
});

test("erasing while deliveries are claimed never deadlocks and leaves nothing stuck", async () => {
  const business = await makeFullBusiness();
  for (let round = 0; round < 5; round++) {
    const { columns, markers } = makePerson();
    for (let n = 0; n < 5; n++) await book(deps, business, columns);
    const [erased] = await Promise.all([
      eraseBookingsByEmail(deps, business.owner, String(columns.customer_email)),
      deliverAll(loop),
    ]);
    assert.equal(erased, 5);
    await assertNowhere(markers.slice(0, 3));
    moveClock(service, 1);
  }
  const stuck = await db
    .selectFrom("delivery_queue")
    .selectAll()
    .where("organization_id", "=", business.owner)
    .execute();
  assert.deepEqual(stuck, []);
});
