import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeliveryId, EndpointId } from "#contract/ids.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  readDeliveries,
  readDelivery,
  readEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";

// "Retry now": one delivery, and everything that waits for an endpoint.

const service = await createWebhookService();
const { app, deps, clock, loop } = service;

/** A business whose receiver fails until it is told otherwise. */
async function makeFailing(reply = { status: 500, headers: {} as Record<string, string> }) {
  const business = await makeBusiness(deps);
  const state = { ...reply };
  const receiver = await startReplying(() => state);
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  const member = await signIn(service, { role: "member", organizationId: business.owner });
  return { business, receiver, endpointId: id, member, state };
}

const codeOf = ({ body }: { body: unknown }) => (body as { error?: { code: string } } | null)?.error?.code;

test("a delivery that is retrying is sent now, and keeps the rest of its schedule if it fails again", async () => {
  const { business, receiver, member, state } = await makeFailing();
  const reference = await book(deps, business);
  await deliverAll(loop);
  moveClock(service, 30);
  await deliverAll(loop);
  const planned = new Date(clock.now().getTime() + 60_000);
  assert.deepEqual((await readDelivery(deps, business.owner)).next_attempt_at, planned);
  const { id } = await readDelivery(deps, business.owner);
  moveClock(service, 10);
  const retry = () => askApp(app, member, `POST /deliveries/${id}/retry`);
  assert.deepEqual(await retry(), { status: 202, body: { deliveryId: id } });
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 3);
  const failed = await readDelivery(deps, business.owner);
  assert.deepEqual([failed.state, failed.retries_used, failed.next_attempt_at], ["retrying", 2, planned]);

  moveClock(service, 50);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 4, "the retry that was planned");
  const automatic = await readDelivery(deps, business.owner);
  const nextAt = new Date(clock.now().getTime() + 120_000);
  assert.deepEqual([automatic.retries_used, automatic.next_attempt_at], [3, nextAt], "and the schedule goes on");
  assert.deepEqual(
    (await readAttempts(deps, business.owner)).map(({ trigger }) => trigger),
    ["automatic", "automatic", "manual", "automatic"],
  );

  state.status = 200;
  await retry();
  await deliverAll(loop);
  assert.equal((await readDelivery(deps, business.owner)).state, "delivered");
  assert.deepEqual(codeOf(await retry()), "conflict", "nothing waits any more");
  const detail = { name: reference, endpoint: new URL(receiver.url).host };
  const entry = { action: "delivery.retried", target: id, detail };
  assert.deepEqual(await readAudit(deps.db, business.owner), [entry, entry]);
});

test("a retry that fails just before the planned one does not come again at once", async () => {
  const { business, member } = await makeFailing();
  await book(deps, business);
  await deliverAll(loop);
  const { id } = await readDelivery(deps, business.owner);
  moveClock(service, 29);
  await askApp(app, member, `POST /deliveries/${id}/retry`);
  await deliverAll(loop);
  const { next_attempt_at } = await readDelivery(deps, business.owner);
  assert.deepEqual(next_attempt_at, new Date(clock.now().getTime() + 30_000));
});

test("everything that waits for an endpoint is sent now, whatever pause its receiver asked for", async () => {
  const { business, receiver, endpointId, member, state } = await makeFailing({
    status: 503,
    headers: { "Retry-After": "3600" },
  });
  const other = await makeFailing();
  await book(deps, other.business);
  for (let count = 0; count < 5; count++) await book(deps, business);
  await deliverAll(loop);
  moveClock(service, 1);
  await book(deps, business);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 5, "the sixth waits for the pause");
  Object.assign(state, { status: 200, headers: {} });
  assert.deepEqual(await askApp(app, member, `POST /endpoints/${endpointId}/retry`), {
    status: 200,
    body: { count: 6 },
  });
  await deliverAll(loop);
  const states = (await readDeliveries(deps, business.owner)).map(({ state }) => state);
  assert.deepEqual(states, Array(6).fill("delivered"));
  assert.equal((await readEndpoint(deps, endpointId)).failing_since, null);
  assert.equal(other.receiver.requests.length, 1, "another organization's wait as before");
  assert.deepEqual(await askApp(app, member, `POST /endpoints/${endpointId}/retry`), {
    status: 200,
    body: { count: 0 },
  });
  const [entry] = await readAudit(deps.db, business.owner);
  assert.deepEqual(entry, {
    action: "endpoint.retried",
    target: endpointId,
    detail: { name: new URL(receiver.url).host, deliveries: 6 },
  });
});

