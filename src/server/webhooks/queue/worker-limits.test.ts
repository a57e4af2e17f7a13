import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { type RawBuilder, sql } from "kysely";
import { isCluster } from "../../../../test/support/database/database.ts";
import { whileLocked } from "../../../../test/support/database/while-locked.ts";
import { until } from "../../../../test/support/until.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  findTestHome,
  makeBusiness,
  makeEndpoint,
  makeIdAt,
  startReplying,
  stopPolls,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { ClaimLoop } from "../delivery/claim-loop.ts";
import { DeliveryLoop } from "../delivery/loop.ts";
import { claimDeliveries } from "./claim.ts";

// What one worker holds at once, and how it gets through more lanes than one claim looks at.

const { deps } = await createWebhookService({ webhookTimeoutMs: 15_000 });

beforeEach(async () => {
  await sql`truncate delivery_queue, delivery_attempts, deliveries, webhook_events cascade`.execute(deps.db);
});

/**
 * One due delivery of each of so many organizations: the more one has in flight, the fewer of the last places it gets. They are
 * chats, because those need no signature.
 */
async function queueOneEach(count: number, url: string, options: { isNew?: boolean } = {}): Promise<void> {
  const business = await makeBusiness(deps);
  const endpoint = await makeEndpoint(deps, business, { url, ...options });
  await book(deps, business);
  const home = await findTestHome(deps);
  const owners = await Promise.all(Array.from({ length: count }, () => makeIdAt(deps, home)));
  const copy = async (table: string, owner: string, changes: Record<string, RawBuilder<unknown>>) => {
    const fields = Object.entries(changes).map(([name, value]) => sql`${sql.lit(name)}, ${value}`);
    await sql`insert into ${sql.table(table)}
      select (jsonb_populate_record(original, jsonb_build_object(${sql.join(fields)}))).*
      from ${sql.table(table)} original, unnest(${owners}::text[]) with ordinality as other (other_id, n) where ${sql.ref(owner)} = ${business.owner}`.execute(
      deps.db,
    );
  };
  const owner = sql`other_id`;
  const endpointId = sql`'ep_' || md5(n::text || ${endpoint.id})`;
  const deliveryId = sql`md5(n::text || ${endpoint.id})::uuid`;
  await copy("organizations", "id", { id: owner });
  await copy("visit_progress", "organization_id", { organization_id: owner });
  const chat = { organization_id: owner, id: endpointId, kind: sql`'teams'` };
  await copy("endpoints", "organization_id", chat);
  await sealUrls(url);
  await copy("delivery_lanes", "organization_id", { organization_id: owner, endpoint_id: endpointId });
  await copy("webhook_events", "organization_id", { organization_id: owner });
  const ids = { organization_id: owner, endpoint_id: endpointId };
  await copy("deliveries", "organization_id", { ...ids, id: deliveryId });
  await copy("delivery_queue", "organization_id", { ...ids, delivery_id: deliveryId });
  await sql`delete from delivery_queue where organization_id = ${business.owner}`.execute(deps.db);
}

async function sealUrls(url: string): Promise<void> {
  const chats = await deps.db.selectFrom("endpoints").select("id").where("kind", "=", "teams").execute();
  const ids = chats.map(({ id }) => id);
  const sealed = ids.map((id) => deps.webhooks.urlBox.seal(id, url));
  await sql`update endpoints set sealed_url = chat.sealed_url
    from unnest(${ids}::text[], ${sealed}::bytea[]) as chat (id, sealed_url) where endpoints.id = chat.id`.execute(
    deps.db,
  );
}

test("a worker sends on while its reports wait, until it holds 512 leases", async () => {
  const receiver = await startReplying(() => ({}));
  await queueOneEach(700, receiver.url);
  const loop = new DeliveryLoop(deps);
  let begun = 0;
  // Reports wait for this; claims don't use the table.
  await whileLocked(deps.db, "delivery_attempts", async () => {
    await until(async () => {
      begun += await loop.goRound();
      return begun >= 512 && receiver.requests.length === begun;
    }, "no more can be sent");
    assert.equal(await loop.goRound(), 0);
    assert.equal(begun, 512);
  });
  await loop.settled();
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 700, "each was sent once");
});

test("a worker has 256 requests in flight, and sends the next as soon as one ends", async (context) => {
  stopPolls(context);
  const gates: (() => void)[] = [];
  const receiver = await startReplying(async () => {
    await new Promise<void>((resolve) => gates.push(resolve));
    return {};
  });
  await queueOneEach(300, receiver.url);
  const loop = new ClaimLoop(deps, await findTestHome(deps));
  loop.start();
  try {
    await until(() => receiver.requests.length === 256, "all places are taken");
    for (let n = 1; n <= 11; n++) {
      // Woken while no request is free.
      loop.wake();
      gates.shift()?.();
      await until(() => receiver.requests.length === 256 + n, "the next has arrived");
    }
    assert.equal(receiver.requests.length, 256 + 11);
  } finally {
    const stopping = loop.stop();
    await until(() => {
      for (const open of gates.splice(0)) open();
      return true;
    }, "all are answered");
    await stopping;
  }
});

