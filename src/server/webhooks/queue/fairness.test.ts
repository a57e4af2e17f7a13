import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { until } from "../../../../test/support/until.ts";
import {
  anotherWorker,
  type Business,
  book,
  changeEndpoints,
  createWebhookService,
  deliverAll,
  findTestHome,
  headerOf,
  makeBusiness,
  makeEndpoint,
  moveClock,
  pathOf,
  readDeliveries,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { DeliveryLoop } from "../delivery/loop.ts";
import { editEndpoint } from "../endpoints/endpoints.ts";
import { sendTestEvent } from "../endpoints/send-test-event.ts";
import { redeliver } from "../log/resend.ts";
import { claimDeliveries } from "./claim.ts";

// How many requests can be in flight at once, and that no receiver delays another's deliveries.

const service = await createWebhookService({ webhookTimeoutMs: 20_000 });
const { deps } = service;

/** Holds every request until released, and knows how many it holds. */
async function startHolding() {
  const gate = Promise.withResolvers<void>();
  const held = new Map<string, number>();
  let most = 0;
  const receiver = await startReplying(async (request) => {
    const path = pathOf(request);
    held.set(path, (held.get(path) ?? 0) + 1);
    most = Math.max(most, held.get(path) ?? 0);
    await gate.promise;
    held.set(path, (held.get(path) ?? 0) - 1);
    return {};
  });
  after(() => gate.resolve());
  return { receiver, letGo: () => gate.resolve(), most: () => most };
}

async function bookMany(business: Business, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await book(deps, business);
}

/** Gives each test an empty queue. */
beforeEach(async () => {
  await sql`truncate delivery_queue, delivery_attempts, deliveries, webhook_events cascade`.execute(deps.db);
});

test("an endpoint gets ten requests at once, across all workers", async () => {
  const business = await makeBusiness(deps);
  const { receiver, letGo } = await startHolding();
  await makeEndpoint(deps, business, { url: receiver.url });
  await bookMany(business, 25);
  const loops = [new DeliveryLoop(deps), new DeliveryLoop(anotherWorker(deps)), new DeliveryLoop(anotherWorker(deps))];
  const begun = await Promise.all(loops.map((loop) => loop.goRound()));
  assert.equal(
    begun.reduce((sum, count) => sum + count),
    10,
  );
  await until(() => receiver.requests.length === 10, "ten have arrived");
  assert.deepEqual(await Promise.all(loops.map((loop) => loop.goRound())), [0, 0, 0]);
  letGo();
  await Promise.all(loops.map((loop) => loop.settled()));
  for (const loop of loops) await deliverAll(loop);
  assert.equal(receiver.requests.length, 25);
});

test("an endpoint gets one request at a time until one has succeeded, and again after a failure or with a new URL", async () => {
  const business = await makeBusiness(deps);
  let hold = Promise.withResolvers<void>();
  let status = 200;
  const receiver = await startReplying(async () => {
    await hold.promise;
    return { status };
  });
  const { id } = await makeEndpoint(deps, business, { url: receiver.url, isNew: true });
  const loop = new DeliveryLoop(deps);
  const countAtOnce = async () => {
    await bookMany(business, 12);
    const atOnce = (await loop.goRound()) + (await loop.goRound());
    hold.resolve();
    await loop.settled();
    hold = Promise.withResolvers<void>();
    await sql`truncate delivery_queue`.execute(deps.db);
    return atOnce;
  };
  assert.equal(await countAtOnce(), 1, "new");
  status = 500;
  assert.equal(await countAtOnce(), 10, "the last one succeeded");
  status = 200;
  await changeEndpoints(deps, [id], { failed_attempts: 1 });
  assert.equal(await countAtOnce(), 1, "the last one failed");
  assert.equal(await countAtOnce(), 10, "and the next succeeded");
  await editEndpoint(deps, business.owner, { id, url: `${receiver.url}/moved` }, noAudit);
  assert.equal(await countAtOnce(), 1, "a new receiver");
  await editEndpoint(deps, business.owner, { id, isEnabled: false }, noAudit);
  await editEndpoint(deps, business.owner, { id, isEnabled: true }, noAudit);
  assert.equal(await countAtOnce(), 1, "turned on again");
});

test("an organization gets a quarter of a worker's places, and the rest goes to others", async () => {
  const greedy = await makeBusiness(deps);
  const modest = await makeBusiness(deps);
  const { receiver, letGo } = await startHolding();
  for (let n = 0; n < 20; n++) await makeEndpoint(deps, greedy, { url: `${receiver.url}/${n}` });
  await bookMany(greedy, 5);
  await makeEndpoint(deps, modest, { url: `${receiver.url}/modest` });
  await bookMany(modest, 1);
  const loop = new DeliveryLoop(deps);
  assert.equal((await loop.goRound()) + (await loop.goRound()), 65);
  await until(() => receiver.requests.length === 65, "all have arrived");
  const paths = receiver.requests.map(pathOf);
  assert.equal(paths.filter((path) => path.endsWith("/modest")).length, 1);
  assert.equal(new Set(paths).size, 21, "the first of every lane before the second of any");
  letGo();
  await loop.settled();
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 101);
});

