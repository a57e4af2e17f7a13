import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Kysely, sql } from "kysely";
import type { DeliveryId } from "#contract/ids.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { isCluster, onEveryServer } from "../../../../test/support/database/database.ts";
import { stopStopwatch } from "../../../../test/support/database/others-at-work.ts";
import { until } from "../../../../test/support/until.ts";
import {
  anotherWorker,
  book,
  createWebhookService,
  deliverAll,
  findTestHome,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  readDeliveries,
  readDelivery,
  readEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { openDb, openPool } from "../../db/connections/pool.ts";
import { EngineDialect } from "../../db/engine.ts";
import { listHomes } from "../../db/home.ts";
import type { Tables } from "../../db/tables/tables.ts";
import { createLog } from "../../lib/log/log.ts";
import { updateOrganization } from "../../organizations/queries.ts";
import { DeliveryLoop } from "../delivery/loop.ts";
import { DeadWorkers } from "../delivery/recovery.ts";
import { sendTestEvent } from "../endpoints/send-test-event.ts";
import { redeliver } from "../log/resend.ts";
import { createWebhookDeps } from "../webhook-deps.ts";
import { beginClaim } from "./claim-queries.ts";

// What happens when a worker, the database or the clock fails.

const service = await createWebhookService({ webhookTimeoutMs: 2_000 });
const { deps, clock, loop, lines, url } = service;
const { db } = deps;
const LEASE_SECONDS = deps.webhooks.leaseMs / 1_000;

beforeEach(async () => {
  await sql`truncate delivery_queue, delivery_attempts, deliveries, webhook_events cascade`.execute(db);
  lines.length = 0;
});

/** A business whose one request has arrived and is being held. */
async function makeInFlight(reply: { status?: number; body?: string } = {}) {
  const business = await makeBusiness(deps);
  const gate = Promise.withResolvers<void>();
  const receiver = await startReplying(async (_request, count) => {
    if (count === 1) await gate.promise;
    return count === 1 ? reply : {};
  });
  const endpoint = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await loop.goRound();
  await until(() => receiver.requests.length === 1, "it has arrived");
  return { business, receiver, endpoint, letGo: () => gate.resolve() };
}

function logged(name: string): number {
  return lines.filter((line) => line.includes(`"${name}"`)).length;
}

const databaseName = /test_[0-9a-f]+/.exec(url)?.[0];

async function takeDatabaseAway(): Promise<void> {
  await onEveryServer(`alter database ${databaseName} allow_connections false`);
  await onEveryServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${databaseName}'`);
}

async function bringDatabaseBack(): Promise<void> {
  await onEveryServer(`alter database ${databaseName} allow_connections true`);
}

test("an expired lease is logged as interrupted and retried; a late report from its holder is dropped", async () => {
  const { business, receiver, endpoint, letGo } = await makeInFlight();
  const other = new DeliveryLoop(anotherWorker(deps));
  moveClock(service, LEASE_SECONDS);
  assert.equal(await other.goRound(), 0, "not while the lease lasts");
  moveClock(service, 1);
  await other.goRound();
  const retrying = await readDelivery(deps, business.owner);
  assert.deepEqual(
    [retrying.state, retrying.attempt_count, retrying.retries_used, retrying.next_attempt_at],
    ["retrying", 1, 1, new Date(clock.now().getTime() + 30_000)],
  );
  letGo();
  await loop.settled();
  assert.equal((await readDelivery(deps, business.owner)).state, "retrying", "the late report changes nothing");
  moveClock(service, 30);
  await deliverAll(other);
  assert.deepEqual(
    (await readAttempts(deps, business.owner)).map(({ number, result, error_code }) => [number, result, error_code]),
    [
      [1, "interrupted", "interrupted"],
      [2, "delivered", null],
    ],
  );
  assert.deepEqual([(await readDelivery(deps, business.owner)).state, receiver.requests.length], ["delivered", 2]);
  assert.equal((await readEndpoint(deps, endpoint.id)).failed_attempts, 0, "the receiver is not to blame");
});

test("a delivery whose worker always dies is given up after nine attempts, and never loops", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => null);
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  const dead: DeliveryLoop[] = [];
  for (let death = 1; death <= 12; death++) {
    const worker = new DeliveryLoop(anotherWorker(deps));
    dead.push(worker);
    await worker.goRound();
    moveClock(service, LEASE_SECONDS + 1);
    await loop.goRound();
    moveClock(service, 3_600);
  }
  const delivery = await readDelivery(deps, business.owner);
  assert.deepEqual([delivery.state, delivery.attempt_count, delivery.retries_used], ["failed", 9, 8]);
  // Keeps reports of their timeouts out of the next test.
  await Promise.all(dead.map((worker) => worker.settled()));
});

