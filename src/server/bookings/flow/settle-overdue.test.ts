import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { findEverywhere } from "../../../../test/support/database/search-database.ts";
import { DIRECT_HIT } from "../../../../test/support/funnel/hits.ts";
import { type CalcomServer, startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { addConnection, removeConnection } from "../../scheduler/connections/connections.ts";
import { openConnection } from "../../scheduler/open-system.ts";
import type { Outbound } from "../../scheduler/outbound.ts";
import { eraseBookingsByEmail } from "../stored/erase/erase.ts";
import { reserveReference } from "../stored/queries.ts";
import { insertPending } from "./pending-queries.ts";
import { takeReference } from "./reference.ts";
import { settleOverdue } from "./settle-overdue.ts";

const { deps, clock, lines } = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
const { db } = deps;
after(() => deps.scheduler.outbound.close());

const NEVER = new AbortController().signal;
const START = new Date("2026-11-02T08:00:00.000Z");
const CHECK_UP = "10";

type Practice = { owner: OrganizationId; widgetId: WidgetId; connectionId: ConnectionId; server: CalcomServer };

/** A business that books through its own Cal.com. */
async function makePractice(): Promise<Practice> {
  const server = await startCalcomServer();
  after(() => server.stop());
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner);
  const connectionId = await connect(owner, server);
  await giveConnection(widgetId, connectionId);
  return { owner, widgetId, connectionId, server };
}

async function connect(owner: OrganizationId, server: CalcomServer): Promise<ConnectionId> {
  const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...server.parts }, noAudit);
  assert.ok(added.kind === "added", JSON.stringify(added));
  return added.id;
}

async function giveConnection(widgetId: WidgetId, connectionId: ConnectionId | null): Promise<void> {
  await db.updateTable("widgets").set({ connection_id: connectionId }).where("id", "=", widgetId).execute();
}

/** The state a process leaves when it ends before settling a request; the appointment exists unless the request was lost. */
async function leaveUnsettled(
  practice: Practice,
  options: { email?: string; hit?: object; isLost?: boolean; askedIn?: ConnectionId } = {},
): Promise<Reference> {
  const { owner, widgetId, connectionId } = practice;
  const reference = await takeReference(db, owner, deps.random);
  const customer = { name: "Mara Quell", email: options.email ?? "mara@example.com", phone: null, notes: null };
  const copy = { timeZone: "Europe/Berlin", customer, answers: [], attribution: {} };
  await insertPending(db, owner, {
    reference,
    widget_id: widgetId,
    asked_in: options.askedIn ?? connectionId,
    keyHash: Buffer.from(reference),
    visitHash: Buffer.from(reference),
    service_id: CHECK_UP,
    start_at: START,
    askingUntil: new Date(clock.now().getTime() - 1),
    hit: { ...DIRECT_HIT, ...options.hit },
    copy,
    now: clock.now(),
  });
  if (!options.isLost) await makeAppointment(practice, { reference, customer });
  return reference;
}

async function makeAppointment(
  { owner, connectionId }: Practice,
  { reference, customer }: { reference: Reference; customer: { name: string; email: string } },
): Promise<void> {
  const system = await openConnection(deps, owner, connectionId);
  const visitor = { ...customer, phone: null, notes: null, timeZone: "Europe/Berlin", locale: "de" };
  const wish = { reference, serviceId: CHECK_UP, startAt: START, staffId: null, customer: visitor, answers: [] };
  assert.equal((await system?.book(wish))?.kind, "booked");
}

async function listStored(owner: OrganizationId) {
  return await db
    .selectFrom("bookings")
    .select(["reference", "staff", "customer_email"])
    .where("organization_id", "=", owner)
    .execute();
}

async function readState(reference: Reference) {
  const { rows } = await sql<{ state: string; failure: string | null; answer: object | null }>`
    select state, failure, answer from pending_bookings where reference = ${reference}`.execute(db);
  return rows[0];
}

/** Time passes, and settled requests are forgotten. */
async function forgetAll(): Promise<void> {
  await sql`delete from pending_bookings`.execute(db);
  clock.set(NOON);
}

