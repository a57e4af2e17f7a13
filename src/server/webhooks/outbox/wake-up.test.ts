import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import pg from "pg";
import type { OrganizationId } from "#contract/ids.ts";
import { makeOrganizationId } from "../../../../test/support/builders.ts";
import { listDatabaseUrls } from "../../../../test/support/database/database.ts";
import { until } from "../../../../test/support/until.ts";
import {
  book,
  createWebhookService,
  makeBusiness,
  makeEndpoint,
  readAttempts,
  readDelivery,
  startReplying,
  stopPolls,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { type Db, openDb, openPool } from "../../db/connections/pool.ts";
import { findServer } from "../../db/home.ts";
import { createLog } from "../../lib/log/log.ts";
import { startWorker } from "../../worker.ts";
import { DELIVERIES_CHANNEL } from "./queries.ts";
import { wakeWorkers } from "./wake-workers.ts";

const { deps, url } = await createWebhookService();
const OWNER = makeOrganizationId();

/** What other processes hear on the organization's server. Returns how many notifications were sent so far. */
async function countNotifications(
  t: TestContext,
  db: Db,
  { url, owner }: { url: string; owner: OrganizationId },
): Promise<() => Promise<number>> {
  const server = await findServer(db, owner);
  const urls = listDatabaseUrls(/test_[0-9a-f]+/.exec(url)?.[0] ?? "");
  const listener = new pg.Client({ connectionString: urls.find((each) => each.includes(server)) });
  await listener.connect();
  t.after(() => listener.end());
  // The database of another service is dropped before this test ends.
  listener.on("error", () => undefined);
  let [count, isCurrent] = [0, false];
  listener.on("notification", ({ channel }) => {
    if (channel === DELIVERIES_CHANNEL) count++;
    else isCurrent = true;
  });
  await listener.query(`listen ${DELIVERIES_CHANNEL}; listen all_sent`);
  return async () => {
    isCurrent = false;
    // Notifications arrive in the order in which they were sent.
    await listener.query("notify all_sent");
    await until(() => isCurrent, "every notification has arrived");
    return count;
  };
}

test("a booking wakes the workers of other processes, so its delivery does not wait for the next poll", async (t) => {
  const pool = openPool({ url, size: 3, log: deps.log });
  t.after(() => pool.end());
  await pool.query("select 1");
  const elsewhere = { ...deps, db: openDb(pool) };
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  stopPolls(t);
  const worker = startWorker(deps, []);
  t.after(() => worker.stop());
  await book(deps, business);
  await until(() => receiver.requests.length === 1, "the worker is running");
  for (let n = 2; n <= 12; n++) {
    await book(elsewhere, business);
    await until(() => receiver.requests.length === n, "it has arrived");
  }
});

test("a process that sends takes what it stores by itself, and notifies others only of what it can't take at once", async (t) => {
  const { deps: here, url: address } = await createWebhookService();
  const business = await makeBusiness(here);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(here, business, { url: receiver.url });
  const others = await countNotifications(t, here.db, { url: address, owner: business.owner });
  const worker = startWorker(here, []);
  await book(here, business);
  await until(() => receiver.requests.length === 1, "the worker is running");
  await until(async () => (await readAttempts(here, business.owner)).length === 1, "its lane is empty");
  const before = await others();
  await book(here, business);
  await until(() => receiver.requests.length === 2, "it is sent");
  assert.equal(await others(), before);
  await worker.stop();
  await book(here, business);
  assert.equal(await others(), before + 1);
});

test("calls during a notification share the next one, and a later call has its own", async (t) => {
  const heard = await countNotifications(t, deps.db, { url, owner: OWNER });
  await Promise.all(Array.from({ length: 20 }, () => wakeWorkers(deps, OWNER)));
  await wakeWorkers(deps, OWNER);
  assert.equal(await heard(), 3);
});

test("a notification that fails is logged and never throws, and the next call tries again", async () => {
  const pool = openPool({ url, size: 1, log: createLog("silent") });
  await pool.end();
  const lines: string[] = [];
  const unreachable = { db: openDb(pool), log: createLog("warn", { write: (line) => lines.push(line) }) };
  await Promise.all(Array.from({ length: 3 }, () => wakeWorkers(unreachable, OWNER)));
  assert.equal(lines.length, 2, "the second and third call share a notification");
  await wakeWorkers(unreachable, OWNER);
  assert.equal(lines.length, 3);
  for (const line of lines) {
    const { name, organizationId } = JSON.parse(line);
    assert.deepEqual({ name, organizationId }, { name: "deliveries.notify_failed", organizationId: OWNER });
  }
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
