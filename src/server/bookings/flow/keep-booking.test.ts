import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Check } from "typebox/value";
import type { OrganizationId } from "#contract/ids.ts";
import { BookingCreatedEvent } from "#contract/webhooks/webhook-event.ts";
import { plainBooking } from "../../../../test/support/app/read-api.ts";
import { importLines, makeLine } from "../../../../test/support/bookings/import-lines.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  readDeliveries,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { inHome } from "../../db/statements/transactions.ts";
import { keepBooking, writeMissingEvents } from "./keep-booking.ts";
import { takeReference } from "./reference.ts";

const service = await createWebhookService();
const { deps, clock, loop, lines } = service;
const { db } = deps;
const receiver = await startReplying(() => ({}));
const running = new AbortController().signal;

async function readBookings(owner: OrganizationId) {
  return await db
    .selectFrom("bookings")
    .select(["reference", "lacks_event"])
    .where("organization_id", "=", owner)
    .orderBy("created_at")
    .execute();
}

async function countFanOutFailures(): Promise<number> {
  return (await deps.metrics.fanOutFailures.get()).values[0]?.value ?? 0;
}

/** Makes the database refuse every delivery of this organization during the test. */
async function breakFanOut({ owner }: Business, run: () => Promise<void>, fault = "raise 'refused'"): Promise<void> {
  await sql`create function refuse_delivery() returns trigger language plpgsql as
    ${sql.lit(`begin if new.organization_id = '${owner}' then ${fault}; end if; return new; end`)}`.execute(db);
  await sql`create trigger refuse before insert on deliveries for each row execute function refuse_delivery()`.execute(
    db,
  );
  try {
    await run();
  } finally {
    await sql`drop trigger refuse on deliveries`.execute(db);
    await sql`drop function refuse_delivery`.execute(db);
  }
}

test("a booking is stored with one event and one delivery per endpoint, all with the same bytes", async () => {
  const business = await makeBusiness(deps);
  const endpoints = [];
  for (const path of ["a", "b"]) endpoints.push(await makeEndpoint(deps, business, { url: `${receiver.url}/${path}` }));
  const reference = await book(deps, business, {
    external_id: "ext-1",
    customer_phone: "+49 30 5550100",
    join_url: "https://meet.example/1",
    manage_url: "https://scheduler.example/manage/1",
    staff: JSON.stringify([{ id: "st-1", name: "Dr. Ada Winter" }]),
    answers: JSON.stringify([{ questionId: "q-1", question: "First visit?", answer: "Yes" }]),
    attribution: JSON.stringify({
      source: "google",
      medium: "cpc",
      utmSource: "google",
      utmContent: "x",
      gclid: "Cj0",
      fbp: "y",
    }),
  });
  const before = receiver.requests.length;
  await deliverAll(loop);
  const [one, other] = receiver.requests.slice(before);
  assert.ok(one && other && receiver.requests.length === before + 2);
  assert.deepEqual(one.body, other.body);
  assert.notEqual(headerOf(one, "Service-Delivery"), headerOf(other, "Service-Delivery"));
  assert.equal(headerOf(one, "Service-Event"), "booking.created");

  const event = JSON.parse(one.body.toString());
  assert.ok(Check(BookingCreatedEvent, event));
  assert.match(event.id, /^evt_[0-9a-f]{32}$/);
  assert.deepEqual(event, {
    id: event.id,
    type: "booking.created",
    created: clock.now().toISOString(),
    apiVersion: "2026-11-01",
    data: {
      booking: {
        reference,
        id: "ext-1",
        status: "confirmed",
        start: "2026-11-01T12:00:00.000Z",
        end: "2026-11-01T12:00:00.000Z",
        timeZone: "UTC",
        service: { id: "svc-1", name: "Check-up" },
        staff: [{ id: "st-1", name: "Dr. Ada Winter" }],
        customer: { name: "Mara Quell", email: "mara.quell@example.com", phone: "+49 30 5550100", notes: null },
        answers: [{ questionId: "q-1", question: "First visit?", answer: "Yes" }],
        manageUrl: "https://scheduler.example/manage/1",
        joinUrl: "https://meet.example/1",
      },
      business: { id: business.owner, name: "Lindenhof" },
      widget: { id: business.widgetId, name: "Website" },
      attribution: { source: "google", medium: "cpc", utm: { source: "google" }, clickIds: { gclid: "Cj0" } },
    },
  });
});

test("on Free, or without endpoints, a booking is stored but no event is written or sent", async () => {
  const free = await makeBusiness(deps);
  await makeEndpoint(deps, free, { url: receiver.url });
  await db.updateTable("organizations").set({ plan: "free" }).where("id", "=", free.owner).execute();
  const without = await makeBusiness(deps);
  const before = receiver.requests.length;
  for (const business of [free, without]) {
    await book(deps, business);
    const events = await db
      .selectFrom("webhook_events")
      .select("id")
      .where("organization_id", "=", business.owner)
      .execute();
    assert.deepEqual([(await readBookings(business.owner)).map((each) => each.lacks_event), events], [[false], []]);
  }
  await deliverAll(loop);
  assert.equal(receiver.requests.length, before);
});

