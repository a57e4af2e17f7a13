import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { DeliveryId } from "#contract/ids.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import {
  type Business,
  book,
  changeEndpoints,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { sweepExpired } from "../../operations/retention.ts";
import { deleteEndpoint } from "../endpoints/endpoints.ts";
import { listNotices } from "../health/queries.ts";
import { type DeliveryLogFilter, listAttempts, listDeliveries, toLogKeptSince } from "./queries.ts";
import { redeliver } from "./resend.ts";

const service = await createWebhookService();
const { deps, clock, loop } = service;
const { db } = deps;
const DAY = 24 * 3_600;

const keptSince = () => toLogKeptSince(clock.now());
const list = ({ owner }: Pick<Business, "owner">, filter: Omit<DeliveryLogFilter, "keptSince">) =>
  listDeliveries(db, owner, { ...filter, keptSince: keptSince() });

async function followDeliveries(
  business: Business,
  filter: Omit<DeliveryLogFilter, "keptSince" | "limit" | "cursor">,
  limit: number,
) {
  const all = [];
  let cursor: DeliveryLogFilter["cursor"];
  for (;;) {
    const page = await list(business, { ...filter, limit, ...(cursor ? { cursor } : {}) });
    all.push(...page);
    const last = page.at(-1);
    if (!last || page.length < limit) return all;
    cursor = { at: last.created_at, id: last.id };
  }
}

test("every attempt is logged with time, endpoint, event, result, number, status, duration, error and reply", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying((_request, count) => ({
    status: count === 1 ? 503 : 200,
    body: `reply ${count}`,
  }));
  const { id: endpointId } = await makeEndpoint(deps, business, { url: receiver.url });
  const reference = await book(deps, business);
  const startedAt = clock.now();
  await deliverAll(loop);
  moveClock(service, 30);
  await deliverAll(loop);

  const [delivery] = await list(business, { limit: 10 });
  assert.ok(delivery);
  assert.match(delivery.event_id, /^evt_/);
  const { type, state, attempt_count, completed_at, is_erased, pending, is_in_flight } = delivery;
  assert.deepEqual(
    { type, reference: delivery.reference, state, attempt_count, completed_at, is_erased, pending, is_in_flight },
    {
      type: "booking.created",
      reference,
      state: "delivered",
      attempt_count: 2,
      completed_at: clock.now(),
      is_erased: false,
      pending: null,
      is_in_flight: false,
    },
  );
  const attempts = await listAttempts(db, business.owner, {
    deliveryId: delivery.id,
    keptSince: keptSince(),
    limit: 10,
  });
  assert.ok(attempts.every(({ duration_ms }) => duration_ms !== null && duration_ms >= 0));
  assert.deepEqual(
    attempts.map(({ duration_ms: _, detail: _detail, ...attempt }) => attempt),
    [
      {
        result: "delivered",
        status: 200,
        error_code: null,
        reply: "reply 2",
        next_attempt_at: null,
        number: 2,
        started_at: clock.now(),
      },
      {
        result: "failed",
        status: 503,
        error_code: "http_status",
        reply: "reply 1",
        next_attempt_at: clock.now(),
        number: 1,
        started_at: startedAt,
      },
    ].map((attempt) => ({
      organization_id: business.owner,
      delivery_id: delivery.id,
      endpoint_id: endpointId,
      trigger: "automatic",
      reply_is_truncated: false,
      ...attempt,
    })),
  );
});

test("a long reply is cut to 4 KiB and marked as truncated", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({ body: "é".repeat(5_000) }));
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  const [attempt] = await readAttempts(deps, business.owner);
  assert.deepEqual([attempt?.reply, attempt?.reply_is_truncated], ["é".repeat(2_048), true]);
});

test("filtered pages repeat and skip nothing, even with equal times", async () => {
  const business = await makeBusiness(deps);
  const stranger = await makeBusiness(deps);
  const receiver = await startReplying((request) => ({
    status: request.head.startsWith("POST /hooks/bad") ? 500 : 200,
  }));
  const good = await makeEndpoint(deps, business, { url: `${receiver.url}/good` });
  const bad = await makeEndpoint(deps, business, { url: `${receiver.url}/bad` });
  await makeEndpoint(deps, stranger, { url: receiver.url });
  await book(deps, stranger);
  const references = [];
  const times = [];
  for (let n = 0; n < 6; n++) {
    // Two at every instant.
    if (n % 2 === 0) moveClock(service, 1);
    times.push(clock.now());
    references.push(await book(deps, business));
  }
  await deliverAll(loop);

  for (const limit of [1, 2, 3, 5, 100]) {
    const all = await followDeliveries(business, {}, limit);
    assert.deepEqual([all.length, new Set(all.map(({ id }) => id)).size], [12, 12]);
    const order = all.map(({ created_at, id }) => `${9e15 - created_at.getTime()} ${id}`);
    assert.deepEqual(order, order.toSorted());
  }
  const count = async (filter: Omit<DeliveryLogFilter, "keptSince" | "limit">) =>
    (await followDeliveries(business, filter, 4)).length;
  assert.deepEqual(
    [
      await count({ endpointId: good.id }),
      await count({ state: "retrying" }),
      await count({ state: "delivered", endpointId: bad.id }),
      await count({ reference: references[0] as never }),
      await count({ from: times[2] as Date }),
      await count({ to: times[2] as Date }),
      await count({ from: times[2] as Date, to: times[4] as Date, state: "delivered" }),
    ],
    [6, 6, 0, 2, 8, 4, 2],
  );
  const [theirs] = await list(stranger, { limit: 1 });
  const foreign = { deliveryId: theirs?.id as DeliveryId, keptSince: keptSince(), limit: 1 };
  assert.deepEqual(await listAttempts(db, business.owner, foreign), []);
});