test("an idle endpoint can send even when slow neighbours fill the organization's places", async () => {
  const business = await makeBusiness(deps);
  const { receiver, letGo } = await startHolding();
  for (let n = 0; n < 7; n++) await makeEndpoint(deps, business, { url: `${receiver.url}/slow-${n}` });
  await bookMany(business, 10);
  const loop = new DeliveryLoop(deps);
  assert.equal((await loop.goRound()) + (await loop.goRound()), 64);
  await makeEndpoint(deps, business, { url: `${receiver.url}/quick` });
  await bookMany(business, 2);
  assert.equal(await loop.goRound(), 1);
  await until(() => receiver.requests.length === 65, "it has arrived");
  assert.ok(receiver.requests.map(pathOf).at(-1)?.endsWith("/quick"));
  letGo();
  await loop.settled();
  await deliverAll(loop);
});

test("redelivered test events wait for their turn, so they can't take other organizations' places", async () => {
  const business = await makeBusiness(deps);
  const owner = { id: business.owner, name: "Lindenhof Dental" };
  let hold = Promise.resolve();
  const receiver = await startReplying(async () => {
    await hold;
    return {};
  });
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  const loop = new DeliveryLoop(deps);
  for (let sent = 0; sent < 12; sent++) {
    if (sent === 10) moveClock(service, 61);
    assert.equal((await sendTestEvent(deps, owner, id)).kind, "queued");
    await deliverAll(loop);
  }
  assert.equal(receiver.requests.length, 12);
  const gate = Promise.withResolvers<void>();
  hold = gate.promise;
  for (const delivery of await readDeliveries(deps, business.owner))
    await redeliver(deps, owner.id, delivery.id, noAudit);
  await loop.goRound();
  await until(() => receiver.requests.length >= 22, "ten are in flight");
  await loop.goRound();
  assert.equal(receiver.requests.length, 22);
  gate.resolve();
  await loop.settled();
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 24);
});

test("a failing endpoint and a chat get one request at a time", async () => {
  const business = await makeBusiness(deps);
  const { receiver, letGo } = await startHolding();
  const failing = await makeEndpoint(deps, business, { url: `${receiver.url}/failing` });
  await makeEndpoint(deps, business, { url: `${receiver.url}/chat`, kind: "teams" });
  await changeEndpoints(deps, [failing.id], { failed_attempts: 3 });
  await bookMany(business, 3);
  const loop = new DeliveryLoop(deps);
  assert.equal(await loop.goRound(), 2);
  letGo();
  await loop.settled();
});

test("a hung receiver with a backlog holds no delivery back for more than a minute, nor stretches its schedule", async () => {
  const TIMEOUT_SECONDS = 15;
  const business = await makeBusiness(deps);
  const endpoint = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  await changeEndpoints(deps, [endpoint.id], { failed_attempts: 3 });
  const BOOKINGS = 40;
  await bookMany(business, BOOKINGS);
  const dueAt = deps.clock.now().getTime();
  // Claims as workers do, once a second; every request takes the whole time limit.
  const claimed = new Map<string, number>();
  const ends: { atMs: number; id: string }[] = [];
  for (let second = 0; second <= 60 && claimed.size < BOOKINGS; second++) {
    const at = new Date(dueAt + second * 1_000);
    const over = ends.filter((end) => end.atMs <= at.getTime()).map(({ id }) => id);
    await sql`delete from delivery_queue where delivery_id = any(${over}::uuid[])`.execute(deps.db);
    const lease = {
      token: randomUuid(deps.random),
      at,
      until: new Date(at.getTime() + 4 * TIMEOUT_SECONDS * 1_000),
      holder: null,
    };
    const { deliveries } = await claimDeliveries(await findTestHome(deps), () => ({ lease, free: 128, after: "" }));
    for (const { deliveryId } of deliveries) {
      claimed.set(deliveryId, second);
      ends.push({ atMs: at.getTime() + TIMEOUT_SECONDS * 1_000, id: deliveryId });
    }
  }
  assert.equal(claimed.size, BOOKINGS);
  assert.equal([...claimed.values()][1], 1, "careful at first: one at a time");
  assert.ok(Math.max(...claimed.values()) <= 45, `the last waited ${Math.max(...claimed.values())} s`);
});