test("a fan-out fault never fails the booking, and the task writes the event once", async () => {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: receiver.url });
  const failuresBefore = await countFanOutFailures();
  const before = receiver.requests.length;
  await breakFanOut(business, async () => {
    const reference = await book(deps, business);
    assert.deepEqual(await readBookings(business.owner), [{ reference, lacks_event: true }]);
    await assert.rejects(writeMissingEvents(deps, running), /Bookings that still lack their webhook event: 1/);
  });
  assert.equal((await countFanOutFailures()) - failuresBefore, 1);
  assert.ok(lines.some((line) => line.includes("booking.event_failed") && !line.includes("Mara")));
  assert.equal(
    (await db.selectFrom("webhook_events").selectAll().where("organization_id", "=", business.owner).execute()).length,
    0,
  );

  await Promise.all([writeMissingEvents(deps, running), writeMissingEvents(deps, running)]);
  assert.deepEqual(
    (await readBookings(business.owner)).map((each) => each.lacks_event),
    [false],
  );
  await deliverAll(loop);
  assert.deepEqual(
    (await readDeliveries(deps, business.owner)).map(({ state }) => state),
    ["delivered"],
  );
  assert.equal(receiver.requests.length, before + 1);
});

test("a booking whose event cannot be written does not hold up the others", async () => {
  const poisoned = await makeBusiness(deps);
  const healthy = await makeBusiness(deps);
  for (const business of [poisoned, healthy]) {
    await makeEndpoint(deps, business, { url: receiver.url });
    await book(deps, business);
    await db.updateTable("bookings").set({ lacks_event: true }).where("organization_id", "=", business.owner).execute();
  }
  await breakFanOut(poisoned, () => assert.rejects(writeMissingEvents(deps, running)));
  assert.deepEqual(
    [(await readBookings(poisoned.owner))[0]?.lacks_event, (await readBookings(healthy.owner))[0]?.lacks_event],
    [true, false],
  );
  await writeMissingEvents(deps, running);
});

test("a booking that can't be turned into an event is still stored", async () => {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: receiver.url, kind: "slack" });
  const random = {
    bytes: () => {
      throw new Error("no id for the event");
    },
  };
  const reference = await inHome(db, business.owner, async (transaction) => {
    const taken = await takeReference(db, business.owner, deps.random);
    const booking = plainBooking(taken, business.widgetId);
    await keepBooking({ ...deps, random }, transaction, { owner: business.owner, booking });
    return taken;
  });
  assert.deepEqual(await readBookings(business.owner), [{ reference, lacks_event: true }]);
  await db.updateTable("bookings").set({ lacks_event: false }).where("reference", "=", reference).execute();
});

test("a fan-out that takes too long is left to the task", async () => {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: receiver.url });
  await breakFanOut(business, () => book(deps, business).then(() => {}), "perform pg_sleep(60)");
  assert.deepEqual(
    (await readBookings(business.owner)).map((each) => each.lacks_event),
    [true],
  );
  await writeMissingEvents(deps, running);
  assert.equal((await readDeliveries(deps, business.owner)).length, 1);
});

test("a fan-out that would wait for a lock is left to the task", async () => {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: receiver.url });
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>();
  const blocking = inHome(db, business.owner, async (transaction) => {
    const endpoints = transaction.selectFrom("endpoints").select("id").where("organization_id", "=", business.owner);
    await endpoints.forUpdate().execute();
    locked();
    await mayEnd;
  });
  await isLocked;
  await book(deps, business);
  assert.deepEqual(
    (await readBookings(business.owner)).map((each) => each.lacks_event),
    [true],
  );
  end();
  await blocking;
  await writeMissingEvents(deps, running);
  assert.equal((await readDeliveries(deps, business.owner)).length, 1);
});

test("the fan-out leaves the caller's transaction as it was", async () => {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: receiver.url });
  await inHome(db, business.owner, async (transaction) => {
    const reference = await takeReference(db, business.owner, deps.random);
    await keepBooking(deps, transaction, {
      owner: business.owner,
      booking: plainBooking(reference, business.widgetId),
    });
    const limits = sql`select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`;
    assert.deepEqual((await limits.execute(transaction)).rows, [{ lock: "0", statement: "0" }]);
  });
});

test("workers are woken only if a booking has something to send", async () => {
  const business = await makeBusiness(deps);
  const keep = () =>
    inHome(db, business.owner, async (transaction) => {
      const reference = await takeReference(db, business.owner, deps.random);
      const booking = plainBooking(reference, business.widgetId);
      return (await keepBooking(deps, transaction, { owner: business.owner, booking })).length;
    });
  assert.equal(await keep(), 0);
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  assert.equal(await keep(), 1);
  await db
    .updateTable("endpoints")
    .set({ status: "disabled", disabled_reason: "manual", disabled_at: deps.clock.now() })
    .where("organization_id", "=", business.owner)
    .where("id", "=", id)
    .execute();
  assert.equal(await keep(), 0, "the delivery to a disabled endpoint is canceled");
});

test("a rolled-back booking leaves no event and sends nothing", async () => {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: receiver.url });
  const undone = inHome(db, business.owner, async (transaction) => {
    const reference = await takeReference(db, business.owner, deps.random);
    await keepBooking(deps, transaction, {
      owner: business.owner,
      booking: plainBooking(reference, business.widgetId),
    });
    throw new Error("the caller changed its mind");
  });
  await assert.rejects(undone, /changed its mind/);
  assert.deepEqual(await readDeliveries(deps, business.owner), []);
});

test("imports send no webhooks", async () => {
  const business = await makeBusiness(deps);
  const own = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: own.url });
  await importLines(db, business.owner, { lines: [makeLine(business.widgetId), makeLine(business.widgetId)] });
  await writeMissingEvents(deps, running);
  await deliverAll(loop);
  assert.equal((await readBookings(business.owner)).length, 2);
  assert.deepEqual([await readDeliveries(deps, business.owner), own.requests.length], [[], 0]);
});