test("a delivery that is retried during a pause is sent now, and the others wait until the pause is over", async () => {
  const { business, receiver, endpointId, member, state } = await makeFailing({
    status: 503,
    headers: { "Retry-After": "3600" },
  });
  await book(deps, business);
  await deliverAll(loop);
  const pausedUntil = new Date(clock.now().getTime() + 3_600_000);
  for (let count = 0; count < 3; count++) await book(deps, business);
  const readStates = async () => (await readDeliveries(deps, business.owner)).map((delivery) => delivery.state).sort();
  const retry = async (wanted: string) => {
    const delivery = (await readDeliveries(deps, business.owner)).find((each) => each.state === wanted);
    assert.ok(delivery);
    assert.equal((await askApp(app, member, `POST /deliveries/${delivery.id}/retry`)).status, 202);
    await deliverAll(loop);
  };

  await retry("retrying");
  await retry("queued");
  assert.equal(receiver.requests.length, 3);
  assert.deepEqual(await readStates(), ["queued", "queued", "retrying", "retrying"]);

  Object.assign(state, { status: 200, headers: {} });
  await retry("queued");
  assert.deepEqual(await readStates(), ["delivered", "queued", "retrying", "retrying"]);
  assert.deepEqual((await readEndpoint(deps, endpointId)).paused_until, pausedUntil);
  assert.deepEqual(
    (await readAttempts(deps, business.owner)).map(({ trigger }) => trigger).sort(),
    ["automatic", "automatic", "automatic", "manual"],
    "an attempt that was due is not an additional one",
  );
  moveClock(service, 3_600);
  await deliverAll(loop);
  assert.deepEqual(await readStates(), Array(4).fill("delivered"));
});

/** What is queued for the endpoint is due in a second, as after returnLeases. */
async function postpone(endpointId: EndpointId): Promise<void> {
  const dueAt = new Date(clock.now().getTime() + 1_000);
  await deps.db.updateTable("delivery_queue").set({ due_at: dueAt }).where("endpoint_id", "=", endpointId).execute();
}

test("a redelivery that waits is sent now, and if it fails the delivery keeps its state", async () => {
  const { business, receiver, endpointId, member, state } = await makeFailing({ status: 200, headers: {} });
  await book(deps, business);
  await deliverAll(loop);
  const { id } = await readDelivery(deps, business.owner);
  for (const status of [500, 410]) {
    state.status = status;
    await askApp(app, member, `POST /deliveries/${id}/redeliver`);
    await postpone(endpointId);
    await askApp(app, member, `POST /endpoints/${endpointId}/retry`);
    await deliverAll(loop);
    const delivery = await readDelivery(deps, business.owner);
    assert.deepEqual([delivery.state, delivery.next_attempt_at], ["delivered", null], `after ${status}`);
  }
  assert.equal(receiver.requests.length, 3);
});

test("a test that waits is sent now, and only once", async () => {
  const { business, receiver, endpointId, member } = await makeFailing();
  await askApp(app, member, `POST /endpoints/${endpointId}/test`);
  await postpone(endpointId);
  await askApp(app, member, `POST /endpoints/${endpointId}/retry`);
  await deliverAll(loop);
  const delivery = await readDelivery(deps, business.owner);
  assert.deepEqual([delivery.state, delivery.next_attempt_at], ["failed", null]);
  assert.equal(receiver.requests.length, 1);
});

test("what is being sent, or belongs to an endpoint that is off, is not retried", async () => {
  const { business, endpointId, member, state } = await makeFailing();
  await book(deps, business);
  await deliverAll(loop);
  const { id } = await readDelivery(deps, business.owner);
  const retry = async (delivery: DeliveryId) => codeOf(await askApp(app, member, `POST /deliveries/${delivery}/retry`));
  await deps.db
    .updateTable("delivery_queue")
    .set({ lease_token: "0d9c8a4e-5b1f-4c3e-9a67-2f1be8d60c55", leased_at: clock.now(), lease_until: clock.now() })
    .where("delivery_id", "=", id)
    .execute();
  assert.equal(await retry(id), "already_queued");
  await deps.db
    .updateTable("delivery_queue")
    .set({ lease_token: null, leased_at: null, lease_until: null })
    .where("delivery_id", "=", id)
    .execute();
  const admin = await signIn(service, { role: "admin", organizationId: business.owner });
  await askApp(app, admin, `PATCH /endpoints/${endpointId}`, { isEnabled: false });
  assert.equal(codeOf(await askApp(app, member, `POST /endpoints/${endpointId}/retry`)), "endpoint_disabled");
  assert.equal(await retry(id), "conflict", "turning it off has cancelled the delivery");
  const viewer = await signIn(service, { role: "viewer", organizationId: business.owner });
  assert.equal(codeOf(await askApp(app, viewer, `POST /endpoints/${endpointId}/retry`)), "forbidden");
  assert.equal(state.status, 500);
});
