import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { AppRedelivery } from "#contract/app/deliveries.ts";
import type { EndpointId, RedeliveryId } from "#contract/ids.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeWidget } from "../../../../test/support/builders.ts";
import { countBlocked } from "../../../../test/support/database/count-blocked.ts";
import { until } from "../../../../test/support/until.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readDeliveries,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { deleteBooking } from "../../bookings/stored/erase/erase.ts";
import { editEndpoint } from "../endpoints/endpoints.ts";
import { queueDeliveries } from "../outbox/queries.ts";
import { runRedeliveries, startRedelivery } from "./bulk-redelivery.ts";

// Bulk redelivery: what it chooses, that it retries, shows progress and survives crashes.

const service = await createWebhookService();
const { app, deps, clock, loop } = service;
const NOBODY_STOPS = new AbortController().signal;

async function makeTeam() {
  const business = await makeBusiness(deps);
  const reply = { status: 410 };
  const receiver = await startReplying(() => reply);
  const { id: endpoint } = await makeEndpoint(deps, business, { url: receiver.url });
  const member = await signIn(service, { role: "member", organizationId: business.owner });
  const start = async (body: object) => {
    const response = await askApp(app, member, "POST /redeliveries", { from: "2026-01-01", ...body });
    return { ...response, body: response.body as AppRedelivery };
  };
  const read = async (id: string) => (await askApp(app, member, `GET /redeliveries/${id}`)).body as AppRedelivery;
  return { business, reply, receiver, endpoint, member, start, read };
}

const enable = (business: Business, endpoint: EndpointId) =>
  editEndpoint(deps, business.owner, { id: endpoint, isEnabled: true }, noAudit);

/** Fails one delivery for good; 410 turns the endpoint off, so it is turned on again. */
async function failOne(business: Business, endpoint: EndpointId): Promise<void> {
  await book(deps, business);
  await deliverAll(loop);
  await enable(business, endpoint);
}

/** Copies the only delivery, one millisecond apart. */
async function copyFailed({ owner }: Business, endpoint: EndpointId, count: number): Promise<void> {
  await sql`
    insert into webhook_events (organization_id, id, type, body, created_at)
    select organization_id, id || '-' || n, type, body, created_at + n * interval '1 millisecond'
    from webhook_events event, generate_series(1, ${count}::integer) n where organization_id = ${owner}`.execute(
    deps.db,
  );
  await sql`
    insert into deliveries (organization_id, id, event_id, endpoint_id, state, attempt_count, retries_used, created_at)
    select organization_id, gen_random_uuid(), id, ${endpoint}, 'failed', 1, 8, created_at
    from webhook_events event where organization_id = ${owner} and id like '%-%'`.execute(deps.db);
}

test("it retries like any delivery, with the whole schedule, and shows how far it got", async () => {
  const { business, reply, receiver, endpoint, start, read, member } = await makeTeam();
  for (let count = 0; count < 3; count++) await failOne(business, endpoint);
  reply.status = 500;
  const { status, body } = await start({});
  assert.equal(status, 202);
  assert.deepEqual(body, {
    id: body.id,
    state: "finished",
    filter: {
      states: ["failed"],
      from: "2026-01-01T00:00:00.000Z",
      to: new Date(clock.now().getTime() + 1).toISOString(),
    },
    matched: 3,
    queued: 3,
    waiting: 3,
    delivered: 0,
    failed: 0,
    canceled: 0,
    createdAt: clock.now().toISOString(),
    finishedAt: clock.now().toISOString(),
  });
  await deliverAll(loop);
  const retried = await readDeliveries(deps, business.owner);
  assert.deepEqual(
    retried.map(({ state, retries_used }) => [state, retries_used]),
    Array(3).fill(["retrying", 1]),
  );
  moveClock(service, 30);
  reply.status = 200;
  await deliverAll(loop);
  const { waiting, delivered } = await read(body.id);
  assert.deepEqual({ waiting, delivered }, { waiting: 0, delivered: 3 });
  assert.equal(receiver.requests.length, 9);
  const listed = (await askApp(app, member, "GET /redeliveries")).body as { data: AppRedelivery[] };
  assert.deepEqual(listed.data, [await read(body.id)]);
  const inLog = (await askApp(app, member, `GET /deliveries?redelivery=${body.id}`)).body as { data: unknown[] };
  assert.equal(inLog.data.length, 3);
  assert.deepEqual((await readAudit(deps.db, business.owner)).at(-1), {
    action: "deliveries.redelivered",
    target: body.id,
    detail: { deliveries: 3, since: "2026-01-01T00:00:00.000Z" },
  });
});

