import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, test } from "node:test";
import { sql } from "kysely";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId, Reference } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { findEverywhere } from "../../../../test/support/database/search-database.ts";
import { cancelCalcomBooking, moveCalcomBooking } from "../../../../test/support/scheduler/calcom/calcom-changes.ts";
import {
  type CalcomBooking,
  type CalcomServer,
  startCalcomServer,
} from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import type { SentNotice } from "../../../../test/support/scheduler/calcom/calcom-webhooks.ts";
import { moveCalendlyBooking } from "../../../../test/support/scheduler/calendly/calendly-changes.ts";
import {
  type CalendlyBooking,
  type CalendlyServer,
  startCalendlyServer,
} from "../../../../test/support/scheduler/calendly/calendly-server.ts";
import { addConnection, changeConnection } from "../../scheduler/connections/connections.ts";
import { keepSubscriptions } from "../../scheduler/notices/keep-subscriptions.ts";
import { followAppointments } from "./follow-appointments.ts";

const BASE_URL = "https://book.example.com";
const settings = { baseUrl: BASE_URL, webhookAllowCidrs: ["127.0.0.0/8"] };
const { app, deps, clock, lines } = await createTestApp(settings);
const { db } = deps;
after(() => deps.scheduler.outbound.close());
const NEVER = new AbortController().signal;
const START = new Date(NOON.getTime() + 30 * DAY_MS);
const LATER = new Date(NOON.getTime() + 60 * DAY_MS);
/** Not the one of the stored bookings. */
const CUSTOMER = { name: "Ines Okafor", email: "ines.okafor@example.com", timezone: "Europe/Berlin" };

type Setting<Server, Booking> = { server: Server; booking: Booking; reference: Reference } & Connected;
type Connected = { owner: OrganizationId; id: ConnectionId };

async function connect(kind: "calcom" | "calendly", server: CalcomServer | CalendlyServer): Promise<Connected> {
  clock.set(NOON);
  after(() => server.stop());
  const owner = await makeOrganization(db, { plan: "business" });
  const added = await addConnection(deps, owner, { kind, name: "Practice", ...server.parts }, noAudit);
  assert.ok(added.kind === "added", added.kind);
  await keepSubscriptions(deps, NEVER);
  return { owner, id: added.id };
}

async function store({ owner, id }: Connected, externalId: string): Promise<Reference> {
  const endAt = new Date(START.getTime() + 30 * MINUTE_MS);
  const times = { start_at: START, end_at: endAt, service_id: "10" };
  const columns = { widgetId: await makeWidget(db, owner), asked_in: id, external_id: externalId, ...times };
  return (await makeBooking(db, owner, columns)).reference as Reference;
}

async function openCalcom(): Promise<Setting<CalcomServer, CalcomBooking>> {
  const server = await startCalcomServer();
  const connected = await connect("calcom", server);
  const booking: CalcomBooking = {
    id: 1,
    uid: "uid1",
    status: "accepted",
    start: START.toISOString(),
    end: new Date(START.getTime() + 30 * MINUTE_MS).toISOString(),
    eventTypeId: 10,
    hosts: [],
    attendees: [CUSTOMER],
    location: "Lindenstrasse 1",
    bookingFieldsResponses: {},
    metadata: { reference: "SVC-NOTICE" },
    updatedAt: NOON.toISOString(),
  };
  server.bookings.push(booking);
  return { server, booking, ...connected, reference: await store(connected, booking.uid) };
}

async function openCalendly(): Promise<Setting<CalendlyServer, CalendlyBooking>> {
  const server = await startCalendlyServer(NOON);
  const connected = await connect("calendly", server);
  const booking: CalendlyBooking = {
    uuid: "event-1",
    status: "active",
    start_time: START.toISOString(),
    end_time: new Date(START.getTime() + 30 * MINUTE_MS).toISOString(),
    event_type: "https://api.calendly.com/event_types/CHECKUP",
    isOnline: false,
    links: "https",
    invitee: CUSTOMER,
    questions_and_answers: [],
    tracking: {},
  };
  server.bookings.push(booking);
  return { server, booking, ...connected, reference: await store(connected, booking.uuid) };
}

