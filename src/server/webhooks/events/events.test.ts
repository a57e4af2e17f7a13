import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import type { WebhookEventPage } from "#contract/webhooks/webhook-event.ts";
import { createClient } from "../../../../sdk/src/index.ts";
import { errorResponse, getJson, plainBooking } from "../../../../test/support/app/read-api.ts";
import { openWire } from "../../../../test/support/app/wire.ts";
import { makeKey } from "../../../../test/support/builders.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { keepBooking } from "../../bookings/flow/keep-booking.ts";
import { takeReference } from "../../bookings/flow/reference.ts";
import { deleteBooking, eraseBookingsByEmail } from "../../bookings/stored/erase/erase.ts";
import { openDb, openPool } from "../../db/connections/pool.ts";
import { inHome } from "../../db/statements/transactions.ts";
import { sweepExpired } from "../../operations/retention.ts";
import { sendTestEvent } from "../endpoints/send-test-event.ts";
import { listNewEvents } from "./queries.ts";

// GET /api/v1/events: what webhooks receive, by polling, without ever skipping an event.

const service = await createWebhookService();
const { app, deps, clock, url } = service;
const { port } = await openWire(app);
const writersPool = openPool({ url, size: 6, log: deps.log });
// The first connection learns what the database is.
await writersPool.query("select 1");
after(() => writersPool.end());
const writersDb = openDb(writersPool);

async function makePolled() {
  const business = await makeBusiness(deps, "business");
  const { key } = await makeKey(deps.db, business.owner);
  const headers = { authorization: `Bearer ${key}` };
  const poll = async (query = "") => {
    const { status, body } = await getJson(app, `/api/v1/events${query}`, headers);
    assert.equal(status, 200, JSON.stringify(body));
    return body as WebhookEventPage;
  };
  return { business, key, headers, poll };
}

const listReferences = ({ data }: WebhookEventPage) => data.map((event) => event.data.booking.reference);

/** A transaction that has stored a booking and waits before it commits. */
async function startBooking(business: Business) {
  const committing = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<string>();
  const done = inHome(writersDb, business.owner, async (transaction) => {
    const reference = await takeReference(deps.db, business.owner, deps.random);
    const booking = plainBooking(reference, business.widgetId);
    await keepBooking(deps, transaction, { owner: business.owner, booking });
    stored.resolve(reference);
    await committing.promise;
  });
  const reference = await stored.promise;
  const commit = async () => {
    committing.resolve();
    await done;
  };
  return { reference, commit };
}

test("an event has the bytes that its webhook received, and is there without any endpoint", async () => {
  const { business, headers, poll } = await makePolled();
  const first = await book(deps, business);
  const receiver = await startReplying(() => ({}));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  moveClock(service, 1);
  await book(deps, business);
  await sendTestEvent(deps, { id: business.owner, name: "Lindenhof" }, id);
  await deliverAll(service.loop);
  const { payload } = await app.inject({ url: "/api/v1/events", headers });
  const [sent] = receiver.requests.filter(({ head }) => head.includes("booking.created"));
  assert.ok(sent && payload.includes(sent.body.toString()));
  const page = await poll();
  assert.deepEqual([page.data.length, listReferences(page)[0]], [2, first], "no test event");
});

test("an event that commits late comes after the cursor of those that were read before", async () => {
  const { business, poll } = await makePolled();
  // The organization's clock admits one booking at a time, but the event of a deletion waits for nothing.
  const known = await book(deps, business);
  const late = await startBooking(business);
  moveClock(service, 1);
  await deleteBooking(deps, business.owner, known);
  const early = await poll();
  assert.deepEqual(
    early.data.map(({ type }) => type),
    ["booking.erased"],
  );
  await late.commit();
  const next = await poll(`?cursor=${early.nextCursor}`);
  assert.deepEqual(listReferences(next), [late.reference]);
  assert.ok((next.data[0]?.created ?? "") < (early.data[0]?.created ?? ""), "it was created before");
  assert.deepEqual((await poll(`?cursor=${next.nextCursor}`)).data, []);
});

test("pollers that read while events are written all get every event once, in the same order", async () => {
  const { business, poll } = await makePolled();
  const isDone = { value: false };
  const write = async () => {
    const written: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { reference, commit } = await startBooking(business);
      await sql`select pg_sleep(0.002)`.execute(writersDb);
      await commit();
      written.push(reference);
    }
    return written;
  };
  const follow = async (limit: number) => {
    const seen: string[] = [];
    let emptyPages = 0;
    for (let cursor = ""; ; ) {
      const isLast = isDone.value;
      const page = await poll(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      seen.push(...listReferences(page));
      cursor = page.nextCursor;
      // Events that another poller has just locked come with a later page.
      emptyPages = isLast && page.data.length === 0 ? emptyPages + 1 : 0;
      if (emptyPages > 20) return seen;
    }
  };
  const writing = Promise.all([write(), write(), write()]).finally(() => {
    isDone.value = true;
  });
  const followed = await Promise.all([follow(1), follow(3), follow(500)]);
  const written = (await writing).flat();
  const [order = []] = followed;
  assert.deepEqual(followed, [order, order, order]);
  assert.deepEqual(order.toSorted(), written.toSorted());
});

