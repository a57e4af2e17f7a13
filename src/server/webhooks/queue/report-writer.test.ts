import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import {
  book,
  createWebhookService,
  findTestHome,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  readDeliveries,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { reportInterrupted } from "../delivery/attempt-report.ts";
import { deliver } from "../delivery/deliver.ts";
import { EndpointCare } from "../health/health.ts";
import { claimDeliveries } from "./claim.ts";
import { type LoadedDelivery, loadDeliveries } from "./load.ts";
import { listLostLeasesAcrossOrganizations } from "./recovery-queries.ts";
import { writeReports } from "./report-queries.ts";
import { ReportWriter } from "./report-writer.ts";

const service = await createWebhookService();
const { deps, clock } = service;
const { db, webhooks } = deps;
const { secretBox, urlBox, headerBox, schedule } = webhooks;
const deliverDeps = { clock, send: webhooks.send.send, secretBox, urlBox, headerBox, schedule };

async function claimAll(): Promise<readonly LoadedDelivery[]> {
  const at = clock.now();
  const lease = { token: randomUuid(deps.random), at, until: new Date(at.getTime() + webhooks.leaseMs), holder: null };
  const { deliveries } = await claimDeliveries(await findTestHome(deps), () => ({ lease, free: 256, after: "" }));
  return (await loadDeliveries(db, deliveries)).deliveries;
}

/** Runs while the writer's first statement waits for this delivery's queue entry. */
async function whileHeld({ organizationId, deliveryId }: LoadedDelivery, run: () => Promise<void>): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql`select from delivery_queue where organization_id = ${organizationId} and delivery_id = ${deliveryId}
      for update`.execute(transaction);
    await run();
  });
}

test("of two reports on one attempt, as after an outage, the first counts and the other is dropped", async () => {
  for (const status of [200, 500]) {
    const business = await makeBusiness(deps);
    const receiver = await startReplying(() => ({ status }));
    await makeEndpoint(deps, business, { url: receiver.url });
    for (let count = 0; count < 4; count++) await book(deps, business);
    const claimed = await claimAll();
    const [held] = claimed;
    assert.ok(held && claimed.length === 4);
    // The last retry: a failure now is final, and so is an interruption.
    const last = claimed.map((each) => ({ ...each, retriesUsed: status === 500 ? 8 : 0 }));
    const reports = await Promise.all(last.map((each) => deliver(deliverDeps, each)));

    const writer = new ReportWriter(deps, new EndpointCare(deps));
    const written: Promise<void>[] = [];
    await whileHeld(held, async () => {
      for (const { report } of reports) written.push(writer.write(report, held.lease.until));
      moveClock(service, webhooks.leaseMs / 1_000 + 1);
      const now = clock.now();
      const expired = await listLostLeasesAcrossOrganizations(db, { now, deadWorkers: [], limit: 10 });
      assert.equal(expired.length, 4, "the same process finds its own leases run out");
      for (const delivery of (await loadDeliveries(db, expired)).deliveries) {
        written.push(writer.write(reportInterrupted(deliverDeps, delivery, { isWorkerDead: false, now }), now));
      }
    });
    await Promise.all(written);

    const states = (await readDeliveries(deps, business.owner)).map(({ state, retries_used }) => [state, retries_used]);
    assert.deepEqual(states, Array(4).fill([status === 200 ? "delivered" : "failed", 0]));
    const results = (await readAttempts(deps, business.owner)).map(({ result }) => result);
    assert.deepEqual(results, Array(4).fill(status === 200 ? "delivered" : "failed"));
    assert.deepEqual(await db.selectFrom("delivery_queue").selectAll().execute(), [], "no place in the queue is left");
  }
});

test("of reports on two leases of one delivery, written together, only the one on the current lease counts", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  const [claimed] = await claimAll();
  assert.ok(claimed);
  const { report } = await deliver(deliverDeps, claimed);
  const taken = { ...report, leaseToken: randomUuid(deps.random), status: 500, result: "failed" } as const;
  for (const reports of [
    [taken, report],
    [report, taken],
  ])
    await writeReports(await findTestHome(deps), reports, async () => {});
  const attempts = await readAttempts(deps, business.owner);
  assert.deepEqual(
    attempts.map(({ number, result, status }) => [number, result, status]),
    [[1, "delivered", 200]],
  );
});
