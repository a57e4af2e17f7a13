import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { TEST_SECRET_KEY } from "../../../../test/support/app/app.ts";
import { nameConnections } from "../../../../test/support/database/database.ts";
import { CLEAN_ENVIRONMENT } from "../../../../test/support/programs/clean-environment.ts";
import { until } from "../../../../test/support/until.ts";
import {
  book,
  createWebhookService,
  findTestHome,
  headerOf,
  makeBusiness,
  makeEndpoint,
  readAttempts,
  readDeliveries,
  readDelivery,
  readEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { WORKER_LOCKS } from "./recovery-queries.ts";

// Real worker processes, killed while requests are in progress.

const { deps: testDeps, url } = await createWebhookService();
const deps = { ...testDeps, clock: systemClock };
const { db } = deps;

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));

const WORKER_NAME = "worker-process";

/** With this time limit a lease has its minimum length, two seconds. */
function startWorkerProcess(settings: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      ...CLEAN_ENVIRONMENT,
      ROLE: "worker",
      DATABASE_URL: nameConnections(url, WORKER_NAME),
      SECRET_KEY: TEST_SECRET_KEY,
      WEBHOOK_TIMEOUT_MS: "500",
      WEBHOOK_RETRY_SCHEDULE: "1,1,1,1,1,1,1,1",
      WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
      LOG_LEVEL: "error",
      ...settings,
    },
    stdio: "ignore",
  });
  after(() => child.kill("SIGKILL"));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** Whether no worker process has a connection. */
async function isUnattended(): Promise<boolean> {
  const { rows } = await sql`select pid from pg_stat_activity where application_name = ${WORKER_NAME}`.execute(
    (await findTestHome(deps)).reader,
  );
  return rows.length === 0;
}

async function listLeased(): Promise<{ delivery_id: string; lease_token: string | null }[]> {
  return await db
    .selectFrom("delivery_queue")
    .select(["delivery_id", "lease_token"])
    .where("lease_token", "is not", null)
    .execute();
}

const BOOKINGS = 200;

test("kill -9 in flight, three times, with 200 bookings queued: all arrive, and only those in flight again", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return {};
  });
  await makeEndpoint(deps, business, { url: receiver.url });
  const references = [];
  for (let n = 0; n < BOOKINGS; n++) references.push(await book(deps, business));

  // With this time limit no lease ends while its worker lives, however busy the machine is.
  const settings = { WEBHOOK_TIMEOUT_MS: "20000" };
  // By delivery. One that was repeated may be in flight again when the next worker is killed.
  const leasesAtKill = new Map<string, Set<string | null>>();
  for (const killedAfter of [30, 80, 130]) {
    const worker = startWorkerProcess(settings);
    await until(() => receiver.requests.length >= killedAfter, `${killedAfter} requests have arrived`);
    await kill(worker);
    await until(isUnattended, "PostgreSQL has ended what the worker had sent");
    const leased = await listLeased();
    assert.ok(leased.length > 0, "it was killed in flight");
    for (const { delivery_id: id, lease_token: token } of leased)
      leasesAtKill.set(id, (leasesAtKill.get(id) ?? new Set()).add(token));
  }
  const last = startWorkerProcess(settings);
  await until(async () => {
    const { count } = await db
      .selectFrom("delivery_queue")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    return count === 0;
  }, "nothing is queued any more");
  await kill(last);

  const deliveries = await readDeliveries(deps, business.owner);
  assert.deepEqual(
    deliveries.map(({ state }) => state),
    Array(BOOKINGS).fill("delivered"),
    "none is stuck, none is lost",
  );
  const requestsById = Map.groupBy(receiver.requests, (request) => headerOf(request, "Service-Delivery"));
  const arrived = [...requestsById.values()].map(
    ([request]) => JSON.parse(String(request?.body)).data.booking.reference,
  );
  assert.deepEqual(arrived.sort(), references.sort(), "every event has arrived");

  for (const [id, requests] of requestsById)
    assert.ok(requests.length <= 1 + (leasesAtKill.get(id)?.size ?? 0), "only what was in flight is repeated");
  const attempts = await readAttempts(deps, business.owner);
  const attemptsById = Map.groupBy(attempts, ({ delivery_id }) => delivery_id as string);
  for (const [id, requests] of requestsById) {
    assert.ok((attemptsById.get(id)?.length ?? 0) >= requests.length, "every request is in the log");
  }
  assert.deepEqual([...new Set(attempts.map(({ result }) => result))].sort(), ["delivered", "interrupted"]);
  const interrupted = attempts.filter(({ result }) => result === "interrupted");
  assert.deepEqual(new Set(interrupted.map(({ delivery_id }) => delivery_id as string)), new Set(leasesAtKill.keys()));
});