test("an event that someone has locked is left for the next poll", async () => {
  const { business, poll } = await makePolled();
  const locked = await book(deps, business);
  const other = await book(deps, business);
  const page = await writersDb.transaction().execute(async (transaction) => {
    await sql`select from webhook_events where organization_id = ${business.owner} and reference = ${locked} for update`.execute(
      transaction,
    );
    return await poll();
  });
  assert.deepEqual(listReferences(page), [other]);
  assert.deepEqual(listReferences(await poll(`?cursor=${page.nextCursor}`)), [locked]);
});

test("an erased booking's event is gone, listed or not, and its booking.erased has nothing personal", async () => {
  const { business, headers, poll } = await makePolled();
  const seen = await book(deps, business);
  const { nextCursor } = await poll();
  const unseen = await book(deps, business);
  await eraseBookingsByEmail(deps, business.owner, "mara.quell@example.com");
  const { payload } = await app.inject({ url: "/api/v1/events", headers });
  assert.doesNotMatch(payload, /mara|quell|@/i);
  const { data } = await poll(`?cursor=${nextCursor}`);
  assert.deepEqual(
    data.map((event) => [event.type, event.data.booking.reference]).toSorted(),
    [
      ["booking.erased", seen],
      ["booking.erased", unseen],
    ].toSorted(),
  );
  assert.equal((await poll()).data.length, 2);
});

test("since, type and limit choose events, and a page says where the next one begins", async () => {
  const { business, poll } = await makePolled();
  const references = [];
  for (let i = 0; i < 3; i++) {
    moveClock(service, 60);
    references.push(await book(deps, business));
  }
  const [first = "", second, third] = references;
  const since = clock.now().toISOString();
  await deleteBooking(deps, business.owner, third as never);
  assert.deepEqual(
    (await poll(`?since=${since}`)).data.map(({ type }) => type),
    ["booking.erased"],
  );
  assert.deepEqual(listReferences(await poll("?type=booking.created")), [first, second]);
  const page = await poll("?limit=1");
  assert.deepEqual([listReferences(page), page.hasMore], [[first], true]);
  assert.deepEqual(listReferences(await poll(`?limit=1&cursor=${page.nextCursor}&since=${since}`)), [second]);
  const last = await poll("?type=booking.erased");
  assert.equal(last.hasMore, false);
  const empty = await poll(`?cursor=${last.nextCursor}`);
  assert.deepEqual(empty, { data: [], nextCursor: last.nextCursor, hasMore: false });
});

test("invalid parameters are refused", async () => {
  const { headers } = await makePolled();
  const ask = (query: string) => getJson(app, `/api/v1/events?${query}`, headers);
  const instant = "must be an ISO 8601 date, for example 2026-11-01 or 2026-11-01T09:30:00.000Z";
  const refuse = (text: string) => errorResponse(400, "bad_request", `The parameter ${text}.`);
  assert.deepEqual(await ask("cursor=x"), refuse(`cursor ${instant}`));
  assert.deepEqual(await ask("since="), refuse(`since ${instant}`));
  assert.deepEqual(await ask("limit=0"), refuse("limit must be a whole number from 1 to 500"));
  assert.deepEqual(
    await ask("type=endpoint.test"),
    refuse("type must be one of booking.created, booking.cancelled, booking.rescheduled, booking.erased"),
  );
});

test("events of other organizations are never listed", async () => {
  const [own, other] = [await makePolled(), await makePolled()];
  await book(deps, own.business);
  const { nextCursor } = await own.poll();
  assert.deepEqual((await other.poll()).data, []);
  assert.deepEqual((await other.poll(`?cursor=${nextCursor}`)).data, []);
  assert.deepEqual((await other.poll("?cursor=2000-01-01")).data, []);
});

test("without the Business plan there is no access, and no event is stored for an organization without endpoints", async () => {
  for (const plan of ["free", "pro"] as const) {
    const business = await makeBusiness(deps, plan);
    const { key } = await makeKey(deps.db, business.owner);
    const { status } = await getJson(app, "/api/v1/events", { authorization: `Bearer ${key}` });
    assert.equal(status, 403);
    const reference = await book(deps, business);
    await deleteBooking(deps, business.owner, reference);
    const stored = await deps.db
      .selectFrom("webhook_events")
      .select("id")
      .where("organization_id", "=", business.owner)
      .execute();
    assert.deepEqual(stored, []);
  }
  assert.equal((await getJson(app, "/api/v1/events")).status, 401);
});

test("events are listed for 30 days, then deleted", async () => {
  const { business, poll } = await makePolled();
  await book(deps, business);
  const { nextCursor } = await poll();
  moveClock(service, 30 * 24 * 3_600);
  assert.equal((await poll()).data.length, 1);
  moveClock(service, 1);
  assert.deepEqual(await poll(), { data: [], nextCursor, hasMore: false });
  await sweepExpired(deps);
  assert.equal(await listNewEvents(deps.db, business.owner, clock.now()), 0);
});

test("the client library follows all pages, and continues from a cursor", async () => {
  const { business, key } = await makePolled();
  const client = createClient({ apiKey: key, baseUrl: `http://127.0.0.1:${port}` });
  const references: string[] = [];
  for (let i = 0; i < 5; i++) {
    moveClock(service, 1);
    references.push(await book(deps, business));
  }
  const seen: string[] = [];
  let cursor: string | undefined;
  for await (const page of client.events({ limit: 2, since: "2000-01-01" }).pages()) {
    seen.push(...listReferences(page));
    cursor = page.nextCursor;
  }
  assert.deepEqual(seen, references);
  references.push(await book(deps, business));
  for await (const event of client.events({ cursor, type: "booking.created" })) seen.push(event.data.booking.reference);
  assert.deepEqual(seen, references);
});