test("it can be limited by endpoint, time, state, error and widget", async () => {
  const { business, reply, receiver, endpoint, start } = await makeTeam();
  const second = await makeEndpoint(deps, business, { url: `${receiver.url}/second` });
  const otherWidget = await makeWidget(deps.db, business.owner);
  // Two deliveries each: failed with 410, failed by the other widget, missed while off, delivered.
  await book(deps, business);
  await deliverAll(loop);
  await enable(business, endpoint);
  await enable(business, second.id);
  moveClock(service, 60);
  const from = clock.now().toISOString();
  await book(deps, { ...business, widgetId: otherWidget });
  await deliverAll(loop);
  await book(deps, business);
  await enable(business, endpoint);
  await enable(business, second.id);
  reply.status = 200;
  await book(deps, business);
  await deliverAll(loop);
  await sql`update deliveries set last_error = 'timeout', last_status = null
    where organization_id = ${business.owner} and endpoint_id = ${second.id} and state = 'failed'`.execute(deps.db);
  // biome-ignore format: one case a line
  const cases: [filter: object, matched: number][] = [
    [{}, 4],
    [{ endpoint: second.id }, 2],
    [{ from }, 2],
    [{ to: from }, 2],
    [{ error: "timeout" }, 2],
    [{ error: "http_status", from }, 1],
    [{ widget: otherWidget }, 2],
    [{ widget: business.widgetId }, 2],
    [{ states: ["canceled"] }, 2],
    [{ states: ["delivered"] }, 2],
    [{ states: ["failed", "canceled", "delivered"] }, 8],
    [{ from: new Date(clock.now().getTime() + 1).toISOString() }, 0],
  ];
  for (const [filter, matched] of cases) {
    const now = clock.now().toISOString();
    const wanted = { from: "2026-01-01", to: new Date(clock.now().getTime() + 1).toISOString(), ...filter };
    const { rows } = await sql<{ count: number }>`select count(*) as count from deliveries
      where organization_id = ${business.owner}`.execute(deps.db);
    assert.equal(rows[0]?.count, 8);
    const response = await start(wanted);
    assert.equal(response.body.matched, matched, `${JSON.stringify(filter)} at ${now}`);
    // Back to what it was, for the next case.
    await sql`delete from delivery_queue`.execute(deps.db);
    await sql`update deliveries set redelivery_id = null, state = case
        when cancel_reason is not null or completed_at is null and attempt_count = 0 then 'canceled'
        when last_error is null then 'delivered' else 'failed' end
      where organization_id = ${business.owner}`.execute(deps.db);
  }
});

test("counting says what would be sent, and sends nothing", async () => {
  const { business, receiver, endpoint, member } = await makeTeam();
  for (let count = 0; count < 2; count++) await failOne(business, endpoint);
  const sent = receiver.requests.length;
  const count = (body: object) => askApp(app, member, "POST /redeliveries/count", { from: "2026-01-01", ...body });
  assert.deepEqual((await count({})).body, { matched: 2 });
  assert.deepEqual((await count({ states: ["delivered"] })).body, { matched: 0 });
  await runRedeliveries(deps, NOBODY_STOPS);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, sent);
  await editEndpoint(deps, business.owner, { id: endpoint, isEnabled: false }, noAudit);
  assert.equal((await count({ endpoint })).status, 409);
});

test("its time can begin and end at the ends of the calendar", async () => {
  const { business, endpoint, start, read } = await makeTeam();
  await failOne(business, endpoint);
  const { status, body } = await start({ from: "0001-01-01T00:00+01:00", to: "9999-12-31T23:59:59.999999Z" });
  assert.deepEqual([status, body.state, body.matched, body.queued], [202, "finished", 1, 1]);
  assert.deepEqual(await read(body.id), body);
  const later = await start({ from: "9999-12-31T23:59:59-23:59", to: "9999-12-31T23:59:59-23:59" });
  assert.deepEqual([later.status, later.body.state, later.body.matched], [202, "finished", 0]);
  await deliverAll(loop);
});

