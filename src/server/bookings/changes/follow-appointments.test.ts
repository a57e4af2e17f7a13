import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeBooking, makeOrganization, makeWidget, NOON, updateWidget } from "../../../../test/support/builders.ts";
import {
  addCalcomBooking,
  cancelCalcomBooking,
  findCalcomBooking,
  moveCalcomBooking,
} from "../../../../test/support/scheduler/calcom/calcom-changes.ts";
import { type CalcomServer, startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { startGraphServer } from "../../../../test/support/scheduler/graph/graph-server.ts";
import { createOpenDeps } from "../../../../test/support/scheduler/open-deps.ts";
import { silence } from "../../../../test/support/scheduler/silence.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { addConnection, changeConnection } from "../../scheduler/connections/connections.ts";
import type { Outbound } from "../../scheduler/outbound.ts";
import { deleteBooking } from "../stored/erase/erase.ts";
import { listChanges } from "./change-queries.ts";
import { markDue } from "./check-queries.ts";
import { followAppointments } from "./follow-appointments.ts";
import { pollConnections } from "./poll-connections.ts";

// Appointments at the stand-in for Cal.com, cancelled and moved there.

const { deps, clock, lines } = await createOpenDeps();
const { db } = deps;
const server = await startCalcomServer();
after(() => server.stop());
const NEVER = new AbortController().signal;

type Setting = { owner: OrganizationId; widgetId: WidgetId; connectionId: ConnectionId };

async function connect(to = server): Promise<Setting> {
  const owner = await makeOrganization(db, { plan: "business" });
  const widgetId = await makeWidget(db, owner);
  const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...to.parts }, noAudit);
  assert.ok(added.kind === "added", added.kind);
  return { owner, widgetId, connectionId: added.id };
}

let slots = 0;

/** An appointment of its own time, with its stored booking. */
async function book({ owner, widgetId, connectionId }: Setting): Promise<Reference> {
  const startAt = new Date(NOON.getTime() + 30 * DAY_MS + slots++ * HOUR_MS);
  const endAt = new Date(startAt.getTime() + 30 * MINUTE_MS);
  const uid = `uid${server.bookings.length + 1}`;
  const { reference } = await makeBooking(db, owner, {
    widgetId,
    asked_in: connectionId,
    external_id: uid,
    service_id: "10",
    start_at: startAt,
    end_at: endAt,
    manage_url: `https://app.cal.com/booking/${uid}`,
  });
  addCalcomBooking(server.bookings, { reference, uid, startAt, endAt, updatedAt: NOON });
  return reference as Reference;
}

function cancelThere(of: CalcomServer, reference: Reference): void {
  const booking = findCalcomBooking(of.bookings, reference);
  if (booking.status === "accepted") cancelCalcomBooking(of.bookings, booking);
}

function moveThere(of: CalcomServer, reference: Reference, startAt: Date): void {
  moveCalcomBooking(of.bookings, findCalcomBooking(of.bookings, reference), startAt);
}

async function readCopy(owner: OrganizationId) {
  const { rows } = await sql<{ reference: Reference; status: string; start: Date; uid: string }>`
    select reference, status, start_at as start, external_id as uid from bookings
    where organization_id = ${owner} order by reference`.execute(db);
  return rows;
}

