import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { HOUR_MS } from "#contract/durations.ts";
import { until } from "../../../test/support/until.ts";
import {
  anotherWorker,
  book,
  changeEndpoints,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  startReplying,
} from "../../../test/support/webhooks/webhook-service.ts";
import type { Role } from "../config.ts";
import { DeliveryLoop } from "../webhooks/delivery/loop.ts";
import { buildWorkerApp } from "./worker-app.ts";

const service = await createWebhookService();
const { app, deps, loop } = service;

async function readGauges(): Promise<Record<string, number>> {
  const { payload } = await app.inject({ url: "/metrics" });
  const found = [...payload.matchAll(/^bookflow_deliveries_(\w+) (\S+)$/gm)];
  return Object.fromEntries(found.map(([, name, value]) => [name, Number(value)]));
}

async function readReadiness(role: Role): Promise<[status: number, body: unknown]> {
  const monitor = buildWorkerApp({ ...deps, config: { ...deps.config, role } });
  const response = await monitor.inject({ url: "/readyz" });
  return [response.statusCode, response.json()];
}

const READY = [200, { status: "ready" }];
const FAILED = [503, { error: { code: "unavailable", message: "Webhook deliveries are overdue." } }];

test("with an empty queue everything is zero, and every process is ready", async () => {
  assert.deepEqual(await readGauges(), { waiting: 0, in_flight: 0, oldest_due_seconds: 0, overdue_seconds: 0 });
  for (const role of ["web", "worker", "all"] as const) assert.deepEqual(await readReadiness(role), READY);
});

test("unsent deliveries make a worker unready after two minutes, but never a process that serves visitors", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  moveClock(service, 120);
  assert.deepEqual(await readGauges(), { waiting: 1, in_flight: 0, oldest_due_seconds: 120, overdue_seconds: 120 });
  assert.deepEqual(await readReadiness("worker"), READY);
  moveClock(service, 1);
  assert.deepEqual(await readReadiness("worker"), FAILED);
  assert.deepEqual(await readReadiness("all"), [200, { status: "ready", deliveries: "overdue" }]);
  assert.deepEqual(await readReadiness("web"), READY);
  await deliverAll(loop);
  assert.deepEqual(await readReadiness("worker"), READY);
});

test("a receiver that hangs, fails or asks for a pause makes no process unready, however many deliveries wait", async () => {
  const business = await makeBusiness(deps);
  const gate = Promise.withResolvers<void>();
  const receiver = await startReplying(async () => {
    await gate.promise;
    return { status: 500 };
  });
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  for (let n = 0; n < 12; n++) await book(deps, business);
  const other = new DeliveryLoop(anotherWorker(deps, { webhookTimeoutMs: 60_000 }));
  await other.goRound();
  await until(() => receiver.requests.length === 10, "ten are under way");
  moveClock(service, 200);
  assert.deepEqual(await readGauges(), { waiting: 2, in_flight: 10, oldest_due_seconds: 200, overdue_seconds: 0 });
  gate.resolve();
  await other.settled();
  const { overdue_seconds } = await readGauges();
  assert.equal(overdue_seconds, 0, "it has just failed ten times");
  assert.deepEqual(await readReadiness("worker"), READY);

  const pausedUntil = new Date(service.clock.now().getTime() + HOUR_MS);
  await changeEndpoints(deps, [id], { failed_attempts: 0, paused_until: pausedUntil });
  moveClock(service, 3_500);
  assert.deepEqual(await readReadiness("worker"), READY);
  moveClock(service, 300);
  assert.deepEqual(await readReadiness("worker"), FAILED, "its pause has been over for 200 s");
  await sql`delete from delivery_queue`.execute(deps.db);
});

test("a delivery that waits for its endpoint's rate limit is not overdue, until the limit would allow it", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url, settings: { requestsPerMinute: 1 } });
  for (let n = 0; n < 2; n++) await book(deps, business);
  await deliverAll(loop);
  moveClock(service, 50);
  assert.deepEqual(await readGauges(), { waiting: 1, in_flight: 0, oldest_due_seconds: 50, overdue_seconds: 0 });
  moveClock(service, 30);
  assert.equal((await readGauges())["overdue_seconds"], 20);
  await sql`delete from delivery_queue`.execute(deps.db);
});

test("an expired lease that nobody picks up counts too", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => null);
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await new DeliveryLoop(anotherWorker(deps)).goRound();
  moveClock(service, deps.webhooks.leaseMs / 1_000 + 121);
  assert.equal((await readGauges())["overdue_seconds"], 121);
  assert.deepEqual(await readReadiness("worker"), FAILED);
});

test("a worker's own port answers monitoring and nothing else", async () => {
  const monitor = buildWorkerApp(deps);
  const statuses = [];
  for (const url of ["/healthz", "/metrics", "/api/v1/widgets", "/"])
    statuses.push((await monitor.inject({ url })).statusCode);
  assert.deepEqual(statuses, [200, 200, 404, 404]);
});