test("the log says when a manual attempt is queued and when it is in progress", async () => {
  const business = await makeBusiness(deps);
  const gate = Promise.withResolvers<void>();
  const receiver = await startReplying(async (_request, count) => {
    if (count === 2) await gate.promise;
    return {};
  });
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  const read = async () => {
    const [delivery] = await list(business, { limit: 1 });
    assert.ok(delivery);
    const { id, state, pending, is_in_flight } = delivery;
    return { id, facts: [state, pending, is_in_flight] };
  };
  const { id, facts } = await read();
  assert.deepEqual(facts, ["delivered", null, false]);
  await redeliver(deps, business.owner, id, noAudit);
  assert.deepEqual((await read()).facts, ["delivered", "manual", false]);
  await loop.goRound();
  assert.deepEqual((await read()).facts, ["delivered", "manual", true]);
  gate.resolve();
  await loop.settled();
  assert.deepEqual((await read()).facts, ["delivered", null, false]);
});

test("a delivery that ends while it is read is shown as it was before or after, never as one that nobody sends", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  for (let count = 0; count < 40; count++) await book(deps, business);
  let isDone = false;
  const sent = deliverAll(loop).finally(() => {
    isDone = true;
  });
  const seen = new Set<string>();
  while (!isDone) for (const { state, pending } of await list(business, { limit: 40 })) seen.add(`${state} ${pending}`);
  await sent;
  assert.ok(!seen.has("queued null"), [...seen].join());
});

test("events, deliveries and attempts are kept for 30 days after the last attempt, whatever the plan", async () => {
  await sql`truncate delivery_queue, webhook_events cascade`.execute(db);
  const business = await makeBusiness(deps, "business");
  const receiver = await startReplying((_request, count) => ({ status: count === 1 ? 410 : 200 }));
  const other = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  const [first] = await list(business, { limit: 1 });
  assert.ok(first);

  moveClock(service, 10 * DAY);
  await changeEndpoints(deps, [other.id], { status: "enabled", disabled_reason: null });
  await redeliver(deps, business.owner, first.id, noAudit);
  await deliverAll(loop);
  moveClock(service, 20 * DAY);
  assert.deepEqual(await sweepLog(), { webhookEvents: 0, attempts: 0 }, "exactly 30 days are kept");
  moveClock(service, 0.001);
  assert.deepEqual(await sweepLog(), { webhookEvents: 0, attempts: 1 }, "the first attempt goes, its delivery stays");
  assert.equal((await list(business, { limit: 9 })).length, 1);

  assert.equal((await listNotices(db, business.owner, { limitEach: 9 })).length, 0);
  await deleteEndpoint(deps, business.owner, other.id, noAudit);
  moveClock(service, 10 * DAY);
  assert.deepEqual(await sweepLog(), { webhookEvents: 1, attempts: 0 });
  assert.equal((await list(business, { limit: 9 })).length, 0);
  assert.deepEqual(await readAttempts(deps, business.owner), []);

  const removed = () => db.selectFrom("endpoints").select("id").where("id", "=", other.id).execute();
  assert.equal((await removed()).length, 1);
  moveClock(service, 21 * DAY);
  await sweepLog();
  assert.equal((await removed()).length, 0, "a removed endpoint is deleted with the last of its log");
});

async function sweepLog() {
  const { webhookEvents, attempts } = await sweepExpired(deps);
  return { webhookEvents, attempts };
}

test("waiting deliveries are not swept, however old", async () => {
  const business = await makeBusiness(deps);
  const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  await book(deps, business);
  await changeEndpoints(deps, [id], { paused_until: new Date("2100-01-01T00:00:00.000Z") });
  moveClock(service, 40 * DAY);
  await sweepLog();
  assert.equal((await list(business, { limit: 9 })).length, 1);
});