test("what was erased, tests, and what waits already are left out", async () => {
  const { business, endpoint, start, member, reply } = await makeTeam();
  await failOne(business, endpoint);
  const reference = await book(deps, business);
  await deliverAll(loop);
  await enable(business, endpoint);
  await deleteBooking(deps, business.owner, reference);
  await askApp(app, member, `POST /endpoints/${endpoint}/test`);
  await deliverAll(loop);
  assert.equal((await start({})).body.matched, 1);
  assert.equal((await start({})).body.matched, 0, "it waits already");
  reply.status = 200;
  await deliverAll(loop);
});

test("a crash between two batches loses nothing and sends nothing twice", async () => {
  const { business, endpoint, reply, receiver } = await makeTeam();
  await failOne(business, endpoint);
  await copyFailed(business, endpoint, 1_200);
  moveClock(service, 10);
  reply.status = 200;
  const before = receiver.requests.length;
  const { owner } = business;
  const filter = { states: ["failed"], from: "2026-01-01T00:00:00.000Z", to: clock.now().toISOString() } as const;
  // The process ends right after the first batch: the task never ran here.
  const started = await startRedelivery(deps, owner, filter, async () => undefined);
  assert.ok(started.kind === "started");
  const progress = async (id: RedeliveryId) =>
    await deps.db
      .selectFrom("redeliveries")
      .select(["state", "matched", "queued"])
      .where("organization_id", "=", business.owner)
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  assert.deepEqual(await progress(started.id), { state: "running", matched: 1_201, queued: 500 });
  // Another worker fails at the end of a batch, and its transaction is rolled back.
  const onlyOneBatch = sql`check (id <> ${sql.lit(started.id)} or queued <= 500)`;
  await sql`alter table redeliveries add constraint only_one_batch ${onlyOneBatch}`.execute(deps.db);
  const refused = (error: Error) => String(error.cause).includes('"only_one_batch');
  await assert.rejects(runRedeliveries(deps, NOBODY_STOPS), refused);
  await sql`alter table redeliveries drop constraint only_one_batch`.execute(deps.db);
  assert.equal((await progress(started.id)).queued, 500);
  await Promise.all([runRedeliveries(deps, NOBODY_STOPS), runRedeliveries(deps, NOBODY_STOPS)]);
  assert.deepEqual((await progress(started.id)).queued, 1_000, "no more wait than new bookings can bear");
  await deliverAll(loop);
  await runRedeliveries(deps, NOBODY_STOPS);
  await deliverAll(loop);
  assert.deepEqual(await progress(started.id), { state: "finished", matched: 1_201, queued: 1_201 });
  assert.equal(receiver.requests.length - before, 1_201);
});

test("all redeliveries of an organization together leave room for new bookings, and share it", async () => {
  const { business, endpoint, member, read } = await makeTeam();
  await failOne(business, endpoint);
  const [copied] = await readDeliveries(deps, business.owner);
  assert.ok(copied);
  await copyFailed(business, endpoint, 4_500);
  const windowAt = (index: number) => new Date(copied.created_at.getTime() + 1 + index * 1_500).toISOString();
  const start = async (index: number) => {
    moveClock(service, 10);
    const { owner } = business;
    const filter = { states: ["failed"], from: windowAt(index), to: windowAt(index + 1) } as const;
    const started = await startRedelivery(deps, owner, filter, async () => undefined);
    assert.ok(started.kind === "started");
    return started.id;
  };
  const queue = () => deps.db.selectFrom("delivery_queue").where("organization_id", "=", business.owner);
  const send = (limit: number) =>
    deps.db
      .deleteFrom("delivery_queue")
      .where("delivery_id", "in", queue().select("delivery_id").limit(limit))
      .execute();
  const run = async (ids: readonly string[]) => {
    await runRedeliveries(deps, NOBODY_STOPS);
    const { count } = await queue()
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    assert.ok(count <= 1_000, `${count} are queued`);
    return await Promise.all(ids.map(async (id) => (await read(id)).queued));
  };

  const first = await start(0);
  assert.deepEqual(await run([first]), [1_000]);
  const ids = [first, await start(1), await start(2)];
  assert.deepEqual(await run(ids), [1_000, 0, 0]);
  await send(400);
  assert.deepEqual(await run(ids), [1_000, 334, 66], "the first one has more than its share");
  assert.equal((await askApp(app, member, `DELETE /redeliveries/${ids[1]}`)).status, 204);
  await send(1_000);
  assert.deepEqual(await run(ids), [1_500, 334, 566], "a cancelled one takes no share");
  for (let round = 0; round < 3; round++) {
    await send(1_000);
    await run(ids);
  }
  assert.deepEqual(await Promise.all(ids.map(async (id) => (await read(id)).state)), [
    "finished",
    "canceled",
    "finished",
  ]);
  assert.deepEqual(await run(ids), [1_500, 334, 1_500]);
  await send(1_000);
});

