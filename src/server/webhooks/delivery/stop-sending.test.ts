import assert from "node:assert/strict";
import { test } from "node:test";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { updateWidget } from "../../../../test/support/builders.ts";
import { whileLocked } from "../../../../test/support/database/while-locked.ts";
import { until } from "../../../../test/support/until.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  readDeliveries,
  readDelivery,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { deleteBooking } from "../../bookings/stored/erase/erase.ts";
import { updateOrganization } from "../../organizations/queries.ts";
import { deleteEndpoint, editEndpoint } from "../endpoints/endpoints.ts";
import { redeliver } from "../log/resend.ts";

const service = await createWebhookService();
const { deps, loop } = service;
const { db } = deps;

/** A business whose one delivery has failed once and is waiting for its retry. */
async function makeWaiting() {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({ status: 500, body: "later" }));
  const endpoint = await makeEndpoint(deps, business, { url: receiver.url });
  const reference = await book(deps, business);
  await deliverAll(loop);
  assert.equal((await readDelivery(deps, business.owner)).state, "retrying");
  return { business, receiver, endpoint, reference };
}

async function waitForDays(): Promise<void> {
  for (let hour = 0; hour < 5; hour++) {
    moveClock(service, 3_600);
    await deliverAll(loop);
  }
}

async function readFate({ owner }: Business) {
  const { state, cancel_reason, next_attempt_at, attempt_count } = await readDelivery(deps, owner);
  const queue = await db.selectFrom("delivery_queue").selectAll().where("organization_id", "=", owner).execute();
  return { state, cancel_reason, next_attempt_at, attempt_count, queued: queue.length };
}

const CANCELED = { state: "canceled", next_attempt_at: null, attempt_count: 1, queued: 0 };

test("disabling an endpoint while a retry waits cancels it at once, and it can be redelivered once enabled", async () => {
  const { business, receiver, endpoint } = await makeWaiting();
  const { owner } = business;
  await editEndpoint(deps, owner, { id: endpoint.id, isEnabled: false }, noAudit);
  assert.deepEqual(await readFate(business), { ...CANCELED, cancel_reason: "endpoint_disabled" });
  await waitForDays();
  assert.equal(receiver.requests.length, 1);

  const { id } = await readDelivery(deps, owner);
  assert.deepEqual(await redeliver(deps, owner, id, noAudit), { kind: "endpoint_disabled" });
  await editEndpoint(deps, owner, { id: endpoint.id, isEnabled: true }, noAudit);
  await waitForDays();
  assert.equal(receiver.requests.length, 1, "enabling sends nothing by itself");
  assert.deepEqual(await redeliver(deps, owner, id, noAudit), { kind: "queued" });
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 2);
});

test("deliveries missed by a disabled endpoint are recorded as cancelled and can be sent once it is enabled", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  const endpoint = await makeEndpoint(deps, business, { url: receiver.url });
  await editEndpoint(deps, business.owner, { id: endpoint.id, isEnabled: false }, noAudit);
  await book(deps, business);
  await deliverAll(loop);
  assert.deepEqual(await readFate(business), { ...CANCELED, attempt_count: 0, cancel_reason: "endpoint_disabled" });
  assert.equal(receiver.requests.length, 0);

  await editEndpoint(deps, business.owner, { id: endpoint.id, isEnabled: true }, noAudit);
  const { id } = await readDelivery(deps, business.owner);
  assert.deepEqual(await redeliver(deps, business.owner, id, noAudit), { kind: "queued" });
  await deliverAll(loop);
  const delivery = await readDelivery(deps, business.owner);
  assert.deepEqual(
    [delivery.state, delivery.cancel_reason, delivery.attempt_count, receiver.requests.length],
    ["delivered", null, 1, 1],
  );
});

test("removing an endpoint while a retry waits stops all requests and redeliveries", async () => {
  const { business, receiver, endpoint } = await makeWaiting();
  assert.equal(await deleteEndpoint(deps, business.owner, endpoint.id, noAudit), true);
  assert.equal(await deleteEndpoint(deps, business.owner, endpoint.id, noAudit), false);
  assert.deepEqual(await readFate(business), { ...CANCELED, cancel_reason: "endpoint_removed" });
  const { id } = await readDelivery(deps, business.owner);
  assert.deepEqual(await redeliver(deps, business.owner, id, noAudit), { kind: "endpoint_removed" });
  await waitForDays();
  assert.equal(receiver.requests.length, 1);
  const row = await db.selectFrom("endpoints").selectAll().where("id", "=", endpoint.id).executeTakeFirstOrThrow();
  assert.deepEqual([row.secret.length, row.previous_secret], [0, null], "its secrets are gone");
});