test("a hung receiver's overdue deliveries start a few at a time, so that they don't all time out together", async () => {
  const business = await makeBusiness(deps);
  const endpoint = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  await changeEndpoints(deps, [endpoint.id], { failed_attempts: 3 });
  await bookMany(business, 12);
  const claim = async () => {
    const at = new Date(deps.clock.now().getTime() + 30_000);
    const lease = { token: randomUuid(deps.random), at, until: new Date(at.getTime() + 60_000), holder: null };
    return await claimDeliveries(await findTestHome(deps), () => ({ lease, free: 128, after: "" }));
  };
  for (const expected of [4, 4, 4, 0]) {
    const { deliveries, heldBackByFailing } = await claim();
    assert.equal(deliveries.length, expected);
    assert.equal(heldBackByFailing.has(business.owner), expected > 0, "their next report starts more");
  }
  await changeEndpoints(deps, [endpoint.id], { failed_attempts: 0 });
  await sql`update delivery_queue set lease_token = null, leased_at = null, lease_until = null`.execute(deps.db);
  assert.equal((await claim()).deliveries.length, 10, "a working endpoint isn't limited per claim");
});

test("many dead receivers leave room for healthy ones", async () => {
  const { receiver, letGo } = await startHolding();
  const loop = new DeliveryLoop(deps);
  const dead = await Promise.all(Array.from({ length: 5 }, () => makeBusiness(deps)));
  for (const business of dead) {
    for (let n = 0; n < 20; n++) {
      const { id } = await makeEndpoint(deps, business, { url: receiver.url });
      await changeEndpoints(deps, [id], { failed_attempts: 3 });
    }
    await bookMany(business, 1);
  }
  assert.equal(await loop.goRound(), 64, "a quarter of the places, for all of them together");

  const living = await makeBusiness(deps);
  const answering = await startReplying(() => ({}));
  await makeEndpoint(deps, living, { url: answering.url });
  await bookMany(living, 1);
  assert.equal(await loop.goRound(), 1);
  await until(() => answering.requests.length === 1, "the healthy one has received it");
  letGo();
  await loop.settled();
});

test("one hung endpoint with many waiting deliveries does not delay the others", async () => {
  const hung = await makeBusiness(deps);
  const { receiver, letGo } = await startHolding();
  await makeEndpoint(deps, hung, { url: receiver.url });
  await bookMany(hung, 1);
  // The same event many times, as after a long outage.
  await sql`
    insert into webhook_events (organization_id, id, type, body, created_at)
    select organization_id, id || '-' || n, type, body, created_at from webhook_events event, generate_series(1, 5000) n
    where organization_id = ${hung.owner}`.execute(deps.db);
  await sql`
    insert into deliveries (organization_id, id, event_id, endpoint_id, state, attempt_count, retries_used, created_at)
    select event.organization_id, gen_random_uuid(), event.id, endpoint.id, 'queued', 0, 0, event.created_at
    from webhook_events event join endpoints endpoint on endpoint.organization_id = event.organization_id
    where event.organization_id = ${hung.owner} and event.id like '%-%'`.execute(deps.db);
  await sql`
    insert into delivery_queue (delivery_id, organization_id, endpoint_id, trigger, is_test, due_at)
    select id, organization_id, endpoint_id, 'automatic', false, created_at from deliveries delivery
    where organization_id = ${hung.owner} and event_id like '%-%'`.execute(deps.db);
  const loop = new DeliveryLoop(deps);
  assert.equal(await loop.goRound(), 10);

  const other = await makeBusiness(deps);
  const answering = await startReplying(() => ({}));
  await makeEndpoint(deps, other, { url: answering.url });
  for (let n = 1; n <= 20; n++) {
    moveClock(service, 0.001);
    await book(deps, other);
    await loop.goRound();
    await until(() => answering.requests.length === n, "the next round has sent it");
  }
  assert.equal(receiver.requests.length, 10);
  letGo();
  await loop.settled();
});

test("with several workers everything arrives, nothing twice, and limits hold", async () => {
  const businesses = await Promise.all(Array.from({ length: 4 }, () => makeBusiness(deps)));
  const inFlight = new Map<string, number>();
  let most = 0;
  const receiver = await startReplying(async (request) => {
    const path = pathOf(request);
    inFlight.set(path, (inFlight.get(path) ?? 0) + 1);
    most = Math.max(most, inFlight.get(path) ?? 0);
    await new Promise(setImmediate);
    inFlight.set(path, (inFlight.get(path) ?? 0) - 1);
    return {};
  });
  for (const [index, business] of businesses.entries())
    await makeEndpoint(deps, business, { url: `${receiver.url}/${index}` });
  const loops = Array.from({ length: 4 }, () => new DeliveryLoop(anotherWorker(deps)));
  for (const loop of loops) loop.start();
  for (let n = 0; n < 50; n++) {
    for (const business of businesses) await book(deps, business);
    for (const loop of loops) loop.wake();
  }
  await until(() => receiver.requests.length >= 200, "all have arrived");
  await Promise.all(loops.map((loop) => loop.stop()));
  const ids = receiver.requests.map((request) => headerOf(request, "Service-Delivery"));
  assert.deepEqual([ids.length, new Set(ids).size], [200, 200]);
  assert.ok(most <= 10, `at most ${most} at once`);
  for (const { owner } of businesses) {
    const states = (await readDeliveries(deps, owner)).map(({ state }) => state);
    assert.deepEqual(states, Array(50).fill("delivered"));
  }
});
