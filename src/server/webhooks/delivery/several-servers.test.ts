import assert from "node:assert/strict";
import { test } from "node:test";
import { queryOnce } from "../../../../test/support/database/citus-cluster.ts";
import { isCluster } from "../../../../test/support/database/database.ts";
import { until } from "../../../../test/support/until.ts";
import {
  anotherWorker,
  book,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  readDeliveries,
  startReplying,
  stopPolls,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { listHomes } from "../../db/home.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import { startWorker } from "../../worker.ts";
import { measureQueue } from "../queue/measure.ts";
import { DeliveryLoop } from "./loop.ts";

// On a cluster, deliveries live with their organization, and workers claim them on every server.

const skip = isCluster() ? false : "no cluster: npm run cluster -- --bin DIR -- npm test -- FILE";
const service = await createWebhookService();
const { deps, url, loop } = service;
/** Longer than a lock is missing before its worker counts as dead, and shorter than a request may take. */
const SLOW_MS = 4_000;

async function makeBusinesses(receiverUrl: string) {
  const homes = await listHomes(deps.db);
  const businesses = await Promise.all(homes.map((home) => makeBusiness(deps, "pro", home)));
  for (const business of businesses) await makeEndpoint(deps, business, { url: receiverUrl });
  return businesses;
}

test("deliveries of organizations on all servers arrive, and each worker is woken on each server", {
  skip,
}, async (context) => {
  stopPolls(context);
  const receiver = await startReplying(() => ({}));
  const businesses = await makeBusinesses(receiver.url);
  assert.ok(businesses.length > 1);
  for (const business of businesses) await book(deps, business);
  assert.equal((await measureQueue(deps.db, deps.clock.now())).waiting, businesses.length);
  const workers = [startWorker(anotherWorker(deps), []), startWorker(anotherWorker(deps), [])];
  await until(() => receiver.requests.length === businesses.length, "the workers are running");
  for (let n = 0; n < 3; n++)
    for (const business of businesses) {
      const before = receiver.requests.length;
      await book(deps, business);
      await until(() => receiver.requests.length > before, "it has arrived");
    }
  await Promise.all(workers.map((worker) => worker.stop()));
  const ids = receiver.requests.map((request) => headerOf(request, "Service-Delivery"));
  assert.deepEqual([ids.length, new Set(ids).size], [4 * businesses.length, 4 * businesses.length]);
  for (const { owner } of businesses)
    assert.deepEqual(
      (await readDeliveries(deps, owner)).map(({ state }) => state),
      Array(4).fill("delivered"),
    );
});

test("the leases of a dead worker are taken over on every server", { skip }, async () => {
  const gate = Promise.withResolvers<object>();
  const receiver = await startReplying((_request, count) => (count <= 4 ? gate.promise : {}));
  const businesses = await makeBusinesses(receiver.url);
  for (const business of businesses) await book(deps, business);
  const dead = new DeliveryLoop(anotherWorker(deps));
  assert.equal(await dead.goRound(), businesses.length);
  moveClock(service, deps.webhooks.leaseMs / 1_000 + 1);
  await loop.goRound();
  moveClock(service, 30);
  gate.resolve({});
  await deliverAll(loop);
  for (const { owner } of businesses)
    assert.deepEqual(
      (await readAttempts(deps, owner)).map(({ result }) => result),
      ["interrupted", "delivered"],
    );
  await dead.settled();
});

test("while shard groups move, every delivery arrives, and none is sent twice", {
  skip,
}, async () => {
  const receiver = await startReplying(async (_request, count) => {
    // Its lease moves with the shard group, and nobody takes it over.
    if (count === 1) await pause(SLOW_MS);
    return {};
  });
  const [business] = await makeBusinesses(receiver.url);
  assert.ok(business);
  const worker = startWorker(anotherWorker(deps), []);
  let isMoving = true;
  const booking = async () => {
    let count = 0;
    while (isMoving)
      count += await book(deps, business).then(
        () => 1,
        () => 0,
      );
    return count;
  };
  const moving = async () => {
    for (const how of ["block_writes", "force_logical", "block_writes"])
      await queryOnce(
        url,
        `select citus_move_shard_placement(shard, node.nodename, node.nodeport, other.nodename, other.nodeport, '${how}')
         from get_shard_id_for_distribution_column('visit_progress', '${business.owner}'::text) shard
         join pg_dist_placement placement on shardid = shard
         join pg_dist_node node on node.groupid = placement.groupid
         join pg_dist_node other on other.groupid <> node.groupid and other.shouldhaveshards`,
      );
  };
  const [booked] = await Promise.all([booking(), moving().finally(() => (isMoving = false))]);
  await until(async () => (await measureQueue(deps.db, deps.clock.now())).waiting === 0, "nothing waits");
  await worker.stop();
  const deliveries = await readDeliveries(deps, business.owner);
  assert.ok(booked > 0 && deliveries.length > 0);
  assert.deepEqual(new Set(deliveries.map(({ state }) => state)), new Set(["delivered"]));
  assert.equal(receiver.requests.length, deliveries.length);
});
