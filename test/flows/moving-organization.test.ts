import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { Reference } from "#contract/ids.ts";
import { recordHits } from "../../src/server/analytics/record/record.ts";
import { insertPending } from "../../src/server/bookings/flow/pending-queries.ts";
import { takeReference } from "../../src/server/bookings/flow/reference.ts";
import { type ConfirmedBooking, settleConfirmed } from "../../src/server/bookings/flow/settle-booking.ts";
import { deleteBooking, eraseBookingsByEmail } from "../../src/server/bookings/stored/erase/erase.ts";
import { OrganizationMoving } from "../../src/server/db/engine.ts";
import { inHome, inTransaction } from "../../src/server/db/statements/transactions.ts";
import { deleteOrganization } from "../../src/server/organizations/delete-organization.ts";
import { editEndpoint } from "../../src/server/webhooks/endpoints/endpoints.ts";
import { findEndpoint } from "../../src/server/webhooks/endpoints/queries.ts";
import { hideOrganization } from "../support/app/hide-organization.ts";
import { noAudit } from "../support/app/no-audit.ts";
import { NOON } from "../support/builders.ts";
import { queryOnce } from "../support/database/citus-cluster.ts";
import { isCluster, listDatabaseUrls } from "../support/database/database.ts";
import { readAnalytics } from "../support/funnel/analytics.ts";
import { DIRECT_HIT, makeHit } from "../support/funnel/hits.ts";
import { until } from "../support/until.ts";
import {
  type Business,
  book,
  createWebhookService,
  makeBusiness,
  makeEndpoint,
  startReplying,
} from "../support/webhooks/webhook-service.ts";

// Statements at home find an organization wherever it is. For those that go through Citus, its rows can't be seen for a moment while
// they move to another server, and nothing may be concluded from that.

const isSkipped = isCluster() ? false : "no cluster: npm run cluster -- --bin DIR -- npm test -- FILE";
const service = await createWebhookService();
const { deps, url } = service;
const { db } = deps;

/** Runs while the organization's rows can't be seen. */
async function whileHidden(owner: Business["owner"], run: () => Promise<void>): Promise<void> {
  const reveal = await hideOrganization(url, owner);
  try {
    await run();
  } finally {
    await reveal();
  }
}

const isMoving = (error: unknown) => error instanceof OrganizationMoving;

test("a booking is settled once, and found to be deleted, while its organization moves", {
  skip: isSkipped,
}, async () => {
  const business = await makeBusiness(deps);
  const { owner, widgetId } = business;
  const reference = await takeReference(db, owner, deps.random);
  const confirmed = await requestBooking({ owner, widgetId, reference });
  await Promise.all([moveAway(owner), settleConfirmed(deps, confirmed)]);
  await Promise.all([moveAway(owner), settleConfirmed(deps, confirmed)]);
  const stored = await db.selectFrom("bookings").select("reference").where("organization_id", "=", owner).execute();
  assert.deepEqual(stored, [{ reference }]);
  const [, isDeleted] = await Promise.all([moveAway(owner), deleteBooking(deps, owner, reference)]);
  assert.equal(isDeleted, true);
  await book(deps, business, { customer_email: "mara@example.com" });
  const [, erased] = await Promise.all([moveAway(owner), eraseBookingsByEmail(deps, owner, "mara@example.com")]);
  assert.equal(erased, 1);
});

test("an organization is not taken for deleted while it moves", { skip: isSkipped }, async () => {
  const { owner } = await makeBusiness(deps);
  await whileHidden(owner, async () => {
    await assert.rejects(
      db.transaction().execute((transaction) => deleteOrganization(transaction, owner)),
      isMoving,
    );
  });
});

test("an organization that a transaction records for moves only after it", { skip: isSkipped }, async () => {
  const { owner, widgetId } = await makeBusiness(deps);
  await recordHits(db, [makeHit({ widgetId, visit: 1, at: NOON })]);
  const { source } = await findPlaces(owner);
  const { move } = await inHome(db, owner, async (transaction) => {
    await recordHits(transaction, [makeHit({ widgetId, visit: 2, at: NOON })]);
    const move = moveAway(owner);
    await until(() => isWaiting(source), "a statement waits");
    return { move };
  });
  await move;
  assert.equal((await readAnalytics(db, owner, { days: 7, now: NOON })).totals.views, 2);
});