test("an endpoint removed between claiming and loading gets no request, and its delivery is cancelled", async () => {
  for (const kind of ["webhook", "slack"] as const) {
    const business = await makeBusiness(deps);
    const receiver = await startReplying(() => ({}));
    const endpoint = await makeEndpoint(deps, business, { url: receiver.url, kind });
    await book(deps, business);
    const queued = db.selectFrom("delivery_queue").select("lease_token").where("organization_id", "=", business.owner);
    const isClaimed = async () => (await queued.executeTakeFirstOrThrow()).lease_token !== null;
    // Loading reads the events, claiming does not.
    const round = await whileLocked(db, "webhook_events", async () => {
      const started = loop.goRound();
      await until(isClaimed, "it is claimed");
      await deleteEndpoint(deps, business.owner, endpoint.id, noAudit);
      return { started };
    });
    assert.equal(await round.started, 0);
    await waitForDays();
    assert.deepEqual(await readFate(business), { ...CANCELED, attempt_count: 0, cancel_reason: "endpoint_removed" });
    assert.equal(receiver.requests.length, 0);
  }
});

test("a downgrade while a retry waits stops all requests; after an upgrade it can be redelivered", async () => {
  const { business, receiver } = await makeWaiting();
  const { owner } = business;
  await updateOrganization(db, owner, { plan: "free" });
  await waitForDays();
  assert.equal(receiver.requests.length, 1);
  assert.deepEqual(await readFate(business), { ...CANCELED, cancel_reason: "plan" });
  const { id } = await readDelivery(deps, owner);
  await book(deps, business);
  assert.equal((await readDeliveries(deps, owner)).length, 1, "on Free nothing is even recorded");

  await updateOrganization(db, owner, { plan: "business" });
  assert.deepEqual(await redeliver(deps, owner, id, noAudit), { kind: "queued" });
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 2);
});

test("a downgrade before the first attempt prevents sending", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await updateOrganization(db, business.owner, { plan: "free" });
  await waitForDays();
  assert.equal(receiver.requests.length, 0);
});

test("erasing while a retry waits stops all requests, leaves nothing behind, and prevents redelivery", async () => {
  const { business, receiver, reference } = await makeWaiting();
  assert.equal(await deleteBooking(deps, business.owner, reference), true);
  assert.deepEqual(await readFate(business), { ...CANCELED, cancel_reason: "erased" });
  const { id, card } = await readDelivery(deps, business.owner);
  assert.equal(card, null);
  assert.deepEqual(await redeliver(deps, business.owner, id, noAudit), { kind: "payload_erased" });
  await waitForDays();
  assert.equal(receiver.requests.length, 1);
  const [attempt] = await readAttempts(deps, business.owner);
  assert.deepEqual(
    [attempt?.result, attempt?.status, attempt?.reply],
    ["failed", 500, null],
    "the line stays, without text",
  );
});

test("erasing during a request discards the reply, and nothing is stuck", async () => {
  const business = await makeBusiness(deps);
  const { promise: mayReply, resolve: reply } = Promise.withResolvers<void>();
  const { promise: hasArrived, resolve: arrived } = Promise.withResolvers<void>();
  const receiver = await startReplying(async () => {
    arrived();
    await mayReply;
    return { status: 500, body: "I got Mara Quell" };
  });
  await makeEndpoint(deps, business, { url: receiver.url });
  const reference = await book(deps, business);
  await loop.goRound();
  await hasArrived;
  assert.equal(await deleteBooking(deps, business.owner, reference), true);
  reply();
  await loop.settled();
  assert.deepEqual(await readFate(business), { ...CANCELED, cancel_reason: "erased" });
  const [attempt] = await readAttempts(deps, business.owner);
  assert.deepEqual([attempt?.result, attempt?.reply, attempt?.status], ["interrupted", null, null]);
  await waitForDays();
  assert.equal(receiver.requests.length, 1);
});

test("disabling during a request logs its failure and cancels its retry", async () => {
  const business = await makeBusiness(deps);
  const { promise: mayReply, resolve: reply } = Promise.withResolvers<void>();
  const { promise: hasArrived, resolve: arrived } = Promise.withResolvers<void>();
  const receiver = await startReplying(async () => {
    arrived();
    await mayReply;
    return { status: 500 };
  });
  const endpoint = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await loop.goRound();
  await hasArrived;
  await editEndpoint(deps, business.owner, { id: endpoint.id, isEnabled: false }, noAudit);
  reply();
  await loop.settled();
  await waitForDays();
  assert.deepEqual(await readFate(business), { ...CANCELED, cancel_reason: "endpoint_disabled" });
  assert.equal(receiver.requests.length, 1);
});

test("turning Store bookings off does not cancel deliveries of bookings stored earlier", async () => {
  const { business, receiver } = await makeWaiting();
  await updateWidget(db, business.widgetId, { collect_data: false });
  moveClock(service, 30);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 2);
});

test("redelivery is refused for a queued, unknown or another organization's delivery", async () => {
  const { business } = await makeWaiting();
  const { id } = await readDelivery(deps, business.owner);
  assert.deepEqual(await redeliver(deps, business.owner, id, noAudit), { kind: "already_queued" });
  const other = await makeBusiness(deps);
  assert.deepEqual(await redeliver(deps, other.owner, id, noAudit), { kind: "not_found" });
});
