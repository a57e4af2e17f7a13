import assert from "node:assert/strict";
import { test } from "node:test";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  readDeliveries,
  readDelivery,
  readEndpoint,
  startReplying,
  verify,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { sendTestEvent } from "../endpoints/send-test-event.ts";
import { redeliver } from "../log/resend.ts";

const service = await createWebhookService();
const { deps, clock, loop } = service;

const DELAYS = [30, 60, 120, 240, 480, 960, 1920, 3600];

/** Lets each retry come due in turn. */
async function runWholeSeries(): Promise<void> {
  await deliverAll(loop);
  for (const delay of DELAYS) {
    moveClock(service, delay);
    await deliverAll(loop);
  }
}

test("a receiver that always answers 500 gets exactly nine requests, and then the delivery is failed", async () => {
  const business = await makeBusiness(deps);
  const receivedAt: Date[] = [];
  const receiver = await startReplying(() => {
    receivedAt.push(clock.now());
    return { status: 500, body: "no" };
  });
  const { secret } = await makeEndpoint(deps, business, { url: receiver.url });
  const startedAt = clock.now().getTime();
  await book(deps, business);
  await deliverAll(loop);

  for (const [index, delay] of DELAYS.entries()) {
    const { state, retries_used, next_attempt_at } = await readDelivery(deps, business.owner);
    assert.deepEqual(
      { state, retries_used, next_attempt_at },
      { state: "retrying", retries_used: index + 1, next_attempt_at: new Date(clock.now().getTime() + delay * 1_000) },
    );
    moveClock(service, delay - 0.001);
    await deliverAll(loop);
    assert.equal(receiver.requests.length, index + 1, "not a millisecond too early");
    moveClock(service, 0.001);
    await deliverAll(loop);
    assert.equal(receiver.requests.length, index + 2);
  }
  moveClock(service, 30 * 24 * 3_600);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 9);
  assert.equal((receivedAt[8]?.getTime() ?? 0) - startedAt, 7_410_000, "two hours, three and a half minutes");

  const delivery = await readDelivery(deps, business.owner);
  assert.deepEqual(
    [delivery.state, delivery.attempt_count, delivery.retries_used, delivery.next_attempt_at, delivery.last_status],
    ["failed", 9, 8, null, 500],
  );
  assert.deepEqual(
    new Set(receiver.requests.map((request) => headerOf(request, "Service-Delivery"))),
    new Set([delivery.id]),
  );
  assert.equal(new Set(receiver.requests.map((request) => request.body.toString("hex"))).size, 1, "the same bytes");
  const times = receiver.requests.map((request, index) => verify(request, secret, receivedAt[index] as Date).t);
  assert.deepEqual(
    times,
    receivedAt.map((at) => Math.floor(at.getTime() / 1_000)),
    "a new signature each time",
  );

  const attempts = await readAttempts(deps, business.owner);
  assert.deepEqual(
    attempts.map(({ number, trigger, result, status, error_code, reply }) => ({
      number,
      trigger,
      result,
      status,
      error_code,
      reply,
    })),
    Array.from({ length: 9 }, (_, index) => ({
      number: index + 1,
      trigger: "automatic",
      result: "failed",
      status: 500,
      error_code: "http_status",
      reply: "no",
    })),
  );
});

test("a redelivery makes request 10; a failure leaves the delivery failed, a success makes it delivered", async () => {
  const business = await makeBusiness(deps);
  let status = 500;
  const receiver = await startReplying(() => ({ status }));
  const { secret } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await runWholeSeries();
  const { owner } = business;
  const failed = await readDelivery(deps, business.owner);
  assert.deepEqual([failed.state, receiver.requests.length], ["failed", 9]);

  moveClock(service, 60);
  assert.deepEqual(await redeliver(deps, owner, failed.id, noAudit), { kind: "queued" });
  assert.deepEqual(await redeliver(deps, owner, failed.id, noAudit), { kind: "already_queued" }, "already waiting");
  await deliverAll(loop);
  const again = await readDelivery(deps, business.owner);
  assert.deepEqual(
    [again.state, again.attempt_count, again.retries_used, again.next_attempt_at, again.completed_at],
    ["failed", 10, 8, null, failed.completed_at],
  );
  moveClock(service, 24 * 3_600);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 10, "one attempt, no retries");

  status = 200;
  assert.deepEqual(await redeliver(deps, owner, failed.id, noAudit), { kind: "queued" });
  await deliverAll(loop);
  const delivered = await readDelivery(deps, business.owner);
  assert.deepEqual(
    [delivered.state, delivered.attempt_count, delivered.retries_used, delivered.last_status],
    ["delivered", 11, 8, 200],
  );
  const last = receiver.requests[10];
  assert.ok(last);
  assert.deepEqual(last.body, receiver.requests[0]?.body);
  assert.equal(headerOf(last, "Service-Delivery"), failed.id);
  verify(last, secret, clock.now());

  status = 500;
  assert.deepEqual(await redeliver(deps, owner, failed.id, noAudit), { kind: "queued" });
  await deliverAll(loop);
  const kept = await readDelivery(deps, business.owner);
  assert.deepEqual([kept.state, kept.attempt_count], ["delivered", 12], "a delivered delivery stays delivered");
  assert.deepEqual(
    (await readAttempts(deps, business.owner)).slice(9).map(({ number, trigger, result }) => [number, trigger, result]),
    [
      [10, "manual", "failed"],
      [11, "manual", "delivered"],
      [12, "manual", "failed"],
    ],
  );
});

test("Retry-After moves the next attempt, never before its nominal delay, and pauses the whole endpoint", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying((_request, count) =>
    count === 1 ? { status: 503, headers: { "Retry-After": "90" } } : {},
  );
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  const resumesAt = new Date(clock.now().getTime() + 90_000);
  assert.deepEqual((await readDelivery(deps, business.owner)).next_attempt_at, resumesAt);
  assert.deepEqual((await readEndpoint(deps, id)).paused_until, resumesAt);

  moveClock(service, 1);
  await book(deps, business);
  moveClock(service, 88.999);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 1, "another booking waits too");
  moveClock(service, 0.001);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 3);
  assert.deepEqual(
    (await readDeliveries(deps, business.owner)).map(({ state, retries_used }) => [state, retries_used]),
    [
      ["delivered", 1],
      ["delivered", 0],
    ],
    "the pause used up no retry of the waiting delivery",
  );
});

test("a test is sent at once, even while the receiver has asked for a pause and other deliveries wait", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying((_request, count) =>
    count === 1 ? { status: 503, headers: { "Retry-After": "3600" } } : {},
  );
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  await book(deps, business);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 1, "the endpoint is paused");
  const sent = await sendTestEvent(deps, { id: business.owner, name: "Lindenhof Dental" }, id);
  assert.equal(sent.kind, "queued");
  await deliverAll(loop);
  const events = receiver.requests.map((request) => headerOf(request, "Service-Event"));
  assert.deepEqual(events, ["booking.created", "endpoint.test"]);
});
