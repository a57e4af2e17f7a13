import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeletionPage } from "#contract/bookings/booking-changes.ts";
import type { Reference } from "#contract/ids.ts";
import { makeKey, makeWidget } from "../../../../test/support/builders.ts";
import {
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
import { deleteBooking, eraseBookingsByEmail } from "../../bookings/stored/erase/erase.ts";
import { sweepExpired } from "../../operations/retention.ts";

// booking.erased and GET /api/v1/deletions: an erasure reaches the business's own systems. Nothing personal in either.

const service = await createWebhookService();
const { app, deps, clock, loop } = service;
/** Not that of the other bookings. */
const EMAIL = "jo.winter@example.com";

async function makeListening(settings: { reportsExpiry?: boolean } = {}) {
  const business = await makeBusiness(deps, "business");
  const receiver = await startReplying(() => ({}));
  const eventTypes = ["booking.erased"] as const;
  const { secret } = await makeEndpoint(deps, business, { url: receiver.url, settings: { eventTypes, ...settings } });
  const { key } = await makeKey(deps.db, business.owner);
  const readDeletions = async (query = "") => {
    const reply = await app.inject({ url: `/api/v1/deletions${query}`, headers: { authorization: `Bearer ${key}` } });
    assert.equal(reply.statusCode, 200, reply.body);
    return reply.json() as DeletionPage;
  };
  return { business, receiver, secret, key, readDeletions };
}

test("events of test bookings say so in a header, at every attempt, and others have no such header", async () => {
  const business = await makeBusiness(deps, "business");
  const receiver = await startReplying((_, count) => ({ status: count === 1 ? 500 : 200 }));
  const eventTypes = ["booking.created", "booking.erased"] as const;
  const { secret } = await makeEndpoint(deps, business, { url: receiver.url, settings: { eventTypes } });
  const test = await book(deps, business, { is_test: true });
  await deliverAll(loop);
  moveClock(service, 30);
  await deliverAll(loop);
  await deleteBooking(deps, business.owner, test);
  await deliverAll(loop);
  const live = await book(deps, business);
  await deliverAll(loop);
  await deleteBooking(deps, business.owner, live);
  await deliverAll(loop);
  const sent = receiver.requests.map((request) => {
    verify(request, secret, clock.now());
    const { type, ...event } = JSON.parse(request.body.toString());
    return [type, event.data.booking.reference, /^service-mode: (.*)$/im.exec(request.head)?.[1]];
  });
  assert.deepEqual(sent, [
    ["booking.created", test, "test"],
    ["booking.created", test, "test"],
    ["booking.erased", test, "test"],
    ["booking.created", live, undefined],
    ["booking.erased", live, undefined],
  ]);
  const [first, , , third] = receiver.requests.map(({ body }) => Object.keys(JSON.parse(body.toString()).data.booking));
  assert.deepEqual(first, third, "the bodies have the same fields");
});

test("erasing, deleting and, if wanted, expiring a booking is sent with its reference, widget and reason alone", async () => {
  const { business, receiver, secret, readDeletions } = await makeListening({ reportsExpiry: true });
  const erased = await book(deps, business, { customer_email: EMAIL });
  const deleted = await book(deps, business);
  const expired = await book(deps, business);
  await eraseBookingsByEmail(deps, business.owner, EMAIL);
  await deliverAll(loop);
  await deleteBooking(deps, business.owner, deleted);
  await deliverAll(loop);
  clock.set(new Date(clock.now().getTime() + 3 * 365 * 24 * 3_600_000));
  await sweepExpired(deps);
  await deliverAll(loop);
  const events = receiver.requests.map(({ body }) => JSON.parse(body.toString()));
  assert.deepEqual(
    events.map(({ type, apiVersion, data }) => ({ type, apiVersion, data })),
    (
      [
        [erased, "erased"],
        [deleted, "deleted"],
        [expired, "expired"],
      ] as const
    ).map(([reference, reason]) => ({
      type: "booking.erased",
      apiVersion: "2026-11-01",
      data: { booking: { reference }, widget: { id: business.widgetId, name: events[0]?.data.widget.name }, reason },
    })),
  );
  for (const request of receiver.requests) {
    assert.equal(headerOf(request, "Service-Event"), "booking.erased");
    assert.doesNotMatch(request.body.toString(), /mara|quell|winter|@/i);
  }
  const last = receiver.requests.at(-1);
  assert.ok(last);
  verify(last, secret, clock.now());
  const { data } = await readDeletions();
  assert.deepEqual(
    data.map(({ reference, reason, widgetId }) => [reference, reason, widgetId]),
    [[expired, "expired", business.widgetId]],
    "older ones are past the retention of the plan",
  );
});

test("only endpoints that chose it get it, expiry only where wanted, and only for their widgets", async () => {
  const { business, receiver } = await makeListening();
  const plain = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: plain.url });
  const other = await makeWidget(deps.db, business.owner);
  const limited = await startReplying(() => ({}));
  await makeEndpoint(deps, business, {
    url: limited.url,
    settings: { eventTypes: ["booking.created", "booking.erased"], widgetIds: [other] },
  });
  const reference = await book(deps, business);
  await deliverAll(loop);
  await deleteBooking(deps, business.owner, reference);
  await deliverAll(loop);
  const types = (requests: typeof receiver.requests) => requests.map((request) => headerOf(request, "Service-Event"));
  assert.deepEqual(
    [types(receiver.requests), types(plain.requests), types(limited.requests)],
    [["booking.erased"], ["booking.created"], []],
  );
  await book(deps, business);
  await deliverAll(loop);
  clock.set(new Date(clock.now().getTime() + 3 * 365 * 24 * 3_600_000));
  await sweepExpired(deps);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 1, "expiry was not asked for");
});