async function deliver({ url, headers, body }: SentNotice, change: { url?: string; remoteAddress?: string } = {}) {
  const { pathname } = new URL(change.url ?? url);
  const from = change.remoteAddress === undefined ? {} : { remoteAddress: change.remoteAddress };
  return (await app.inject({ method: "POST", url: pathname, headers, payload: body, ...from })).statusCode;
}

async function readState({ owner, reference }: { owner: OrganizationId; reference: Reference }) {
  return await db
    .selectFrom("bookings")
    .select(["status", "start_at", "external_id"])
    .where("organization_id", "=", owner)
    .where("reference", "=", reference)
    .executeTakeFirst();
}

async function listDue(owner: OrganizationId): Promise<string[]> {
  const { rows } = await sql<{ reference: string }>`
    select reference from appointment_checks where organization_id = ${owner}`.execute(db);
  return rows.map(({ reference }) => reference);
}

function first(notices: SentNotice[]): SentNotice {
  assert.ok(notices[0]);
  return notices[0];
}

function sign(notice: SentNotice, { body, secret }: { body: string; secret: string }): SentNotice {
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  return { ...notice, body, headers: { ...notice.headers, "x-cal-signature-256": signature } };
}

test("Cal.com says that an appointment was moved, then cancelled: both are read and applied at once", async () => {
  const { server, booking, ...setting } = await openCalcom();
  const moved = moveCalcomBooking(server.bookings, booking, LATER);
  for (const notice of server.webhooks.sendMoved(moved)) assert.equal(await deliver(notice), 204);
  await followAppointments(deps, NEVER);
  assert.deepEqual(await readState(setting), { status: "confirmed", start_at: LATER, external_id: moved.uid });
  cancelCalcomBooking(server.bookings, moved);
  for (const notice of server.webhooks.sendCancelled(moved)) assert.equal(await deliver(notice), 204);
  await followAppointments(deps, NEVER);
  assert.equal((await readState(setting))?.status, "cancelled");
});

test("someone who is asked by Cal.com to choose another time, and does, has an appointment again", async () => {
  const { server, booking, ...setting } = await openCalcom();
  cancelCalcomBooking(server.bookings, booking);
  for (const notice of server.webhooks.sendCancelled(booking, true)) await deliver(notice);
  await followAppointments(deps, NEVER);
  assert.equal((await readState(setting))?.status, "cancelled");
  // Long after the first time has passed.
  clock.set(new Date(START.getTime() + 5 * DAY_MS));
  const moved = moveCalcomBooking(server.bookings, booking, LATER);
  for (const notice of server.webhooks.sendMoved(moved)) await deliver(notice);
  await followAppointments(deps, NEVER);
  assert.deepEqual(await readState(setting), { status: "confirmed", start_at: LATER, external_id: moved.uid });
});

test("Calendly says that an appointment was moved, then cancelled: both are read and applied at once", async () => {
  const { server, booking, ...setting } = await openCalendly();
  const moved = moveCalendlyBooking(server.bookings, booking, LATER);
  const notices = server.webhooks.sendMoved(booking, moved);
  assert.equal(notices.length, 2);
  for (const notice of notices.reverse()) assert.equal(await deliver(notice), 204);
  await followAppointments(deps, NEVER);
  assert.deepEqual(await readState(setting), { status: "confirmed", start_at: LATER, external_id: moved.uuid });
  moved.status = "canceled";
  for (const notice of server.webhooks.sendCanceled(moved)) assert.equal(await deliver(notice), 204);
  await followAppointments(deps, NEVER);
  assert.equal((await readState(setting))?.status, "cancelled");
});

test("each of Calendly's two notices of a move is enough", async () => {
  for (const which of [0, 1]) {
    const { server, booking, ...setting } = await openCalendly();
    const moved = moveCalendlyBooking(server.bookings, booking, LATER);
    const notice = server.webhooks.sendMoved(booking, moved)[which];
    assert.ok(notice);
    await deliver(notice);
    await followAppointments(deps, NEVER);
    assert.deepEqual((await readState(setting))?.start_at, LATER);
  }
});

