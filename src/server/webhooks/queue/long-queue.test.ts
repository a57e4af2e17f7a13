import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import {
  book,
  createWebhookService,
  findTestHome,
  makeBusiness,
  makeEndpoint,
} from "../../../../test/support/webhooks/webhook-service.ts";
import type { Home } from "../../db/citus/homes.ts";
import type { Db } from "../../db/connections/pool.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { reportInterrupted } from "../delivery/attempt-report.ts";
import { claimDeliveries } from "./claim.ts";
import type { ClaimedDelivery } from "./claim-queries.ts";
import { loadDeliveries } from "./load.ts";
import { writeReports } from "./report-queries.ts";

const { deps } = await createWebhookService();
const WAITING = 5_000;

/**
 * What this database has read of the queue so far: entries of its primary key, and rows without an index. On Citus the rows are in
 * a shard, which it hides.
 */
async function countRead(db: Db): Promise<number> {
  await sql`select pg_stat_force_next_flush(), set_config('citus.override_table_visibility', 'off', false)`.execute(db);
  const { rows } = await sql<{ read: number }>`select (
      (select sum(idx_tup_read) from pg_stat_user_indexes where indexrelname like 'delivery_queue_pkey%') +
      (select sum(seq_tup_read) from pg_stat_user_tables where relname like 'delivery_queue%')
    )::integer as read`.execute(db);
  return rows[0]?.read ?? 0;
}

async function fillQueue(db: Db, owner: string, endpointId: string): Promise<void> {
  await sql`insert into delivery_queue (delivery_id, organization_id, endpoint_id, trigger, is_test, due_at)
    select gen_random_uuid(), ${owner}, ${endpointId}, 'automatic', false, ${deps.clock.now()}::timestamptz
    from generate_series(1, ${WAITING}::integer)`.execute(db);
}

async function claim(home: Home): Promise<readonly ClaimedDelivery[]> {
  const at = deps.clock.now();
  const lease = {
    token: randomUuid(deps.random),
    at,
    until: new Date(at.getTime() + deps.webhooks.leaseMs),
    holder: null,
  };
  return (await claimDeliveries(home, () => ({ lease, free: 256, after: "" }))).deliveries;
}

/** With one connection, because each keeps plans of its own. */
async function onOneConnection(run: (home: Home) => Promise<void>): Promise<void> {
  const home = await findTestHome(deps);
  await home.writer.connection().execute((writer) => run({ ...home, writer }));
}

test("a claim from a long queue reads what it leases, although its statements were planned for an empty queue", async () => {
  const business = await makeBusiness(deps);
  const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  await onOneConnection(async (home) => {
    // A queue that was emptied and vacuumed, as a worker leaves it.
    await book(deps, business);
    await sql`delete from delivery_queue`.execute(deps.db);
    await sql`vacuum (truncate false) delivery_queue`.execute(deps.db);
    await book(deps, business);
    assert.equal((await claim(home)).length, 1);
    await fillQueue(deps.db, business.owner, id);
    const before = await countRead(home.writer);
    assert.equal((await claim(home)).length, 9);
    const read = (await countRead(home.writer)) - before;
    assert.ok(read > 0 && read < 100, `${read} entries read`);
  });
});

test("a report reads only its own entries of a long queue, even if the first one was written while the queue was short", async () => {
  await sql`truncate delivery_queue`.execute(deps.db);
  const business = await makeBusiness(deps);
  const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  for (let n = 0; n < 2; n++) await book(deps, business);
  await onOneConnection(async (home) => {
    await sql`vacuum analyze delivery_queue`.execute(deps.db);
    const { deliveries } = await loadDeliveries(deps.db, await claim(home));
    assert.equal(deliveries.length, 2);
    const now = deps.clock.now();
    const reports = deliveries.map((each) => reportInterrupted(deps.webhooks, each, { isWorkerDead: false, now }));
    await writeReports(home, reports.slice(0, 1), async () => {});
    await fillQueue(deps.db, business.owner, id);
    const before = await countRead(home.writer);
    await writeReports(home, reports.slice(1), async () => {});
    const read = (await countRead(home.writer)) - before;
    assert.ok(read > 0 && read < 100, `${read} rows and entries read`);
  });
});

test("no index of deliveries has a column that a report changes, so a report writes none of them", async () => {
  const changed = ["state", "cancel_reason", "attempt_count", "retries_used", "next_attempt_at", "last_status"];
  const column = new RegExp(`\\b(?:${[...changed, "last_error", "completed_at"].join("|")})\\b`);
  const { rows } = await sql<{ indexdef: string }>`
    select indexdef from pg_indexes where tablename = 'deliveries'`.execute(deps.db);
  assert.ok(rows.length > 3);
  assert.deepEqual(
    rows.filter(({ indexdef }) => column.test(indexdef)),
    [],
  );
});
