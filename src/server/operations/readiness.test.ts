import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../test/support/app/app.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  startReplying,
} from "../../../test/support/webhooks/webhook-service.ts";
import { buildApp } from "../app.ts";
import { openDb, openPool } from "../db/connections/pool.ts";
import { watchPool } from "../db/connections/watch-pool.ts";
import { createMetrics } from "../lib/log/metrics.ts";

const { app, deps, lines } = await createTestApp();

test("without its database a process is alive but not ready, and its metrics can be read", async () => {
  assert.deepEqual((await app.inject("/readyz")).json(), { status: "ready" });
  // Nothing listens on port 1.
  const pool = openPool({ url: "postgres://nobody@127.0.0.1:1/nowhere", size: 2, log: deps.log });
  const metrics = createMetrics();
  watchPool(metrics, pool);
  const cutOff = await buildApp({ ...deps, metrics, db: openDb(pool) });
  const linesBefore = lines.length;
  const response = await cutOff.inject("/readyz");
  assert.deepEqual(
    [response.statusCode, response.headers["retry-after"], response.json()],
    [503, "5", { error: { code: "unavailable", message: "The database can't be reached." } }],
  );
  const [failed] = lines.slice(linesBefore).map((line) => JSON.parse(line));
  assert.deepEqual([failed.name, failed.error.code], ["readiness.failed", "ECONNREFUSED"]);
  assert.equal((await cutOff.inject("/healthz")).statusCode, 200);
  const { body } = await cutOff.inject("/metrics");
  for (const line of [
    "bookflow_deliveries_waiting Nan",
    "bookflow_bookings_unsettled Nan",
    "bookflow_database_connections_max 2",
    'bookflow_database_connections{state="in_use"} 0',
    "bookflow_database_waiting_statements 0",
    "bookflow_funnel_queue_requests 0",
  ])
    assert.ok(body.includes(`${line}\n`), line);
  await cutOff.close();
  await pool.end();
});

test("a delivery's log line has the id sent to the receiver, and its outcome is counted", async () => {
  const service = await createWebhookService();
  const business = await makeBusiness(service.deps);
  const receiver = await startReplying(() => ({}));
  const { id: endpointId } = await makeEndpoint(service.deps, business, { url: receiver.url });
  await book(service.deps, business);
  await deliverAll(service.loop);
  const [request] = receiver.requests;
  assert.ok(request);
  const attempted = service.lines.map((line) => JSON.parse(line)).filter(({ name }) => name === "delivery.attempted");
  const { at, durationMs, ...facts } = attempted[0];
  assert.deepEqual(facts, {
    level: "info",
    name: "delivery.attempted",
    organizationId: business.owner,
    deliveryId: headerOf(request, "Service-Delivery"),
    endpointId,
    attemptNumber: 1,
    outcome: "delivered",
    status: 200,
  });
  const { body } = await service.app.inject("/metrics");
  assert.match(body, /^bookflow_deliveries_ended_total\{kind="webhook",outcome="delivered"\} 1$/m);
});