test("a new appointment of Calendly isn't read", async () => {
  const { server, booking, owner } = await openCalendly();
  assert.equal(await deliver(first(server.webhooks.sendCreated(booking))), 204);
  assert.deepEqual(await listDue(owner), []);
});

test("what a notice claims isn't believed: the appointment is as the system says", async () => {
  const { server, booking, ...setting } = await openCalcom();
  // An old notice, or one out of order: the appointment is confirmed.
  assert.equal(await deliver(first(server.webhooks.sendCancelled(booking))), 204);
  await followAppointments(deps, NEVER);
  assert.deepEqual(await readState(setting), { status: "confirmed", start_at: START, external_id: "uid1" });
});

test("a notice that isn't signed with the connection's secret is refused, and nothing is read", async () => {
  const { server, booking, owner } = await openCalcom();
  const other = await openCalcom();
  const notice = first(server.webhooks.sendCancelled(booking));
  const secret = other.server.webhooks.list[0]?.secret ?? assert.fail();
  const without = (headers: Record<string, string>) => ({ ...notice, headers });
  for (const [why, forged] of [
    ["no secret", without({ ...notice.headers, "x-cal-signature-256": "no-secret-provided" })],
    ["no signature", without({ "content-type": "application/json" })],
    ["an empty signature", without({ ...notice.headers, "x-cal-signature-256": "" })],
    ["half a signature", without({ ...notice.headers, "x-cal-signature-256": "0".repeat(32) })],
    ["another body", { ...notice, body: `${notice.body} ` }],
    ["another connection's secret", sign(notice, { body: notice.body, secret })],
    ["an empty secret", sign(notice, { body: notice.body, secret: "" })],
  ] as const)
    assert.equal(await deliver(forged), 401, why);
  assert.deepEqual(await listDue(owner), []);
  const calendly = await openCalendly();
  const sent = first(calendly.server.webhooks.sendCanceled(calendly.booking));
  const header = "calendly-webhook-signature";
  const right = sent.headers[header] ?? "";
  for (const given of ["", right.replace("t=1", "t=2"), right.replace(/t=\d+,/, ""), right.replace(/v1=./, "v1=x")])
    assert.equal(await deliver({ ...sent, headers: { ...sent.headers, [header]: given } }), 401, given);
  assert.deepEqual(await listDue(calendly.owner), []);
});

test("a notice to another connection, one that doesn't exist or one that follows nothing finds nobody", async () => {
  const { server, booking, owner, id } = await openCalcom();
  const other = await openCalcom();
  const notice = first(server.webhooks.sendCancelled(booking));
  const to = (path: string) => deliver(notice, { url: `${BASE_URL}/change-notices/${path}` });
  assert.equal(await to(`${owner}/${other.id}`), 404);
  assert.equal(await to(`${other.owner}/${id}`), 404);
  assert.equal(await to(`${other.owner}/${other.id}`), 401);
  assert.equal(await to(`${owner}/conn_0000000000000000`), 404);
  assert.equal(await to("x/y"), 404);
  assert.equal(await to(`${owner}/${"c".repeat(3_000)}`), 400);
  await changeConnection(deps, owner, { id, followsChanges: false });
  assert.equal(await deliver(notice), 404);
  assert.deepEqual([await listDue(owner), await listDue(other.owner)], [[], []]);
});

test("a notice marks only appointments that its connection made", async () => {
  const [one, other] = [await openCalcom(), await openCalcom()];
  const second = await addConnection(
    deps,
    one.owner,
    { kind: "calcom", name: "Second", ...other.server.parts },
    noAudit,
  );
  assert.ok(second.kind === "added");
  const elsewhere = await store({ owner: one.owner, id: second.id }, "uid1");
  assert.equal(await deliver(first(one.server.webhooks.sendCancelled(one.booking))), 204);
  assert.deepEqual(await listDue(one.owner), [one.reference]);
  assert.notEqual(elsewhere, one.reference);
  assert.deepEqual(await listDue(other.owner), []);
});