test("reports are kept while the database is down, and written when it is back", async () => {
  const { business, receiver, letGo } = await makeInFlight({ body: "fine" });
  await takeDatabaseAway();
  letGo();
  await until(() => logged("deliveries.report_failed") > 0, "writing has failed");
  await bringDatabaseBack();
  await loop.settled();
  const [attempt] = await readAttempts(deps, business.owner);
  assert.deepEqual([attempt?.result, attempt?.reply], ["delivered", "fine"]);
  assert.deepEqual([(await readDelivery(deps, business.owner)).state, receiver.requests.length], ["delivered", 1]);
  assert.deepEqual([logged("deliveries.report_failed"), logged("deliveries.report_resumed")], [1, 1]);
});

test("a report that can't be written before its lease ends is dropped, and the delivery is retried", async () => {
  const { business, receiver, letGo } = await makeInFlight();
  await takeDatabaseAway();
  letGo();
  await until(() => logged("deliveries.report_failed") > 0, "writing has failed");
  moveClock(service, LEASE_SECONDS + 1);
  await loop.settled();
  await bringDatabaseBack();
  await loop.goRound();
  moveClock(service, 30);
  await deliverAll(loop);
  const results = (await readAttempts(deps, business.owner)).map(({ result }) => result);
  assert.deepEqual([results, receiver.requests.length], [["interrupted", "delivered"], 2]);
});

test("the loop survives a database outage, and logs it once", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  const loops = (await listHomes(db)).length;
  await takeDatabaseAway();
  const other = new DeliveryLoop(anotherWorker(deps));
  other.start();
  await until(() => logged("deliveries.claim_failed") === loops, "claims have failed");
  for (let n = 0; n < 3; n++) other.wake();
  await bringDatabaseBack();
  await until(() => receiver.requests.length === 1, "it has been sent");
  await until(() => logged("deliveries.claim_resumed") === loops, "all loops claim again");
  await other.stop();
  assert.equal(logged("deliveries.claim_failed"), loops);
});

test("a reply that PostgreSQL refuses loses neither its own report nor any other, even if the second try fails", async () => {
  await onEveryServer("create sequence without_reply", new URL(url).pathname.slice(1));
  await sql`create function refuse_reply() returns trigger language plpgsql as $$ begin
    if new.reply = 'poison' then raise 'refused'; end if;
    if new.reply is null and nextval('without_reply') = 1 then raise exception using errcode = '40P01'; end if;
    return new; end $$`.execute(db);
  await sql`create trigger refuse before insert on delivery_attempts for each row execute function refuse_reply()`.execute(
    db,
  );
  const business = await makeBusiness(deps);
  const receiver = await startReplying((_request, count) => ({ body: count === 4 ? "poison" : "fine" }));
  await makeEndpoint(deps, business, { url: receiver.url });
  for (let n = 0; n < 8; n++) await book(deps, business);
  await deliverAll(loop);
  await sql`drop trigger refuse on delivery_attempts`.execute(db);
  assert.deepEqual(
    (await readDeliveries(deps, business.owner)).map(({ state }) => state),
    Array(8).fill("delivered"),
  );
  const replies = (await readAttempts(deps, business.owner)).map(({ result, reply, reply_is_truncated }) => [
    result,
    reply,
    reply_is_truncated,
  ]);
  assert.deepEqual(replies.filter(([, reply]) => reply === "fine").length, 7);
  assert.deepEqual(
    replies.filter(([, reply]) => reply === null),
    [["delivered", null, true]],
  );
  assert.equal(receiver.requests.length, 8);
});

test("an endpoint that can't be sent to because of a bug does not stop the others, and is given up eventually", async () => {
  const broken = await makeBusiness(deps);
  const { id } = await makeEndpoint(deps, broken, { url: "http://127.0.0.1:9/" });
  await db.updateTable("endpoints").set({ url: "no address at all" }).where("id", "=", id).execute();
  await book(deps, broken);
  for (let n = 0; n < 10; n++) {
    await deliverAll(loop);
    moveClock(service, LEASE_SECONDS + 1);
    await deliverAll(loop);
    moveClock(service, 3_600);
  }
  const delivery = await readDelivery(deps, broken.owner);
  assert.deepEqual([delivery.state, delivery.attempt_count], ["failed", 9]);
  assert.equal(logged("delivery.attempt_failed"), 9);
});

