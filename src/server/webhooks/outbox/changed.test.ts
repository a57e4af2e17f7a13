import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Check } from "typebox/value";
import { MINUTE_MS } from "#contract/durations.ts";
import type { Reference } from "#contract/ids.ts";
import { BookingCancelledEvent, BookingRescheduledEvent } from "#contract/webhooks/webhook-event.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readDeliveries,
  startReplying,
  verify,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { applyChange } from "../../bookings/changes/apply-change.ts";
import { listChanges } from "../../bookings/changes/change-queries.ts";
import {
  type Check as AppointmentCheck,
  claimOne,
  finishCheck,
  markDue,
} from "../../bookings/changes/check-queries.ts";
import { deleteBooking } from "../../bookings/stored/erase/erase.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { Followed } from "../../scheduler/scheduling-system.ts";

// booking.cancelled and booking.rescheduled: changes of appointments reach the endpoints that chose them.

const service = await createWebhookService();
const { deps, clock, loop } = service;
const { db } = deps;

const CHANGES = ["booking.cancelled", "booking.rescheduled"] as const;
const CANCELLED: Followed = { kind: "cancelled" };
const START = new Date("2026-11-20T09:00:00.000Z");
const LATER = new Date("2026-11-21T10:00:00.000Z");

function movedTo(startAt: Date): Followed {
  const endAt = new Date(startAt.getTime() + 30 * MINUTE_MS);
  return { kind: "confirmed", externalId: "b-2", startAt, endAt, manageUrl: "https://s.example/b-2", joinUrl: null };
}

async function change({ owner, widgetId }: Business, reference: Reference, now: Followed, check?: AppointmentCheck) {
  return await inHome(
    db,
    owner,
    async (transaction) =>
      await applyChange(deps, transaction, {
        owner,
        reference,
        widgetId,
        now,
        claim: async () => check === undefined || (await finishCheck(transaction, check)),
      }),
  );
}

test("endpoints that chose changes get them in the envelope of booking.created, and others get nothing", async () => {
  const business = await makeBusiness(deps, "business");
  const [receiver, unasked] = [await startReplying(() => ({})), await startReplying(() => ({}))];
  const { secret } = await makeEndpoint(deps, business, { url: receiver.url, settings: { eventTypes: CHANGES } });
  await makeEndpoint(deps, business, { url: unasked.url });
  const reference = await book(deps, business, { start_at: START });
  await change(business, reference, movedTo(LATER));
  moveClock(service, 1);
  await change(business, reference, CANCELLED);
  assert.equal(await change(business, reference, CANCELLED), "unchanged");
  await deliverAll(loop);
  const [created, ...none] = unasked.requests.map(({ body }) => JSON.parse(body.toString()));
  assert.deepEqual([created.type, none], ["booking.created", []]);
  const events = receiver.requests
    .map((request) => {
      verify(request, secret, clock.now());
      const event = JSON.parse(request.body.toString());
      assert.equal(headerOf(request, "Service-Event"), event.type);
      return event;
    })
    .toSorted((a, b) => a.created.localeCompare(b.created));
  const [moved, cancelled] = events;
  assert.ok(events.length === 2 && Check(BookingRescheduledEvent, moved) && Check(BookingCancelledEvent, cancelled));
  const { booking, ...data } = created.data;
  const after = {
    ...booking,
    id: "b-2",
    start: LATER.toISOString(),
    end: "2026-11-21T10:30:00.000Z",
    manageUrl: "https://s.example/b-2",
    joinUrl: null,
  };
  assert.deepEqual(moved.data, { booking: after, ...data, previousStart: START.toISOString() });
  assert.deepEqual(cancelled.data, { booking: { ...after, status: "cancelled" }, ...data });
});

test("an endpoint's filters hold for changes too", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  const settings = { eventTypes: CHANGES, services: ["Bleaching"] };
  await makeEndpoint(deps, business, { url: receiver.url, settings });
  const other = await book(deps, business);
  const wanted = await book(deps, business, { service_name: "Bleaching" });
  for (const reference of [other, wanted]) await change(business, reference, CANCELLED);
  await deliverAll(loop);
  const sent = receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.booking.reference);
  assert.deepEqual(sent, [wanted]);
});

test("if the event can't be written, nothing is changed and the check is repeated, with one event in the end", async () => {
  const business = await makeBusiness(deps);
  const { owner } = business;
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url, settings: { eventTypes: CHANGES } });
  const reference = await book(deps, business);
  await markDue(db, owner, { references: [reference], now: clock.now() });
  const claim = async () => {
    const leaseUntil = new Date(clock.now().getTime() + MINUTE_MS);
    return await claimOne(db, { organizationId: owner, reference }, { now: clock.now(), leaseUntil });
  };
  await sql`create function refuse_delivery() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
    db,
  );
  await sql`create trigger refuse before insert on deliveries for each row execute function refuse_delivery()`.execute(
    db,
  );
  const first = await claim();
  assert.ok(first);
  await assert.rejects(change(business, reference, CANCELLED, first), /refused/);
  const listed = () => listChanges(db, owner, { from: new Date(0), before: null, limit: 10 });
  const readStatus = async () =>
    await db.selectFrom("bookings").select("status").where("reference", "=", reference).executeTakeFirstOrThrow();
  assert.deepEqual([await listed(), (await readStatus()).status], [[], "confirmed"]);

  await sql`drop trigger refuse on deliveries`.execute(db);
  moveClock(service, 61);
  const second = await claim();
  assert.ok(second, "the check is due again when its lease is over");
  assert.equal(await change(business, reference, CANCELLED, second), "changed");
  assert.equal(await change(business, reference, CANCELLED, second), "stale");
  assert.equal(await claim(), null);
  await deliverAll(loop);
  assert.deepEqual(
    [(await listed()).length, (await readStatus()).status, receiver.requests.length],
    [1, "cancelled", 1],
  );
});

test("erasing a booking cancels the deliveries of its changes and deletes their content", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({ status: 500 }));
  await makeEndpoint(deps, business, { url: receiver.url, settings: { eventTypes: CHANGES } });
  await makeEndpoint(deps, business, { url: receiver.url, kind: "slack", settings: { eventTypes: CHANGES } });
  const reference = await book(deps, business);
  await change(business, reference, movedTo(LATER));
  await change(business, reference, CANCELLED);
  await deliverAll(loop);
  await deleteBooking(deps, business.owner, reference);
  const deliveries = await readDeliveries(deps, business.owner);
  assert.deepEqual(
    deliveries.map(({ state, cancel_reason, card }) => [state, cancel_reason, card]),
    Array.from({ length: 4 }, () => ["canceled", "erased", null]),
  );
  const events = await db
    .selectFrom("webhook_events")
    .select(["reference", "body"])
    .where("organization_id", "=", business.owner)
    .where("type", "in", CHANGES)
    .execute();
  assert.deepEqual(events, Array(2).fill({ reference: null, body: null }));
});