test("a notice that is sent again is not read again", async () => {
  const { server, booking, owner } = await openCalcom();
  const notice = first(server.webhooks.sendCancelled(booking));
  await deliver(notice);
  await followAppointments(deps, NEVER);
  const before = server.requests.length;
  for (let i = 0; i < 20; i++) assert.equal(await deliver(notice), 204);
  assert.deepEqual(await listDue(owner), []);
  await followAppointments(deps, NEVER);
  assert.equal(server.requests.length, before);
});

test("signed nonsense, and notices of other kinds, are taken and change nothing", async () => {
  const { server, booking, owner } = await openCalcom();
  const notice = first(server.webhooks.sendCancelled(booking));
  const secret = server.webhooks.list[0]?.secret ?? assert.fail();
  const [nested, created] = ["[".repeat(50_000), notice.body.replace("BOOKING_CANCELLED", "BOOKING_CREATED")];
  for (const body of ["", "{", "null", "[]", nested, `{"triggerEvent":"BOOKING_CANCELLED"}`, created])
    assert.equal(await deliver(sign(notice, { body, secret })), 204, body.slice(0, 30));
  assert.deepEqual(await listDue(owner), []);
});

test("a body of any size, type or form is refused without being kept", async () => {
  const { server, booking } = await openCalcom();
  const notice = first(server.webhooks.sendCancelled(booking));
  assert.equal(await deliver({ ...notice, body: "x".repeat(10_000_000) }), 413);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/octet-stream"])
    assert.equal(await deliver({ ...notice, body: "x", headers: { "content-type": type } }), 401, type);
  const { pathname } = new URL(notice.url);
  for (const method of ["GET", "PUT", "DELETE"] as const)
    assert.equal((await app.inject({ method, url: pathname })).statusCode, 405, method);
});

test("floods are limited by connection and by network, and leave other connections alone", async () => {
  const [flooded, other] = [await openCalcom(), await openCalcom()];
  const notice = first(flooded.server.webhooks.sendCancelled(flooded.booking));
  const forged = { ...notice, body: "{}" };
  const ofOther = first(other.server.webhooks.sendCancelled(other.booking));
  const codes: number[] = [];
  for (let i = 0; i < 700; i++) codes.push(await deliver(forged, { remoteAddress: "203.0.113.9" }));
  assert.deepEqual([codes[0], codes.at(-1)], [401, 429]);
  assert.equal(await deliver(notice, { remoteAddress: "203.0.113.80" }), 204, "its system still gets through");
  assert.equal(await deliver(ofOther), 204);
  for (let i = 0; i < 3_000; i++)
    await deliver(forged, { url: `${BASE_URL}/change-notices/x/${i}`, remoteAddress: "203.0.113.9" });
  assert.equal(await deliver(ofOther, { remoteAddress: "203.0.113.9" }), 429);
  assert.equal(await deliver(ofOther, { remoteAddress: "203.0.113.81" }), 204);
});

test("nothing about the customer, and no reason, is stored or logged", async () => {
  const setting = await openCalcom();
  const { server, booking } = setting;
  const calendly = await openCalendly();
  cancelCalcomBooking(server.bookings, booking);
  const notices = [
    ...server.webhooks.sendCancelled(booking),
    ...calendly.server.webhooks.sendCanceled(calendly.booking),
  ];
  for (const notice of notices) {
    assert.match(notice.body, /Ines Okafor.*ines\.okafor@example\.com.*I am ill/);
    await deliver(notice);
    await deliver({ ...notice, headers: { "content-type": "application/json" } });
    await deliver({ ...notice, body: `${notice.body}${"x".repeat(200_000)}` });
  }
  await followAppointments(deps, NEVER);
  assert.equal((await readState(setting))?.status, "cancelled");
  for (const text of ["I am ill", "Okafor", "okafor"]) assert.deepEqual(await findEverywhere(db, text), [], text);
  const log = lines.join("\n");
  for (const text of ["I am ill", "Okafor", "okafor", "uid1", "event-1"]) assert.ok(!log.includes(text), text);
});