for (const what of ["bookings", "tests"])
  test(`hundreds of organizations whose new receivers hang leave places for those that answer: ${what}`, async () => {
    const gate = Promise.withResolvers<object>();
    const hanging = await startReplying(() => gate.promise);
    await queueOneEach(300, hanging.url, { isNew: true });
    if (what === "tests") await sql`update delivery_queue set is_test = true`.execute(deps.db);
    const loop = new DeliveryLoop(deps);
    let begun = 0;
    for (let more = await loop.goRound(); more > 0; more = await loop.goRound()) begun += more;
    assert.equal(begun, 192, "a quarter of the places stays free");
    try {
      const answering = await startReplying(() => ({}));
      const business = await makeBusiness(deps);
      await makeEndpoint(deps, business, { url: answering.url });
      for (let count = 0; count < 10; count++) await book(deps, business);
      assert.equal(await loop.goRound(), 10);
      await until(() => answering.requests.length === 10, "the neighbour's are sent");
    } finally {
      gate.resolve({});
      await loop.settled();
    }
    await deliverAll(loop);
    assert.equal(hanging.requests.length, 300, "the others come later");
  });

test("what a claim did not read of a lane is claimed next, although no request ends", async (context) => {
  stopPolls(context);
  const gate = Promise.withResolvers<object>();
  const receiver = await startReplying((_request, count) => (count === 1 ? {} : gate.promise));
  await queueOneEach(1, receiver.url);
  const loop = new ClaimLoop(deps, await findTestHome(deps));
  loop.start();
  try {
    await until(() => receiver.requests.length === 1, "the loop has begun");
    await loop.settled();
    const business = await makeBusiness(deps);
    await makeEndpoint(deps, business, { url: receiver.url });
    for (let count = 0; count < 10; count++) await book(deps, business);
    await queueOneEach(99, receiver.url);
    loop.wake();
    await until(() => receiver.requests.length === 110, "all have arrived");
    const { rows } = await sql`select from delivery_attempts`.execute(deps.db);
    assert.equal(rows.length, 1, "no request of the second claim had to wait for the end of another");
  } finally {
    gate.resolve({});
    await loop.stop();
  }
});

test("a claim says that more is due if too few places were free for it, but not if a cap was in the way", async () => {
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  for (let n = 0; n < 20; n++) await book(deps, business);
  const at = deps.clock.now();
  const claim = async (free: number) => {
    const lease = { token: randomUuid(deps.random), at, until: new Date(at.getTime() + 60_000), holder: null };
    const { deliveries, hasMore } = await claimDeliveries(await findTestHome(deps), () => ({ lease, free, after: "" }));
    return [deliveries.length, hasMore];
  };
  assert.deepEqual(await claim(4), [2, true], "half of the places");
  assert.deepEqual(await claim(4), [0, true], "the organization has as many in flight");
  assert.deepEqual(await claim(256), [8, false], "ten to one endpoint");
});

test("claims get past 500 lanes, also those of endpoints that are gone", async () => {
  const LANES = 600;
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  await book(deps, business);
  // Each is a lane of its own, and comes before the endpoint's in the order of ids.
  await sql`insert into delivery_queue (delivery_id, organization_id, endpoint_id, trigger, is_test, due_at)
    select gen_random_uuid(), ${business.owner}, '!' || lpad(n::text, 4, '0'), 'automatic', false, ${deps.clock.now()}::timestamptz
    from generate_series(1, ${LANES}::integer) n`.execute(deps.db);
  const at = deps.clock.now();
  const lease = { token: randomUuid(deps.random), at, until: new Date(at.getTime() + 60_000), holder: null };
  const first = await claimDeliveries(await findTestHome(deps), () => ({ lease, free: 256, after: "" }));
  assert.deepEqual([first.deliveries.length, first.after], [0, "!0500"]);
  const second = await claimDeliveries(await findTestHome(deps), () => ({ lease, free: 256, after: first.after }));
  assert.deepEqual([second.deliveries.length, second.after], [1, ""]);
});

const isFlushed = isCluster() && "on a cluster, claims wait for the disk too (db/citus/late-commits.ts)";
test("only claims choose how their commit is flushed; reports wait for the disk as PostgreSQL is set", {
  skip: isFlushed,
}, async () => {
  await sql`create table flushes (operation text, source text)`.execute(deps.db);
  await sql`create function note_flush() returns trigger language plpgsql as $$ begin
      insert into flushes select tg_op, source from pg_settings where name = 'synchronous_commit';
      return null;
    end $$`.execute(deps.db);
  await sql`create trigger note_flush after update or delete on delivery_queue for each statement
    execute function note_flush()`.execute(deps.db);
  const receiver = await startReplying(() => ({}));
  const business = await makeBusiness(deps);
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  const loop = new DeliveryLoop(deps);
  await loop.goRound();
  await loop.settled();
  assert.equal(receiver.requests.length, 1);
  const { rows } = await sql<{ operation: string; chosen: boolean }>`
    select operation, bool_or(source = 'session') as chosen from flushes
    where operation = 'DELETE' or source = 'session' group by operation order by operation`.execute(deps.db);
  assert.deepEqual(rows, [
    { operation: "DELETE", chosen: false },
    { operation: "UPDATE", chosen: true },
  ]);
});
