import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { sql } from "kysely";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeOrganization, NOON } from "../../../../test/support/builders.ts";
import { type CalcomServer, startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import {
  type CalendlyServer,
  startCalendlyServer,
} from "../../../../test/support/scheduler/calendly/calendly-server.ts";
import { createOpenDeps } from "../../../../test/support/scheduler/open-deps.ts";
import { addConnection, changeConnection, removeConnection } from "../connections/connections.ts";
import { findConnection } from "../connections/queries.ts";
import type { Outbound } from "../outbound.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import { keepSubscriptions } from "./keep-subscriptions.ts";

const { deps, clock, pool } = await createOpenDeps();
const { db } = deps;
const NEVER = new AbortController().signal;
const inMs = (ms: number) => new Date(NOON.getTime() + ms);

/** Everything that is due now. */
async function keepAt(instant: Date, using: OpenDeps = deps): Promise<void> {
  clock.set(instant);
  await keepSubscriptions(using, NEVER);
}

type Connected<Server> = { server: Server; owner: OrganizationId; id: ConnectionId };

async function connect(server: CalcomServer | CalendlyServer, kind: "calcom" | "calendly") {
  clock.set(NOON);
  after(async () => {
    await server.stop();
    assert.deepEqual(server.faults, []);
  });
  const owner = await makeOrganization(db);
  const added = await addConnection(deps, owner, { kind, name: "Practice", ...server.parts }, noAudit);
  assert.ok(added.kind === "added", added.kind);
  return { owner, id: added.id };
}

async function connectCalcom(): Promise<Connected<CalcomServer>> {
  const server = await startCalcomServer();
  return { server, ...(await connect(server, "calcom")) };
}

async function connectCalendly(): Promise<Connected<CalendlyServer>> {
  const server = await startCalendlyServer(NOON);
  return { server, ...(await connect(server, "calendly")) };
}

async function readPollDue({ owner, id }: Pick<Connected<never>, "owner" | "id">): Promise<Date | null> {
  const { rows } = await sql<{ due: Date | null }>`
    select changes_due_at as due from scheduling_connections where organization_id = ${owner} and id = ${id}`.execute(
    db,
  );
  return rows[0]?.due ?? null;
}

async function setPollDue({ owner, id }: Pick<Connected<never>, "owner" | "id">, due: Date): Promise<void> {
  await sql`update scheduling_connections set changes_due_at = ${due} where organization_id = ${owner} and id = ${id}`.execute(
    db,
  );
}

test("a new Cal.com connection gets notices of changes, signed with a secret that is stored sealed", async () => {
  const { server, owner, id } = await connectCalcom();
  await keepAt(NOON);
  const [webhook, ...others] = server.webhooks.list;
  assert.ok(webhook && others.length === 0);
  assert.deepEqual(
    [webhook.subscriberUrl, webhook.triggers, webhook.active],
    [`https://book.example.com/change-notices/${owner}/${id}`, ["BOOKING_CANCELLED", "BOOKING_RESCHEDULED"], true],
  );
  assert.match(webhook.secret, /^[0-9a-f]{64}$/);
  const { rows } = await pool.query(
    "select subscription_secret as sealed, t::text as whole from scheduling_connections t",
  );
  for (const { sealed, whole } of rows) {
    assert.ok(!`${whole}`.includes(webhook.secret));
    assert.ok(!sealed?.includes(Buffer.from(webhook.secret, "hex")) && !sealed?.includes(webhook.secret));
  }
  assert.equal((await findConnection(db, owner, id))?.subscription_id, webhook.id);
});

test("a new Calendly connection gets notices of its user's appointments, or of its organization's with round robin", async () => {
  for (const [isAdmin, scope] of [
    [false, "user"],
    [true, "organization"],
  ] as const) {
    const server = await startCalendlyServer(NOON);
    server.isAdmin = isAdmin;
    await connect(server, "calendly");
    await keepAt(NOON);
    assert.deepEqual(
      server.webhooks.list.map((one) => [one.scope, one.events]),
      [[scope, ["invitee.created", "invitee.canceled"]]],
    );
  }
});

test("nothing is subscribed while BASE_URL is this computer, and what was subscribed is removed", async () => {
  const { server } = await connectCalcom();
  for (const baseUrl of ["http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000"]) {
    await keepAt(new Date(clock.now().getTime() + DAY_MS), { ...deps, scheduler: { ...deps.scheduler, baseUrl } });
    assert.equal(server.webhooks.list.length, 0);
  }
  await keepAt(new Date(clock.now().getTime() + DAY_MS));
  assert.equal(server.webhooks.list.length, 1, "once it is a public one");
  const baseUrl = "http://localhost:3000";
  await keepAt(new Date(clock.now().getTime() + HOUR_MS), { ...deps, scheduler: { ...deps.scheduler, baseUrl } });
  assert.equal(server.webhooks.list.length, 0);
});

test("turning “Follow changes” off removes the subscription, and turning it on makes another with its own secret", async () => {
  for (const { server, owner, id } of [await connectCalcom(), await connectCalendly()]) {
    await keepAt(NOON);
    const [first] = server.webhooks.list;
    await changeConnection(deps, owner, { id, followsChanges: false });
    await keepAt(NOON);
    assert.deepEqual([server.webhooks.list, (await findConnection(db, owner, id))?.subscription_id], [[], null]);
    await keepAt(inMs(2 * DAY_MS));
    assert.equal(server.webhooks.list.length, 0);
    await changeConnection(deps, owner, { id, followsChanges: true });
    await keepAt(inMs(2 * DAY_MS));
    assert.equal(server.webhooks.list.length, 1);
    assert.notDeepEqual(server.webhooks.list, [first]);
  }
});

test("deleting a connection removes its subscription", async () => {
  for (const { server, owner, id } of [await connectCalcom(), await connectCalendly()]) {
    await keepAt(NOON);
    assert.equal(server.webhooks.list.length, 1);
    assert.equal((await removeConnection(deps, owner, id)).kind, "removed");
    assert.equal(server.webhooks.list.length, 0);
  }
});

test("a connection is deleted although its system doesn't answer", async () => {
  const { server, owner, id } = await connectCalcom();
  await keepAt(NOON);
  await server.stop();
  assert.equal((await removeConnection(deps, owner, id)).kind, "removed");
});

test("another account gets its own subscription, and that of the former account is removed", async () => {
  const { server: former, owner, id } = await connectCalcom();
  await keepAt(NOON);
  const server = await startCalcomServer();
  after(() => server.stop());
  assert.equal((await changeConnection(deps, owner, { id, parts: server.parts })).kind, "changed");
  assert.deepEqual([former.webhooks.list, server.webhooks.list], [[], []]);
  await keepAt(NOON);
  assert.deepEqual([former.webhooks.list.length, server.webhooks.list.length], [0, 1]);
});

test("what is left of an earlier subscription to the same address is replaced", async () => {
  const [calcom, calendly] = [await connectCalcom(), await connectCalendly()];
  const before: string[] = [];
  for (const { server, owner, id } of [calcom, calendly]) {
    await keepAt(NOON);
    before.push(JSON.stringify(server.webhooks.list));
    // As if the process had ended before it could write down what it made.
    await sql`update scheduling_connections set subscription_id = null, subscription_due_at = ${NOON}
      where organization_id = ${owner} and id = ${id}`.execute(db);
  }
  await keepAt(NOON);
  for (const [index, { server }] of [calcom, calendly].entries()) {
    assert.equal(server.webhooks.list.length, 1);
    assert.notEqual(JSON.stringify(server.webhooks.list), before[index]);
  }
});

test("a subscription that Calendly has switched off is replaced within an hour, and missed changes are asked for at once", async () => {
  const { server, ...connection } = await connectCalendly();
  await keepAt(NOON);
  const [subscription] = server.webhooks.list;
  assert.ok(subscription);
  await setPollDue(connection, inMs(DAY_MS));
  await keepAt(inMs(HOUR_MS));
  assert.deepEqual(server.webhooks.list, [subscription]);
  assert.deepEqual(await readPollDue(connection), inMs(DAY_MS));
  subscription.state = "disabled";
  await keepAt(inMs(2 * HOUR_MS));
  const [next, ...others] = server.webhooks.list;
  assert.ok(next && others.length === 0 && next.uri !== subscription.uri && next.state === "active");
  assert.deepEqual(await readPollDue(connection), inMs(2 * HOUR_MS));
});

test("while Calendly can't deliver, changes are asked for every hour", async () => {
  const { server, ...connection } = await connectCalendly();
  await keepAt(NOON);
  const [subscription] = server.webhooks.list;
  assert.ok(subscription);
  subscription.retry_started_at = "2026-11-01T11:30:00.000000Z";
  await setPollDue(connection, inMs(DAY_MS));
  await keepAt(inMs(HOUR_MS));
  assert.deepEqual(await readPollDue(connection), inMs(HOUR_MS));
  assert.deepEqual(server.webhooks.list, [subscription]);
});

test("a webhook that somebody deletes, turns off or changes in Cal.com is made again", async () => {
  const { server } = await connectCalcom();
  await keepAt(NOON);
  const spoil: ((webhook: CalcomServer["webhooks"]["list"][number]) => unknown)[] = [
    () => server.webhooks.list.pop(),
    (webhook) => (webhook.active = false),
    (webhook) => (webhook.triggers = ["BOOKING_CANCELLED"]),
    (webhook) => (webhook.subscriberUrl = "https://elsewhere.example.com"),
  ];
  for (const [index, change] of spoil.entries()) {
    const [webhook] = server.webhooks.list;
    assert.ok(webhook);
    change(webhook);
    await keepAt(inMs((index + 1) * HOUR_MS));
    const [next, ...others] = server.webhooks.list;
    assert.ok(next && next.id !== webhook.id && others.length === 0, `change ${index}`);
    assert.deepEqual([next.active, next.triggers.length], [true, 2]);
  }
});

test("a plan without notices is asked again a day later, and the connection stays healthy", async () => {
  const { server, owner, id } = await connectCalendly();
  server.webhooks.isPaid = false;
  await keepAt(NOON);
  const row = await findConnection(db, owner, id);
  assert.deepEqual([row?.subscription_id, row?.last_error, row?.follows_changes], [null, null, true]);
  server.webhooks.isPaid = true;
  await keepAt(inMs(DAY_MS - 1));
  assert.equal(server.webhooks.list.length, 0);
  await keepAt(inMs(DAY_MS));
  assert.equal(server.webhooks.list.length, 1);
});

test("a system that doesn't answer is asked again ten minutes later, and a subscription isn't given up for that", async () => {
  const { server, owner, id } = await connectCalcom();
  const down = { reply: { status: 503, json: {} } };
  server.injectFault("POST /webhooks", down);
  await keepAt(NOON);
  assert.equal(server.webhooks.list.length, 0);
  await keepAt(inMs(10 * MINUTE_MS));
  assert.equal(server.webhooks.list.length, 1);
  const subscriptionId = server.webhooks.list[0]?.id;
  server.injectFault("GET /webhooks", down);
  await keepAt(inMs(70 * MINUTE_MS));
  assert.equal((await findConnection(db, owner, id))?.subscription_id, subscriptionId);
  assert.deepEqual(server.webhooks.list.length, 1);
});

test("a system that doesn't answer delays no subscription of another connection", async () => {
  const connected = [await connectCalcom(), await connectCalcom()];
  const { outbound } = deps.scheduler;
  const asked = new Set<string>();
  const bothAsked = Promise.withResolvers<"both">();
  const endings = new Set<string>();
  const send: Outbound["send"] = async (request, signal) => {
    asked.add(new URL(request.url).origin);
    if (asked.size === 2) bothAsked.resolve("both");
    endings.add(await Promise.race([bothAsked.promise, once(signal, "abort").then(() => "given up")]));
    return await outbound.send(request, signal);
  };
  await keepAt(NOON, { ...deps, scheduler: { ...deps.scheduler, outbound: { ...outbound, send } } });
  assert.deepEqual([...endings], ["both"]);
  assert.deepEqual(
    connected.map(({ server }) => server.webhooks.list.length),
    [1, 1],
  );
});

test("a connection that is turned off while it is being subscribed keeps no subscription", async () => {
  const { server, owner, id } = await connectCalcom();
  let turnedOff: Promise<unknown> = Promise.resolve();
  const turnOff = () => {
    turnedOff = changeConnection(deps, owner, { id, followsChanges: false });
  };
  // The reply is held back until the switch is off.
  server.injectFault("POST /webhooks", {
    reply: { status: 429, json: {}, headers: { "Retry-After": "1" } },
    onArrival: turnOff,
  });
  await keepAt(NOON);
  await turnedOff;
  assert.deepEqual(server.webhooks.list, []);
  assert.equal((await findConnection(db, owner, id))?.subscription_id, null);
});