test("a later redelivery of the same deliveries leaves the progress of the earlier ones as it was", async () => {
  const { business, endpoint, start, read, reply, receiver } = await makeTeam();
  const second = await makeEndpoint(deps, business, { url: receiver.url });
  await failOne(business, endpoint);
  await enable(business, second.id);
  await failOne(business, endpoint);
  await enable(business, second.id);
  const progress = async (id: string) => {
    const { queued, waiting, delivered, failed, canceled } = await read(id);
    return { queued, waiting, delivered, failed, canceled };
  };
  const first = (await start({})).body.id;
  await deliverAll(loop);
  const ended = await progress(first);
  assert.deepEqual([ended.queued, ended.waiting, ended.failed + ended.canceled], [4, 0, 4]);
  await enable(business, endpoint);
  await enable(business, second.id);
  const next = (await start({ endpoint, states: ["failed", "canceled"] })).body.id;
  assert.deepEqual(await progress(first), ended, "while the later one waits");
  assert.deepEqual(await progress(next), { queued: 2, waiting: 2, delivered: 0, failed: 0, canceled: 0 });
  reply.status = 200;
  await deliverAll(loop);
  assert.deepEqual(await progress(first), ended, "after it");
  const delivered = { queued: 2, waiting: 0, delivered: 2, failed: 0, canceled: 0 };
  assert.deepEqual(await progress(next), delivered);
  const last = (await start({ states: ["delivered", "failed", "canceled"] })).body.id;
  await deliverAll(loop);
  assert.deepEqual([await progress(first), await progress(next)], [ended, delivered]);
  assert.deepEqual(await progress(last), { queued: 4, waiting: 0, delivered: 4, failed: 0, canceled: 0 });
});

test("overlapping redeliveries of an organization don't block each other", async () => {
  const { business, endpoint, start, read } = await makeTeam();
  const otherWidget = { ...business, widgetId: await makeWidget(deps.db, business.owner) };
  await failOne(business, endpoint);
  const wide = (await start({ to: "2100-01-01" })).body.id;
  await deliverAll(loop);
  await enable(business, endpoint);
  for (const each of [otherWidget, business]) {
    moveClock(service, 1);
    await failOne(each, endpoint);
  }
  const narrow = (await start({ to: "2100-01-01", from: "2099-01-01", widget: business.widgetId })).body.id;
  // `wide` continues after the first delivery, which `narrow` takes from it; both want the last one.
  const [first, middle] = await readDeliveries(deps, business.owner);
  assert.ok(first?.redelivery_id === wide && middle);
  const filter = JSON.stringify({
    states: ["failed"],
    from: "2020-01-01T00:00:00.000Z",
    to: "2100-01-01T00:00:00.000Z",
    widget: business.widgetId,
  });
  await sql`update redeliveries set state = 'running' where organization_id = ${business.owner}`.execute(deps.db);
  await sql`update redeliveries set filter = ${filter}::jsonb, place_at = '2020-01-01'
    where organization_id = ${business.owner} and id = ${narrow}`.execute(deps.db);

  let ended = 0;
  const run = async () => {
    await runRedeliveries(deps, NOBODY_STOPS);
    ended++;
  };
  const runs: Promise<void>[] = [];
  await deps.db.transaction().execute(async (transaction) => {
    // Until this commits, `wide` waits at the middle one.
    const held = { deliveries: [{ id: middle.id, endpointId: endpoint }], isTest: false, dueAt: clock.now() };
    await queueDeliveries(transaction, business.owner, { ...held, trigger: "manual" });
    runs.push(run());
    await until(async () => (await countBlocked(deps.db)) === 1, "the first worker waits");
    runs.push(run());
    await until(async () => ended === 1 || (await countBlocked(deps.db)) === 2, "the second worker waits or has ended");
  });
  await Promise.all(runs);
  await deliverAll(loop);
  const counts = await Promise.all([wide, narrow].map(async (id) => (await read(id)).queued));
  assert.deepEqual(counts, [2, 1], "the first of both, and the last one once");
});