test("an erasure is retried like any delivery, and a later erasure does not take it back", async () => {
  const business = await makeBusiness(deps);
  let status = 500;
  const receiver = await startReplying(() => ({ status }));
  await makeEndpoint(deps, business, { url: receiver.url, settings: { eventTypes: ["booking.erased"] } });
  const reference = await book(deps, business, { customer_email: EMAIL });
  await deleteBooking(deps, business.owner, reference);
  await deliverAll(loop);
  await eraseBookingsByEmail(deps, business.owner, EMAIL);
  status = 200;
  moveClock(service, 30);
  await deliverAll(loop);
  assert.deepEqual(
    (await readDeliveries(deps, business.owner)).map(({ state }) => state),
    ["delivered"],
  );
});

test("deletions are read in pages with the same rules as bookings", async () => {
  const { business, readDeletions, key } = await makeListening();
  const references: Reference[] = [];
  for (let count = 0; count < 5; count++) references.push(await book(deps, business, { customer_email: EMAIL }));
  const at = clock.now();
  await eraseBookingsByEmail(deps, business.owner, EMAIL);
  moveClock(service, 1);
  const later = await book(deps, business);
  await deleteBooking(deps, business.owner, later);
  const all = await readDeletions();
  assert.deepEqual(all.data[0], {
    reference: later,
    widgetId: business.widgetId,
    reason: "deleted",
    deletedAt: clock.now().toISOString(),
  });
  assert.equal(all.nextCursor, null);
  assert.deepEqual(new Set(all.data.slice(1).map(({ reference }) => reference)), new Set(references));
  const times = all.data.map(({ deletedAt }) => deletedAt);
  assert.deepEqual([new Set(times).size, times.at(-1)], [6, at.toISOString()], "each has a time of its own");
  const paged: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await readDeletions(`?limit=2${cursor}`);
    paged.push(...page.data.map(({ reference }) => reference));
    if (page.nextCursor === null) break;
    assert.equal(page.nextCursor, page.data.at(-1)?.deletedAt);
    cursor = `&cursor=${page.nextCursor}`;
  }
  assert.deepEqual(
    paged,
    all.data.map(({ reference }) => reference),
  );
  assert.equal((await readDeletions(`?since=${times[0]}`)).data.length, 1, "since is inclusive");
  assert.equal((await readDeletions("?limit=9999")).data.length, 6);
  const ask = async (url: string, bearer = key) =>
    (await app.inject({ url, headers: { authorization: `Bearer ${bearer}` } })).statusCode;
  assert.deepEqual(
    [
      await ask("/api/v1/deletions?since=yesterday"),
      await ask("/api/v1/deletions?limit=0"),
      await ask("/api/v1/deletions", "x"),
    ],
    [400, 400, 401],
  );
  const stranger = await makeListening();
  assert.deepEqual((await stranger.readDeletions()).data, []);
});