test("on SIGTERM a worker waits for its requests no longer than the grace period, and another takes them over", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying((_request, count) => (count === 1 ? null : {}));
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  // The lease lasts far longer than the grace period.
  const first = startWorkerProcess({ WEBHOOK_TIMEOUT_MS: "60000", SHUTDOWN_GRACE_MS: "200" });
  await until(() => receiver.requests.length === 1, "the request is under way");
  await book(deps, business);
  await until(() => receiver.requests.length === 2, "the other one has arrived");
  await until(async () => (await listLeased()).length === 1, "its response is recorded");
  const ended = once(first, "exit");
  first.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
  assert.equal((await listLeased()).length, 1);

  const second = startWorkerProcess();
  await until(() => receiver.requests.length === 3, "another has taken it over");
  await until(
    async () => (await db.selectFrom("delivery_queue").selectAll().execute()).length === 0,
    "it is written down",
  );
  await kill(second);
  assert.deepEqual(
    (await readDeliveries(deps, business.owner)).map(({ state }) => state),
    ["delivered", "delivered"],
  );
});

test("on SIGTERM a worker lets requests in progress finish, records them, and starts no others", async () => {
  const business = await makeBusiness(deps);
  const gate = Promise.withResolvers<void>();
  const receiver = await startReplying(async () => {
    await gate.promise;
    return {};
  });
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  const worker = startWorkerProcess({ WEBHOOK_TIMEOUT_MS: "20000" });
  await until(() => receiver.requests.length === 1, "the request is under way");
  const ended = once(worker, "exit");
  worker.kill("SIGTERM");
  gate.resolve();
  assert.deepEqual(await ended, [0, null]);
  assert.equal((await readDelivery(deps, business.owner)).state, "delivered");
});

async function countNumberedLeases(): Promise<number> {
  const rows = await db.selectFrom("delivery_queue").select("leased_by").where("leased_by", "is not", null).execute();
  return rows.length;
}

/** Advisory locks held by worker processes on this database. */
async function countLivingWorkers(): Promise<number> {
  const { rows } = await sql`select from pg_locks join pg_database on pg_database.oid = pg_locks.database
    where datname = current_database() and locktype = 'advisory' and granted
      and classid::bigint = ${WORKER_LOCKS}::bigint`.execute((await findTestHome(deps)).reader);
  return rows.length;
}

test("the deliveries of a worker killed with kill -9 are sent by another before their leases end", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying((_request, count) => (count === 1 ? null : {}));
  await makeEndpoint(deps, business, { url: receiver.url });
  // Neither the end of the lease, after 80 seconds, nor the schedule causes the second request.
  const settings = { WEBHOOK_TIMEOUT_MS: "20000", WEBHOOK_RETRY_SCHEDULE: "600,600" };
  // Its first claim finds the delivery, and the lease already carries its number.
  await book(deps, business);
  const first = startWorkerProcess(settings);
  await until(() => receiver.requests.length === 1, "the request is in flight");
  assert.equal(await countNumberedLeases(), 1, "the lease carries the worker's number");
  const second = startWorkerProcess(settings);
  await until(async () => (await countLivingWorkers()) === 2, "both workers are alive");
  await kill(first);
  await until(() => receiver.requests.length === 2, "the other worker has sent it");
  await until(async () => (await listLeased()).length === 0, "the attempt is reported");
  await kill(second);
  assert.deepEqual(
    (await readAttempts(deps, business.owner)).map(({ number, result }) => [number, result]),
    [
      [1, "interrupted"],
      [2, "delivered"],
    ],
  );
});

test("a suspended worker that resumes changes nothing that was done meanwhile", async () => {
  const business = await makeBusiness(deps);
  const gate = Promise.withResolvers<void>();
  const receiver = await startReplying(async (_request, count) => {
    if (count === 1) await gate.promise;
    // If it counted, the first reply would turn the endpoint off.
    return { status: count === 1 ? 410 : 200 };
  });
  const endpoint = await makeEndpoint(deps, business, { url: receiver.url });
  const stopped = startWorkerProcess({ WEBHOOK_TIMEOUT_MS: "1500" });
  await book(deps, business);
  await until(() => receiver.requests.length === 1, "the request is in flight");
  stopped.kill("SIGSTOP");
  const other = startWorkerProcess();
  await until(() => receiver.requests.length === 2, "another worker has sent it");
  await until(async () => (await readDelivery(deps, business.owner)).state === "delivered", "it is delivered");
  await kill(other);
  gate.resolve();
  stopped.kill("SIGCONT");
  await book(deps, business);
  await until(() => receiver.requests.length === 3, "the worker that woke up works again");
  await until(async () => (await listLeased()).length === 0, "its attempt is reported");
  await kill(stopped);

  assert.deepEqual(
    (await readDeliveries(deps, business.owner)).map(({ state, attempt_count }) => [state, attempt_count]),
    [
      ["delivered", 2],
      ["delivered", 1],
    ],
  );
  const results = (await readAttempts(deps, business.owner)).map(({ result }) => result);
  assert.deepEqual(results, ["interrupted", "delivered", "delivered"]);
  assert.equal((await readEndpoint(deps, endpoint.id)).status, "enabled");
});
