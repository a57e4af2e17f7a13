import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";
import { sql, type Updateable } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import {
  book,
  changeEndpoints,
  createWebhookService,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readDeliveries,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import type { EndpointsTable } from "../../db/tables/webhook-tables.ts";
import { DeliveryLoop } from "../delivery/loop.ts";
import { listNotices } from "../health/queries.ts";
import { redeliver } from "../log/resend.ts";

// A failing endpoint with thousands of deliveries: each keeps to its own schedule and is held back for at most a minute.

const service = await createWebhookService({ webhookTimeoutMs: 15_000 });
const { deps, clock } = service;

/** Receivers answer when the test is over. */
let end = Promise.withResolvers<void>();
let loop = new DeliveryLoop(deps);

beforeEach(async () => {
  end = Promise.withResolvers();
  loop = new DeliveryLoop(deps);
  await sql`truncate delivery_queue, delivery_attempts, deliveries, webhook_events cascade`.execute(deps.db);
});

afterEach(async () => {
  end.resolve();
  await loop.settled();
});

const FAILING = { failed_attempts: 3, failing_since: new Date("2026-10-31T00:00:00.000Z") };

/** An endpoint that never answers, with `count` deliveries that are due now. */
async function makeBacklog({
  count,
  kind = "webhook",
  change = FAILING,
}: {
  count: number;
  kind?: EndpointKind;
  change?: Updateable<EndpointsTable>;
}) {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => end.promise.then(() => ({ status: 500 })));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url, kind });
  await changeEndpoints(deps, [id], change);
  await book(deps, business);
  await copyDelivery(business.owner, count - 1);
  return business;
}

/** More deliveries like the only one so far. */
async function copyDelivery(owner: OrganizationId, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => randomUUID());
  const { type, reference, body, created_at } = await deps.db
    .selectFrom("webhook_events")
    .select(["type", "reference", "body", "created_at"])
    .where("organization_id", "=", owner)
    .executeTakeFirstOrThrow();
  const { endpoint_id, card } = await deps.db
    .selectFrom("deliveries")
    .select(["endpoint_id", "card"])
    .where("organization_id", "=", owner)
    .executeTakeFirstOrThrow();
  await sql`insert into webhook_events (organization_id, id, type, reference, body, created_at)
    select ${owner}, 'evt_' || id, ${type}, ${reference}, ${body}, ${created_at}::timestamptz
    from unnest(${ids}::text[]) id`.execute(deps.db);
  await sql`insert into deliveries (organization_id, id, event_id, endpoint_id, state, attempt_count, retries_used, created_at, card)
    select ${owner}, id::uuid, 'evt_' || id, ${endpoint_id}, 'queued', 0, 0, ${created_at}::timestamptz, ${card}::bytea
    from unnest(${ids}::text[]) id`.execute(deps.db);
  await sql`insert into delivery_queue (delivery_id, organization_id, endpoint_id, trigger, is_test, due_at)
    select id, ${owner}, ${endpoint_id}, 'automatic', false, ${created_at}::timestamptz
    from unnest(${ids}::uuid[]) id`.execute(deps.db);
}

/** A worker that runs for this many seconds, and whose requests never end. */
async function work(seconds: number): Promise<void> {
  for (let second = 0; second <= seconds; second++) {
    await loop.goRound();
    if (second < seconds) moveClock(service, 1);
  }
}

async function countHeldBack(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from delivery_attempts where error_code = 'held_back'`.execute(deps.db);
  return rows[0]?.count ?? 0;
}

test("thousands of deliveries to a hung receiver are tried or moved on within a minute of their time", async () => {
  const business = await makeBacklog({ count: 3_000 });
  const dueAt = clock.now().getTime();
  await work(50);
  assert.equal(await countHeldBack(), 0, "not before it has waited");
  await work(9);
  const deliveries = await readDeliveries(deps, business.owner);
  const movedOn = deliveries.filter(({ last_error }) => last_error === "held_back");
  assert.ok(movedOn.length > 2_900, `${movedOn.length} have moved on`);
  for (const { state, retries_used, attempt_count, next_attempt_at } of movedOn) {
    assert.deepEqual({ state, retries_used, attempt_count }, { state: "retrying", retries_used: 1, attempt_count: 1 });
    assert.ok(next_attempt_at && next_attempt_at.getTime() - dueAt <= 90_000, "a minute, and the delay of the retry");
  }
  const overdue = await sql<{ count: number }>`select count(*) as count from delivery_queue
    where lease_token is null and due_at <= ${new Date(dueAt)}`.execute(deps.db);
  assert.equal(overdue.rows[0]?.count, 0, "nothing waits any longer");
});

test("a delivery whose last retry was held back has failed, and its owner is told why", async () => {
  const business = await makeBacklog({ count: 200 });
  await sql`update deliveries set retries_used = 8, attempt_count = 8`.execute(deps.db);
  await work(52);
  const failed = (await readDeliveries(deps, business.owner)).filter(({ state }) => state === "failed");
  assert.ok(failed.length > 100);
  assert.ok(failed.every(({ last_error, attempt_count }) => last_error === "held_back" && attempt_count === 9));
  const { values } = await deps.metrics.deliveriesEnded.get();
  assert.deepEqual(
    values.map(({ labels, value }) => [labels.outcome, value]),
    [["failed", failed.length]],
  );
  const [notice] = await listNotices(deps.db, business.owner, { limitEach: 1 });
  assert.match(
    notice?.detail ?? "",
    /^The delivery of SVC-\w{6} failed and won't be retried\. Last attempt: Not sent: the endpoint was failing and had a backlog\. Fix the endpoint/,
  );
});

test("a chat that hangs keeps to the schedule too", async () => {
  const business = await makeBacklog({ count: 10, kind: "teams" });
  await work(52);
  const states = (await readDeliveries(deps, business.owner)).map(({ state, last_error }) => [state, last_error]);
  assert.equal(states.filter(([state, error]) => state === "retrying" && error === "held_back").length, 9);
});

test("nothing is given up for a receiver that is slow but answers, asked for a pause or has a rate limit", async () => {
  const paused = { ...FAILING, paused_until: new Date(clock.now().getTime() + 30_000) };
  await makeBacklog({ count: 100, change: { failed_attempts: 0 } });
  await makeBacklog({ count: 100, change: paused });
  await makeBacklog({ count: 100, change: { ...FAILING, requests_per_minute: 5 } });
  await work(80);
  assert.equal(await countHeldBack(), 0);
});

test("time in which no worker was claiming doesn't count", async () => {
  await makeBacklog({ count: 100 });
  moveClock(service, 3 * 3_600);
  await work(49);
  assert.equal(await countHeldBack(), 0, "after a stop of three hours");
  moveClock(service, 600);
  await work(49);
  assert.equal(await countHeldBack(), 0, "after the machine slept for ten minutes");
  await work(2);
  assert.ok((await countHeldBack()) > 0);
});

test("a redelivery by hand and a test wait for their turn", async () => {
  const business = await makeBacklog({ count: 100 });
  await sql`delete from delivery_queue`.execute(deps.db);
  await sql`update deliveries set state = 'failed'`.execute(deps.db);
  const { owner } = business;
  for (const { id } of await readDeliveries(deps, business.owner)) await redeliver(deps, owner, id, noAudit);
  await work(70);
  assert.equal(await countHeldBack(), 0);
});