test("with the wrong SECRET_KEY deliveries wait, lose no retry, and the operator is told", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying((_request, count) => ({ status: count < 9 ? 500 : 200 }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  const { config, random } = deps;
  const webhooks = createWebhookDeps({ config, secretKey: "another key, by mistake", clock, random });
  const mistaken = new DeliveryLoop({ ...deps, webhooks });
  const waits: (number | null)[] = [];
  for (let n = 1; n <= 11; n++) {
    await deliverAll(mistaken);
    const { state, last_error, retries_used, next_attempt_at } = await readDelivery(deps, business.owner);
    assert.deepEqual([state, last_error, retries_used], ["retrying", "secret_unreadable", 0]);
    waits.push(next_attempt_at && (next_attempt_at.getTime() - clock.now().getTime()) / 1_000);
    moveClock(service, waits.at(-1) ?? 0);
  }
  assert.deepEqual(waits, [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600, 3_600]);
  assert.equal(receiver.requests.length, 0);
  assert.equal((await readEndpoint(deps, id)).failed_attempts, 0);
  assert.equal(logged("delivery.secret_unreadable"), 11);
  for (let n = 1; n <= 9; n++) {
    await deliverAll(loop);
    moveClock(service, 3_600);
  }
  const { state, retries_used } = await readDelivery(deps, business.owner);
  assert.deepEqual([state, retries_used, receiver.requests.length], ["delivered", 8, 9]);
});

test("tests and redeliveries are not retried when SECRET_KEY is wrong", async () => {
  const business = await makeBusiness(deps);
  const owner = { id: business.owner, name: "Lindenhof Dental" };
  const receiver = await startReplying(() => ({}));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  const { config, random } = deps;
  const webhooks = createWebhookDeps({ config, secretKey: "another key, by mistake", clock, random });
  const mistaken = new DeliveryLoop({ ...deps, webhooks });
  await sendTestEvent(deps, owner, id);
  await deliverAll(mistaken);
  const failed = await readDelivery(deps, business.owner);
  assert.deepEqual([failed.state, failed.last_error], ["failed", "secret_unreadable"]);
  await redeliver(deps, owner.id, failed.id, noAudit);
  await deliverAll(mistaken);
  const { state, attempt_count } = await readDelivery(deps, business.owner);
  assert.deepEqual([state, attempt_count, receiver.requests.length], ["failed", 2, 0]);
  assert.deepEqual(await db.selectFrom("delivery_queue").selectAll().execute(), []);
});

test("a lease starts when the wait for other claims is over", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  const gate = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  const { reader, group } = await findTestHome(deps);
  const holding = reader.transaction().execute(async (transaction) => {
    await beginClaim(transaction, group);
    isHeld.resolve();
    await gate.promise;
  });
  await isHeld.promise;
  const other = new DeliveryLoop(anotherWorker(deps));
  const round = other.goRound();
  await until(async () => {
    const { rows } = await sql`select from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where datname = current_database() and locktype = 'advisory' and not granted`.execute(reader);
    return rows.length === 1;
  }, "the claim waits");
  moveClock(service, LEASE_SECONDS - 1);
  gate.resolve();
  await holding;
  assert.equal(await round, 1);
  await other.settled();
  assert.equal((await readDelivery(deps, business.owner)).state, "delivered");
});

const noClock = isCluster() && "claims on a cluster use connections that this test can't watch";
test("a delivery claimed too late is not sent, since another worker may be about to", { skip: noClock }, async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  // The machine sleeps between the claim and the next step.
  const pool = openPool({ url, size: 2, log: createLog("silent") });
  const sleepy = new Kysely<Tables>({
    dialect: new EngineDialect(pool, pool),
    log: ({ query }) => {
      if (query.sql.includes("lease_deliveries")) moveClock(service, LEASE_SECONDS / 2 + 1);
    },
  });
  const other = new DeliveryLoop({ ...anotherWorker(deps), db: sleepy });
  assert.equal(await other.goRound(), 1);
  await other.settled();
  await pool.end();
  assert.deepEqual([receiver.requests.length, logged("delivery.claimed_too_late")], [0, 1]);
  moveClock(service, LEASE_SECONDS);
  await deliverAll(loop);
  moveClock(service, 30);
  await deliverAll(loop);
  assert.deepEqual([(await readDelivery(deps, business.owner)).state, receiver.requests.length], ["delivered", 1]);
});

test("a worker is dead only if its lock was missing all the time, not before and after an outage", async (context) => {
  const { letGo } = await makeInFlight();
  await sql`update delivery_queue set leased_by = 4711`.execute(db);
  const stopwatch = stopStopwatch(context);
  const workers = new DeadWorkers();
  const pool = openPool({ url, size: 1, log: createLog("silent") });
  await pool.end();
  const unavailable = openDb(pool);
  assert.deepEqual(await workers.find(db), []);
  stopwatch.advance(1_000);
  await assert.rejects(workers.find(unavailable));
  stopwatch.advance(1_000);
  assert.deepEqual(await workers.find(db), [], "its first look after the outage");
  stopwatch.advance(1_600);
  assert.deepEqual(await workers.find(db), [4711]);
  letGo();
  await loop.settled();
});

test("a queue entry without a delivery is dropped", async () => {
  const business = await makeBusiness(deps);
  const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  await db
    .insertInto("delivery_queue")
    .values({
      delivery_id: "11111111-2222-4333-8444-555555555555" as DeliveryId,
      organization_id: business.owner,
      endpoint_id: id,
      trigger: "manual",
      is_test: false,
      due_at: clock.now(),
    })
    .execute();
  await deliverAll(loop);
  moveClock(service, LEASE_SECONDS + 1);
  await deliverAll(loop);
  assert.deepEqual(await db.selectFrom("delivery_queue").selectAll().execute(), []);
});

test("setting the clock back does not stop housekeeping", async () => {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  await book(deps, business);
  await loop.goRound();
  await loop.settled();
  await updateOrganization(db, business.owner, { plan: "free" });
  moveClock(service, -3_600);
  await loop.goRound();
  assert.equal((await readDelivery(deps, business.owner)).state, "canceled");
});