test("it can be cancelled; what is queued by then is still sent", async () => {
  const { business, endpoint, start, member, reply } = await makeTeam();
  await failOne(business, endpoint);
  const { body } = await start({});
  const { status } = await askApp(app, member, `DELETE /redeliveries/${body.id}`);
  assert.equal(status, 409, "this one has ended");
  await deps.db
    .updateTable("redeliveries")
    .set({ state: "running" })
    .where("id", "=", body.id as RedeliveryId)
    .execute();
  for (let i = 0; i < 2; i++)
    assert.equal((await askApp(app, member, `DELETE /redeliveries/${body.id}`)).status, 204, "the same, once it is");
  await runRedeliveries(deps, NOBODY_STOPS);
  reply.status = 200;
  await deliverAll(loop);
  assert.deepEqual(
    (await readDeliveries(deps, business.owner)).map(({ state }) => state),
    ["delivered"],
  );
});

test("one that fails does not hold up the others", async () => {
  const teams = [await makeTeam(), await makeTeam()] as const;
  for (const { business, endpoint } of teams) await failOne(business, endpoint);
  const refuse = (condition: ReturnType<typeof sql>) =>
    sql`alter table redeliveries add constraint refused check (${condition}) not valid`.execute(deps.db);
  const accept = () => sql`alter table redeliveries drop constraint refused`.execute(deps.db);
  await refuse(sql`queued = 0`);
  const started = [await teams[0].start({}), await teams[1].start({})] as const;
  const readStates = async () => [
    (await teams[0].read(started[0].body.id)).state,
    (await teams[1].read(started[1].body.id)).state,
  ];
  await accept();
  await refuse(sql`queued = 0 or organization_id <> ${sql.lit(teams[0].business.owner)}`);
  await assert.rejects(runRedeliveries(deps, NOBODY_STOPS), /Redeliveries that could not be continued: 1/);
  assert.deepEqual(await readStates(), ["running", "finished"]);
  await accept();
  await runRedeliveries(deps, NOBODY_STOPS);
  assert.deepEqual(await readStates(), ["finished", "finished"]);
});

test("refusals say what is wrong", async () => {
  const { business, endpoint, start } = await makeTeam();
  const refusal = async (body: object) => {
    const response = await start(body);
    const { error } = response.body as unknown as { error: { code: string; fields?: object } };
    return [response.status, error.code, ...Object.keys(error.fields ?? {})];
  };
  assert.deepEqual(await refusal({ from: "yesterday" }), [422, "invalid_fields", "from"]);
  assert.deepEqual(await refusal({ to: "soon" }), [422, "invalid_fields", "to"]);
  assert.deepEqual(await refusal({ states: [] }), [422, "invalid_fields", "states"]);
  assert.deepEqual(await refusal({ to: "2025-12-31" }), [422, "invalid_fields", "to"]);
  for (const [field, value] of [
    ["endpoint", ""],
    ["endpoint", "we_\0"],
    ["widget", ""],
    ["widget", "w_\0"],
    ["widgetId", "w_1111111111111"],
  ])
    assert.deepEqual(await refusal({ [field as string]: value }), [422, "invalid_fields", field], "sends nothing");
  assert.deepEqual(await refusal({ endpoint: "we_1111111111111111" }), [404, "not_found"]);
  await editEndpoint(deps, business.owner, { id: endpoint, isEnabled: false }, noAudit);
  const { status, body } = await start({ endpoint });
  const error = { code: "endpoint_disabled", message: "This endpoint is off. Turn it on first." };
  assert.deepEqual([status, body], [409, { error }]);
});