test("a change that waits for a row while its organization moves is not lost", { skip: isSkipped }, async () => {
  const business = await makeBusiness(deps);
  const { owner } = business;
  const receiver = await startReplying(() => ({ status: 200 }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await whileMoving(owner, async () => {
    assert.deepEqual(await editEndpoint(deps, owner, { id, description: "Shop" }, noAudit), { kind: "edited" });
  });
  assert.equal((await findEndpoint(db, owner, id))?.description, "Shop");
});

test("a change that waits for a move which waits for it gets 503", { skip: isSkipped }, async () => {
  // Citus cancels whichever of the two is younger, so a real move might lose.
  const canceled = sql`do $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$`;
  await assert.rejects(
    inTransaction(db, (transaction) => canceled.execute(transaction)),
    isMoving,
  );
});

async function findPlaces(owner: Business["owner"]): Promise<{ coordinator: string; source: string; target: URL }> {
  const { rows } = await sql<{ address: string }>`
    select nodename || ':' || nodeport as address from pg_dist_placement join pg_dist_node using (groupid)
    where shardid = get_shard_id_for_distribution_column('visit_progress', ${owner}::text)`.execute(db);
  const [coordinator, ...workers] = listDatabaseUrls(new URL(url).pathname.slice(1));
  const source = workers.find((server) => new URL(server).host === rows[0]?.address);
  const target = workers.find((server) => server !== source);
  assert.ok(coordinator && source && target);
  return { coordinator, source, target: new URL(target) };
}

/** A row of the table is locked until the run waits for it, and until the organization either has moved or waits for the run. */
async function whileMoving(owner: Business["owner"], run: () => Promise<unknown>): Promise<void> {
  const { coordinator, source, target } = await findPlaces(owner);
  const { running, move } = await db.transaction().execute(async (transaction) => {
    await sql`select from endpoints where organization_id = ${owner} for update`.execute(transaction);
    const running = run();
    await until(() => isWaiting(source), "a statement waits");
    let hasMoved = false;
    const move = moveTo(owner, target).finally(() => {
      hasMoved = true;
    });
    await until(async () => hasMoved || (await isWaiting(coordinator)), "it has moved, or waits");
    return { running, move };
  });
  await Promise.all([running, move]);
}

async function isWaiting(server: string): Promise<boolean> {
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  return (await queryOnce(server, waiting)).length > 0;
}

async function moveTo(owner: Business["owner"], { hostname, port }: URL): Promise<void> {
  await queryOnce(url, `select citus_set_node_property('${hostname}', ${port}, 'shouldhaveshards', true)`);
  await queryOnce(
    url,
    `select citus_move_shard_placement(shard, nodename, nodeport, '${hostname}', ${port}, 'block_writes')
    from get_shard_id_for_distribution_column('visit_progress', '${owner}'::text) shard
    join pg_dist_placement on shardid = shard join pg_dist_node using (groupid)`,
  );
}

/** To another server. */
async function moveAway(owner: Business["owner"]): Promise<void> {
  await queryOnce(
    url,
    `select citus_move_shard_placement(shard, node.nodename, node.nodeport, other.nodename, other.nodeport, 'block_writes')
    from get_shard_id_for_distribution_column('visit_progress', '${owner}'::text) shard
    join pg_dist_placement placement on shardid = shard
    join pg_dist_node node on node.groupid = placement.groupid
    join pg_dist_node other on other.groupid <> node.groupid and other.shouldhaveshards`,
  );
}

/** The state between the scheduling system's answer and its settlement. */
async function requestBooking({
  owner,
  widgetId,
  reference,
}: Pick<Business, "owner" | "widgetId"> & { reference: Reference }): Promise<ConfirmedBooking> {
  const customer = { name: "Mara Quell", email: "mara@example.com", phone: null, notes: null };
  await insertPending(db, owner, {
    reference,
    widget_id: widgetId,
    asked_in: "sandbox",
    keyHash: Buffer.from(reference),
    visitHash: Buffer.from(reference),
    service_id: "s",
    start_at: NOON,
    askingUntil: NOON,
    hit: DIRECT_HIT,
    copy: { timeZone: "Europe/Berlin", customer, answers: [], attribution: {} },
    now: NOON,
  });
  const booked = {
    externalId: reference,
    startAt: NOON,
    endAt: new Date(NOON.getTime() + 1_800_000),
    service: { id: "s", name: "Check-up" },
    staff: [],
    manageUrl: null,
    joinUrl: null,
  };
  return { owner, widgetId, reference, hit: DIRECT_HIT, timeZone: "Europe/Berlin", booked, isTest: true };
}
