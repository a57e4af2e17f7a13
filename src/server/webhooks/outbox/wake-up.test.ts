import assert from "node:assert/strict";
import { test } from "node:test";
import { startWorker } from "../../worker.ts";
import {
  book,
  createWebhookService,
  makeBusiness,
  makeEndpoint,
  readDelivery,
  startReplying,
  until,
} from "../testing/webhook-service.ts";

const { deps } = await createWebhookService();

test("a booking wakes the worker, so its delivery does not wait for the next poll", async (t) => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  const worker = startWorker(deps, []);
  t.after(() => worker.stop());
  await book(deps, business);
  await until(() => receiver.requests.length === 1, "the worker is running");
  const waitsMs: number[] = [];
  for (let n = 2; n <= 12; n++) {
    const startedAt = performance.now();
    await book(deps, business);
    await until(() => receiver.requests.length === n, "it has arrived");
    waitsMs.push(performance.now() - startedAt);
  }
  // The worker has just polled when a booking is made, so its next poll is about a second later.
  const median = waitsMs.sort((a, b) => a - b)[5] ?? Number.POSITIVE_INFINITY;
  assert.ok(median < 500, `${Math.round(median)} ms`);
});

test("stopping waits for the request in progress, records its outcome, and sends nothing more", async () => {
  const { deps: other } = await createWebhookService();
  const business = await makeBusiness(other);
  const gate = Promise.withResolvers<void>();
  const receiver = await startReplying(async () => {
    await gate.promise;
    return {};
  });
  await makeEndpoint(other, business, { url: receiver.url });
  const worker = startWorker(other, []);
  await book(other, business);
  await until(() => receiver.requests.length === 1, "it is under way");
  const stopping = worker.stop();
  gate.resolve();
  await stopping;
  assert.equal((await readDelivery(other, business.owner)).state, "delivered");
  await book(other, business);
  assert.equal(receiver.requests.length, 1);
});
