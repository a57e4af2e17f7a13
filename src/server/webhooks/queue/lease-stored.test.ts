import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { DeliveryId, EndpointId } from "#contract/ids.ts";
import {
  type Business,
  book,
  changeEndpoints,
  createWebhookService,
  findTestHome,
  makeBusiness,
  makeEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { openDb, openPool } from "../../db/connections/pool.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { claimDeliveries } from "./claim.ts";
import { beginClaim, leaseStored } from "./claim-queries.ts";

const { deps, url } = await createWebhookService();
const receiver = await startReplying(() => ({}));

function makeLease() {
  const at = deps.clock.now();
  return { token: randomUuid(deps.random), at, until: new Date(at.getTime() + deps.webhooks.leaseMs), holder: null };
}

/** The deliveries of a new booking. */
async function store(business: Business): Promise<DeliveryId[]> {
  const reference = await book(deps, business);
  const { rows } = await sql<{ id: DeliveryId }>`
    select deliveries.id from deliveries join webhook_events
      on webhook_events.organization_id = deliveries.organization_id and webhook_events.id = deliveries.event_id
    where webhook_events.reference = ${reference}`.execute(deps.db);
  return rows.map(({ id }) => id);
}

/** Whether a new booking's delivery is leased without a claim. */
async function isLeased(business: Business): Promise<boolean> {
  return (await leaseStored(await findTestHome(deps), await store(business), makeLease())).length === 1;
}

type Target = { business: Business; id: EndpointId };

async function makeTarget(kind: "webhook" | "slack" = "webhook"): Promise<Target> {
  const business = await makeBusiness(deps);
  return { business, id: (await makeEndpoint(deps, business, { url: receiver.url, kind })).id };
}

test("a stored delivery that nothing holds back is leased without a claim, once", async () => {
  const { business } = await makeTarget();
  assert.equal(await isLeased(business), true);
  const { deliveries } = await claimDeliveries(await findTestHome(deps), () => ({
    lease: makeLease(),
    free: 256,
    after: "",
  }));
  assert.deepEqual(deliveries, []);
});

test("it does not overtake one that waits, nor go beside one in flight", async () => {
  const { business } = await makeTarget();
  await book(deps, business);
  assert.equal(await isLeased(business), false);
  const other = await makeTarget();
  assert.equal(await isLeased(other.business), true);
  assert.equal(await isLeased(other.business), false);
});

const LIMITS = {
  "is new, or whose last attempt failed": { is_answering: false },
  "is failing": { failed_attempts: 3 },
  "asked for a pause": { paused_until: new Date(deps.clock.now().getTime() + 60_000) },
  "has a rate limit": { requests_per_minute: 60 },
} as const;

for (const [name, change] of Object.entries(LIMITS)) {
  test(`a delivery to an endpoint that ${name} is left to a claim`, async () => {
    const { business, id } = await makeTarget();
    await changeEndpoints(deps, [id], change);
    assert.equal(await isLeased(business), false);
  });
}

test("a delivery to a chat is left to a claim", async () => {
  const { business } = await makeTarget("slack");
  assert.equal(await isLeased(business), false);
});

test("a delivery that is due later is left to a claim", async () => {
  const { business } = await makeTarget();
  const ids = await store(business);
  const dueAt = new Date(deps.clock.now().getTime() + 60_000);
  const queued = deps.db.updateTable("delivery_queue").set({ due_at: dueAt });
  await queued.where("organization_id", "=", business.owner).execute();
  assert.deepEqual(await leaseStored(await findTestHome(deps), ids, makeLease()), []);
});

test("a delivery is left to a claim if the plan has lost webhooks, or the endpoint was turned off, since it was stored", async () => {
  const home = await findTestHome(deps);
  for (const change of [
    ({ business }: Target) =>
      deps.db.updateTable("organizations").set({ plan: "free" }).where("id", "=", business.owner).execute(),
    ({ id }: Target) =>
      changeEndpoints(deps, [id], { status: "disabled", disabled_reason: "manual", disabled_at: deps.clock.now() }),
  ]) {
    const target = await makeTarget();
    const ids = await store(target.business);
    await change(target);
    assert.deepEqual(await leaseStored(home, ids, makeLease()), []);
  }
});

test("it reads few rows of a long queue, even if it was planned while the queue was empty", async (t) => {
  const pool = openPool({ url, size: 1, log: deps.log });
  t.after(() => pool.end());
  await pool.query("select 1");
  const home = await findTestHome({ db: openDb(pool) });
  await sql`analyze delivery_queue`.execute(deps.db);
  const leaseOne = async () => {
    const { business } = await makeTarget();
    const ids = await store(business);
    assert.equal((await leaseStored(home, ids, makeLease())).length, 1);
  };
  const countRead = async () => {
    await home.pool.query("select pg_stat_force_next_flush()");
    const { rows } = await home.pool.query(
      `select (select sum(seq_tup_read) from pg_stat_user_tables where relname ~ '^delivery_queue')
        + (select sum(idx_tup_read) from pg_stat_user_indexes where relname ~ '^delivery_queue') as read`,
    );
    return Number((rows[0] as { read: string }).read);
  };
  await leaseOne();
  const { business, id } = await makeTarget();
  await sql`insert into delivery_queue (delivery_id, organization_id, endpoint_id, trigger, is_test, due_at)
    select gen_random_uuid(), ${business.owner}, ${id}, 'automatic', false, ${deps.clock.now()}
    from generate_series(1, 1000)`.execute(deps.db);
  const before = await countRead();
  await leaseOne();
  const read = (await countRead()) - before;
  assert.ok(read < 100, `${read} rows`);
  await sql`delete from delivery_queue where organization_id = ${business.owner}`.execute(deps.db);
});

test("nothing is leased beside a claim, because caps hold over all workers", async () => {
  const { business } = await makeTarget();
  const home = await findTestHome(deps);
  await home.writer.transaction().execute(async (transaction) => {
    await beginClaim(transaction, home.group);
    assert.equal(await isLeased(business), false);
  });
});