test("a booking that cannot be settled holds up neither the others nor the clean-up", async () => {
  const [bad, good] = [await makePractice(), await makePractice()];
  const poison = await leaveUnsettled(bad, { hit: { visitId: null } });
  const other = await leaveUnsettled(good);
  const old = await leaveUnsettled(good, { isLost: true });
  await sql`update pending_bookings set state = 'failed', failure = 'lost', copy = null,
    settled_at = ${new Date(NOON.getTime() - 2 * DAY_MS)} where reference = ${old}`.execute(db);

  await settleOverdue(deps, NEVER);

  assert.deepEqual(
    (await listStored(good.owner)).map(({ reference }) => reference),
    [other],
  );
  assert.equal((await readState(poison))?.state, "asking", "it is looked for again");
  assert.equal(await readState(old), undefined);
  assert.equal(await reserveReference(db, good.owner, old), false, "the system may have it");
  const said = lines.map((line) => JSON.parse(line)).filter(({ name }) => name === "booking.settle_failed");
  assert.deepEqual(
    said.map(({ organizationId, widgetId }) => [organizationId, widgetId]),
    [[bad.owner, bad.widgetId]],
  );
  await forgetAll();
});

test("all requests that were settled more than half an hour ago are forgotten in one run", async () => {
  const practice = await makePractice();
  const model = await leaveUnsettled(practice, { isLost: true });
  await sql`
    update pending_bookings set state = 'failed', failure = 'lost', copy = null,
      settled_at = ${new Date(NOON.getTime() - 30 * MINUTE_MS - 1)} where reference = ${model}`.execute(db);
  await sql`
    insert into pending_bookings (organization_id, reference, widget_id, asked_in, key_hash, service_id, start_at, state,
      asking_until, touch, failure, created_at, settled_at)
    select organization_id, reference || number, widget_id, asked_in, key_hash || convert_to(number::text, 'UTF8'), service_id,
      start_at, state, asking_until, touch, failure, created_at, settled_at
    from pending_bookings cross join generate_series(1, 1100) number
    where organization_id = ${practice.owner} and reference = ${model}`.execute(db);
  const recent = await leaveUnsettled(practice, { isLost: true });
  await sql`
    update pending_bookings set state = 'failed', failure = 'lost', copy = null, settled_at = ${new Date(NOON.getTime() - 30 * MINUTE_MS)}
    where reference = ${recent}`.execute(db);

  await settleOverdue(deps, NEVER);

  const { rows: left } = await sql`select reference from pending_bookings`.execute(db);
  assert.deepEqual(left, [{ reference: recent }]);
  await forgetAll();
});

test("characters that PostgreSQL cannot store are removed and never fail a booking", async () => {
  const practice = await makePractice();
  const reference = await leaveUnsettled(practice);
  const [booking] = practice.server.bookings;
  assert.ok(booking);
  booking.hosts = [{ id: 7, name: "Lin\u0000den\ud800hof" }];
  await settleOverdue(deps, NEVER);
  const [stored] = await listStored(practice.owner);
  assert.deepEqual([stored?.reference, stored?.staff], [reference, [{ id: "7", name: "Linden\uFFFDhof" }]]);
  await forgetAll();
});

test("ten unresponsive systems are queried in parallel", async () => {
  const practice = await makePractice();
  const references = [];
  for (let n = 0; n < 10; n++) references.push(await leaveUnsettled(practice, { isLost: true }));
  // The version of the API is found out once, for all of them.
  const system = await openConnection(deps, practice.owner, practice.connectionId);
  await system?.findByReference({ reference: references[0] ?? assert.fail(), serviceId: CHECK_UP, startAt: START });
  const ending = new AbortController();
  let asked = 0;
  const onArrival = () => {
    asked += 1;
    if (asked === 10) ending.abort();
  };
  practice.server.injectFault("GET /bookings", ...Array(10).fill({ reply: "hang", onArrival }));
  await settleOverdue(deps, ending.signal);
  assert.equal(asked, 10);
  await forgetAll();
});

test("a customer erased while their booking is looked up stays erased", async () => {
  const practice = await makePractice();
  const { owner } = practice;
  const email = "erased-late@example.com";
  const reference = await leaveUnsettled(practice, { email });
  let isErased = false;
  const outbound: Outbound = {
    ...deps.scheduler.outbound,
    send: async (request, signal) => {
      if (!isErased) await eraseBookingsByEmail(deps, owner, email);
      isErased = true;
      return await deps.scheduler.outbound.send(request, signal);
    },
  };
  await settleOverdue({ ...deps, scheduler: { ...deps.scheduler, opened: new RecentMap(1), outbound } }, NEVER);
  assert.equal(isErased, true);
  assert.deepEqual(await readState(reference), { state: "confirmed", failure: null, answer: null });
  assert.deepEqual(await listStored(owner), []);
  assert.deepEqual(await findEverywhere(db, email), []);
  const uid = practice.server.bookings[0]?.uid;
  assert.ok(uid && !JSON.stringify(await dumpPending()).includes(uid), "nor is the link to manage it kept");
  await forgetAll();
});

async function dumpPending(): Promise<unknown> {
  return (await sql`select row_to_json(pending_bookings) from pending_bookings`.execute(db)).rows;
}