/** Polls once more, and follows until nothing is due. */
async function catchUp(): Promise<void> {
  clock.set(new Date(clock.now().getTime() + HOUR_MS));
  await pollConnections(deps, NEVER);
  for (let left = 1; left > 0; ) {
    await followAppointments(deps, NEVER);
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from appointment_checks where due_at <= ${clock.now()}`.execute(db);
    left = rows[0]?.count ?? 0;
  }
}

test("polling finds what was cancelled and moved, and asks for nothing else", async () => {
  clock.set(NOON);
  const setting = await connect();
  const [cancelled, moved] = [await book(setting), await book(setting), await book(setting)];
  await catchUp();
  const later = new Date(NOON.getTime() + 90 * DAY_MS);
  cancelThere(server, cancelled);
  moveThere(server, moved, later);
  await catchUp();
  const copy = await readCopy(setting.owner);
  assert.equal(copy.find(({ reference }) => reference === cancelled)?.status, "cancelled");
  assert.deepEqual(copy.find(({ reference }) => reference === moved)?.start, later);
  const before = server.requests.length;
  await catchUp();
  const readAlone = server.requests.slice(before).filter(({ path }) => path.startsWith("/v2/bookings/"));
  assert.deepEqual(readAlone, []);
  assert.equal((await listChanges(db, setting.owner, { from: NOON, before: null, limit: 100 })).length, 2);
});

test("someone who was asked to choose another time, and does weeks after the first one has passed, is found by polling", async () => {
  clock.set(NOON);
  const setting = await connect();
  const reference = await book(setting);
  cancelThere(server, reference);
  await catchUp();
  clock.set(new Date(NOON.getTime() + 60 * DAY_MS));
  await catchUp();
  const later = new Date(NOON.getTime() + 90 * DAY_MS);
  moveThere(server, reference, later);
  await catchUp();
  const [copy] = await readCopy(setting.owner);
  assert.deepEqual([copy?.status, copy?.start], ["confirmed", later]);
});

test("nothing is asked or changed while “Follow changes” is off", async () => {
  clock.set(NOON);
  const setting = await connect();
  const reference = await book(setting);
  await changeConnection(deps, setting.owner, { id: setting.connectionId, followsChanges: false });
  cancelThere(server, reference);
  await catchUp();
  assert.deepEqual(
    (await readCopy(setting.owner)).map(({ status }) => status),
    ["confirmed"],
  );
});

test("while Store bookings is off, nothing is asked, written or logged; afterwards the booking catches up", async () => {
  clock.set(NOON);
  const setting = await connect();
  const reference = await book(setting);
  const setStoring = (collect_data: boolean) => updateWidget(db, setting.widgetId, { collect_data });
  await setStoring(false);
  cancelThere(server, reference);
  const [requests, logged] = [server.requests.length, lines.length];
  await markDue(db, setting.owner, { references: [reference], now: clock.now() });
  for (let i = 0; i < 3; i++) {
    await followAppointments(deps, NEVER);
    clock.set(new Date(clock.now().getTime() + HOUR_MS));
  }
  assert.deepEqual([server.requests.length, lines.length], [requests, logged]);
  assert.deepEqual(
    (await readCopy(setting.owner)).map(({ status }) => status),
    ["confirmed"],
  );
  await setStoring(true);
  await followAppointments(deps, NEVER);
  assert.equal((await listChanges(db, setting.owner, { from: NOON, before: null, limit: 10 })).length, 1);
});

test("bookings of the account that a connection had before are left as they are", async () => {
  clock.set(NOON);
  const [former, next] = [await startGraphServer(), await startGraphServer()];
  after(() => Promise.all([former.stop(), next.stop()]));
  const owner = await makeOrganization(db, { plan: "business" });
  const kind = "microsoft-bookings";
  const added = await addConnection(deps, owner, { kind, name: "Practice", ...former.parts }, noAudit);
  assert.ok(added.kind === "added", added.kind);
  const { id } = added;
  const startAt = new Date(NOON.getTime() + 30 * DAY_MS);
  const times = { start_at: startAt, end_at: new Date(startAt.getTime() + 30 * MINUTE_MS) };
  const widgetId = await makeWidget(db, owner);
  const store = async (external_id: string) =>
    (await makeBooking(db, owner, { widgetId, asked_in: id, external_id, ...times })).reference as Reference;
  const ofFormer = await store("made-in-the-former-account");
  clock.set(new Date(NOON.getTime() + HOUR_MS));
  assert.equal((await changeConnection(deps, owner, { id, parts: next.parts })).kind, "changed");
  await markDue(db, owner, { references: [ofFormer], now: clock.now() });
  await catchUp();
  assert.deepEqual(
    (await readCopy(owner)).map(({ status }) => status),
    ["confirmed"],
  );
  // In the account that it has now, an appointment that is gone was cancelled.
  clock.set(new Date(clock.now().getTime() + HOUR_MS));
  const ofNext = await store("gone-from-the-new-account");
  await db.updateTable("bookings").set({ created_at: clock.now() }).where("reference", "=", ofNext).execute();
  assert.equal((await changeConnection(deps, owner, { id, parts: next.parts })).kind, "changed", "the same account");
  await catchUp();
  const copy = await readCopy(owner);
  assert.equal(copy.find(({ reference }) => reference === ofFormer)?.status, "confirmed");
  assert.equal(copy.find(({ reference }) => reference === ofNext)?.status, "cancelled");
});

test("a notice about an appointment that the system doesn't know changes nothing", async () => {
  clock.set(NOON);
  const setting = await connect();
  const reference = await book(setting);
  await db.updateTable("bookings").set({ external_id: "gone" }).where("reference", "=", reference).execute();
  await markDue(db, setting.owner, { references: [reference], now: clock.now() });
  await catchUp();
  assert.deepEqual(
    (await readCopy(setting.owner)).map(({ status }) => status),
    ["confirmed"],
  );
});

test("a system that doesn't answer holds up no appointment of another organization", async () => {
  clock.set(NOON);
  const silent = await startCalcomServer();
  after(() => silent.stop());
  const [waiting, other] = [await connect(silent), await connect()];
  const references: Reference[] = [];
  for (let n = 0; n < 60; n++) references.push(await book(waiting));
  await markDue(db, waiting.owner, { references, now: clock.now() });
  const reference = await book(other);
  cancelThere(server, reference);
  clock.set(new Date(NOON.getTime() + MINUTE_MS));
  await markDue(db, other.owner, { references: [reference], now: clock.now() });
  const { scheduler } = deps;
  const { outbound, endings } = silence(scheduler.outbound, silent.parts.settings.apiUrl);
  const opened = new RecentMap<ConnectionId, never>(10);
  await followAppointments({ ...deps, scheduler: { ...scheduler, opened, outbound } }, NEVER);
  assert.deepEqual(new Set(endings), new Set(["another answered"]));
  assert.deepEqual(
    (await readCopy(other.owner)).map(({ status }) => status),
    ["cancelled"],
  );
});

for (const [what, meanwhile, expected] of [
  [
    "while Store bookings is being turned off",
    ({ widgetId }: Setting) => updateWidget(db, widgetId, { collect_data: false }),
    ["confirmed"],
  ],
  ["of a booking that is being erased", ({ owner }: Setting, it: Reference) => deleteBooking(deps, owner, it), []],
] as const)
  test(`a change ${what} is read, but not written`, async () => {
    clock.set(NOON);
    const setting = await connect();
    const reference = await book(setting);
    cancelThere(server, reference);
    await markDue(db, setting.owner, { references: [reference], now: clock.now() });
    const { scheduler } = deps;
    let reads = 0;
    const send: Outbound["send"] = async (request, signal) => {
      const reply = await scheduler.outbound.send(request, signal);
      if (!request.url.includes("/bookings/")) return reply;
      reads++;
      await meanwhile(setting, reference);
      return reply;
    };
    const opened = new RecentMap<ConnectionId, never>(10);
    const outbound = { ...scheduler.outbound, send };
    await followAppointments({ ...deps, scheduler: { ...scheduler, opened, outbound } }, NEVER);
    assert.equal(reads, 1);
    assert.deepEqual(
      (await readCopy(setting.owner)).map(({ status }) => status),
      expected,
    );
    assert.deepEqual(await listChanges(db, setting.owner, { from: NOON, before: null, limit: 10 }), []);
    await updateWidget(db, setting.widgetId, { collect_data: false });
  });

test("an appointment that only carries the reference of a booking, in the same or another account, changes nothing", async () => {
  clock.set(NOON);
  const stranger = await startCalcomServer();
  after(() => stranger.stop());
  const [setting, other] = [await connect(), await connect(stranger)];
  const reference = await book(setting);
  const startAt = new Date(NOON.getTime() + 31 * DAY_MS);
  const times = { startAt, endAt: new Date(startAt.getTime() + HOUR_MS), updatedAt: NOON };
  const { uid } = findCalcomBooking(server.bookings, reference);
  addCalcomBooking(server.bookings, { reference, uid: "copy", ...times });
  addCalcomBooking(stranger.bookings, { reference, uid, ...times });
  for (const { bookings } of [server, stranger]) cancelThere({ bookings } as CalcomServer, reference);
  await catchUp();
  assert.deepEqual(
    (await readCopy(setting.owner)).map((copy) => [copy.status, copy.uid]),
    [["confirmed", uid]],
  );
  assert.deepEqual(await readCopy(other.owner), []);
  const [own] = server.bookings.filter((booking) => booking.uid === uid);
  cancelCalcomBooking(server.bookings, own ?? assert.fail());
  await catchUp();
  assert.equal((await readCopy(setting.owner))[0]?.status, "cancelled");
});

test("around a clock change, another way to write a time is no move, and five minutes are one", async () => {
  clock.set(NOON);
  const setting = await connect();
  const startAt = new Date("2027-03-28T01:00:00.000Z");
  const reference = await book(setting);
  moveThere(server, reference, startAt);
  await catchUp();
  const booking = findCalcomBooking(server.bookings, reference);
  booking.start = "2027-03-28T03:00:00.000+02:00";
  booking.end = "2027-03-28T03:30:00.000+02:00";
  booking.updatedAt = new Date(Date.parse(booking.updatedAt) + HOUR_MS).toISOString();
  await catchUp();
  const list = () => listChanges(db, setting.owner, { from: NOON, before: null, limit: 10 });
  assert.equal((await list()).length, 1);
  moveThere(server, reference, new Date(startAt.getTime() - 5 * MINUTE_MS));
  await catchUp();
  const [change, ...earlier] = await list();
  assert.deepEqual(
    [change?.previousStart, change?.start, change?.end, earlier.length],
    ["2027-03-28T01:00:00.000Z", "2027-03-28T00:55:00.000Z", "2027-03-28T01:25:00.000Z", 1],
  );
});

test("a clock that is set back keeps no appointment waiting", async () => {
  clock.set(new Date(NOON.getTime() + 2 * DAY_MS));
  const setting = await connect();
  const reference = await book(setting);
  cancelThere(server, reference);
  await markDue(db, setting.owner, { references: [reference], now: clock.now() });
  server.injectFault("GET /bookings", { reply: { status: 503, headers: { "retry-after": "99999999" } } });
  await followAppointments(deps, NEVER);
  assert.equal((await readCopy(setting.owner))[0]?.status, "confirmed");
  clock.set(NOON);
  await followAppointments(deps, NEVER);
  assert.equal((await readCopy(setting.owner))[0]?.status, "cancelled");
});