test("the lookup goes to the system that took the request, even if the widget now uses another", async () => {
  const practice = await makePractice();
  const { owner, widgetId, connectionId } = practice;
  const reference = await leaveUnsettled(practice);
  const elsewhere = await startCalcomServer();
  after(() => elsewhere.stop());
  await giveConnection(widgetId, await connect(owner, elsewhere));
  const before = elsewhere.requests.length;

  assert.deepEqual(await removeConnection(deps, owner, connectionId), { kind: "booking_under_way" });
  await settleOverdue(deps, NEVER);

  assert.equal(elsewhere.requests.length, before, "the other one is not asked");
  assert.deepEqual(
    (await listStored(owner)).map((booking) => booking.reference),
    [reference],
  );
  assert.deepEqual(await removeConnection(deps, owner, connectionId), { kind: "removed" }, "once it is settled");
  await forgetAll();
});

/** The next look-up, when it is due. Returns how many minutes passed until then. */
async function lookWhenDue(reference: Reference): Promise<number> {
  const { rows } = await sql<{ asking_until: Date }>`
    select asking_until from pending_bookings where reference = ${reference}`.execute(db);
  const dueAt = rows[0]?.asking_until ?? assert.fail();
  const before = clock.now();
  clock.set(dueAt > before ? dueAt : before);
  await settleOverdue(deps, NEVER);
  return (clock.now().getTime() - before.getTime()) / MINUTE_MS;
}

test("if that connection was deleted, the booking fails after half an hour", async () => {
  const practice = await makePractice();
  const reference = await leaveUnsettled(practice, { askedIn: "conn_gone" as ConnectionId });
  let minutes = 0;
  while ((await readState(reference))?.state === "asking") minutes += await lookWhenDue(reference);
  assert.equal(Math.floor(minutes), 29);
  await forgetAll();
});

test("a clock that jumps ahead gives nothing up before the last look-up", async () => {
  const practice = await makePractice();
  const reference = await leaveUnsettled(practice, { isLost: true });
  clock.set(new Date(NOON.getTime() + 2 * DAY_MS));
  for (let lookUps = 0; lookUps < 5; lookUps++) await lookWhenDue(reference);
  assert.equal((await readState(reference))?.state, "asking");
  await makeAppointment(practice, { reference, customer: { name: "Mara Quell", email: "mara@example.com" } });
  await lookWhenDue(reference);
  assert.equal((await readState(reference))?.state, "confirmed");
  await forgetAll();
});

const BUSY = { reply: { status: 503, json: {} } };

test("a clock that is set back keeps no booking uncertain", async () => {
  const practice = await makePractice();
  const reference = await leaveUnsettled(practice, { isLost: true });
  await settleOverdue(deps, NEVER);
  clock.set(new Date(NOON.getTime() - DAY_MS));
  await makeAppointment(practice, { reference, customer: { name: "Mara Quell", email: "mara@example.com" } });
  await settleOverdue(deps, NEVER);
  assert.equal((await readState(reference))?.state, "confirmed");
  await forgetAll();
});

test("a system that answers no look-up for a day is given up, and not earlier", async () => {
  const practice = await makePractice();
  const reference = await leaveUnsettled(practice);
  practice.server.injectFault("GET /bookings", ...Array(200).fill(BUSY));
  let minutes = 0;
  while ((await readState(reference))?.state === "asking") minutes += await lookWhenDue(reference);
  assert.deepEqual(await readState(reference), { state: "failed", failure: "lost", answer: null });
  assert.equal(Math.round(minutes / 60), 24);
  practice.server.stopFaults();
  await forgetAll();
});

test("a system that answers within that day is believed", async () => {
  const practice = await makePractice();
  const reference = await leaveUnsettled(practice);
  practice.server.injectFault("GET /bookings", ...Array(200).fill(BUSY));
  for (let lookUps = 0; lookUps < 20; lookUps++) await lookWhenDue(reference);
  practice.server.stopFaults();
  await lookWhenDue(reference);
  assert.equal((await readState(reference))?.state, "confirmed");
  await forgetAll();
});

test("a lookup that is broken off because the process ends gives nothing up", async () => {
  const practice = await makePractice();
  const reference = await leaveUnsettled(practice);
  await sql`update pending_bookings set look_ups = 1000 where reference = ${reference}`.execute(db);
  const ending = new AbortController();
  practice.server.injectFault("GET /bookings", { reply: "hang", onArrival: () => ending.abort() });
  await settleOverdue(deps, ending.signal);
  assert.equal((await readState(reference))?.state, "asking");
  await forgetAll();
});
