import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { SECOND_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget, NOON, updateWidget } from "../../../../test/support/builders.ts";
import { DIRECT_HIT } from "../../../../test/support/funnel/hits.ts";
import { type CalcomServer, startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { until } from "../../../../test/support/until.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { addConnection } from "../../scheduler/connections/connections.ts";
import { openConnection } from "../../scheduler/open-system.ts";
import { addEndpoint } from "../../webhooks/endpoints/endpoints.ts";
import { makeBooking, type WantedBooking } from "./make-booking.ts";
import { abandonBooking } from "./repeat-booking.ts";
import { settleOverdue } from "./settle-overdue.ts";
import { Settler } from "./settler.ts";

// A scheduling system that loses its reply and makes the appointment later. The clock is moved; only the limits of the visitor's
// own request run in real time, and these are short here.

const { deps: usual, clock } = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
const limits = { ...usual.scheduler.limits, bookMs: 2_000 };
const deps = { ...usual, scheduler: { ...usual.scheduler, limits, opened: new RecentMap<never, never>(10) } };
const { db } = deps;
const settler = new Settler(deps);
after(async () => {
  await settler.close();
  await deps.scheduler.outbound.close();
});
const making = { ...deps, settler, scheduler: { limits: { bookMs: 400 } } };
const NEVER = new AbortController().signal;
const START = new Date("2026-11-02T08:00:00.000Z");

async function makePractice() {
  clock.set(NOON);
  const server = await startCalcomServer();
  after(() => server.stop());
  const owner = await makeOrganization(db, { plan: "business" });
  const widgetId = await makeWidget(db, owner);
  const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...server.parts }, noAudit);
  assert.ok(added.kind === "added", JSON.stringify(added));
  await updateWidget(db, widgetId, { connection_id: added.id });
  const webhook = { url: "http://127.0.0.1:9/", kind: "webhook", description: "", settings: {} } as const;
  assert.equal((await addEndpoint(deps, owner, webhook, noAudit)).kind, "added");
  const system = await openConnection(deps, owner, added.id);
  assert.ok(system);
  assert.equal((await system.listServices()).kind, "found");
  const customer = { name: "Mara Quell", email: "mara@example.com", phone: null, notes: null };
  const wanted: WantedBooking = {
    owner,
    widgetId,
    connectionId: added.id,
    idempotencyKey: "one",
    serviceId: "10",
    startAt: START,
    staffId: null,
    offeredStaffIds: null,
    locale: "en",
    hit: { ...DIRECT_HIT, visitId: crypto.randomUUID() },
    copy: { timeZone: "Europe/Berlin", customer, answers: [], attribution: {} },
  };
  const book = (change: Partial<WantedBooking> = {}) => makeBooking(making, system, { ...wanted, ...change });
  const abandon = (change: Partial<WantedBooking>) => abandonBooking(making, system, { ...wanted, ...change });
  return { server, owner, widgetId, wanted, book, abandon };
}

async function finish(server: CalcomServer): Promise<void> {
  const request = server.requests.find(({ method, path }) => method === "POST" && path === "/v2/bookings");
  assert.ok(request);
  const headers = new Headers();
  for (const name of ["authorization", "cal-api-version", "content-type"])
    headers.set(name, String(request.headers[name]));
  const made = await fetch(`${server.parts.settings.apiUrl}/v2/bookings`, {
    method: "POST",
    headers,
    body: request.body,
  });
  assert.equal(made.status, 201, await made.text());
}

async function lookAt(seconds: number): Promise<void> {
  clock.set(new Date(NOON.getTime() + seconds * SECOND_MS));
  await settleOverdue(deps, NEVER);
}

/** How often the booking is stored, made, counted, counted as failed, and sent. */
async function count({ owner, widgetId, server }: Awaited<ReturnType<typeof makePractice>>) {
  const stored = await db.selectFrom("bookings").select("reference").where("organization_id", "=", owner).execute();
  const { rows: counted } = await sql<{ bookings: number; failed: number }>`
    select coalesce(sum(count_conversions(bookings)), 0)::integer as bookings,
      coalesce(sum(count_conversions(failures)), 0)::integer as failed
    from funnel_visits where widget_id = ${widgetId}`.execute(db);
  const sent = await db.selectFrom("deliveries").select("id").where("organization_id", "=", owner).execute();
  return [stored.length, server.bookings.length, counted[0]?.bookings, counted[0]?.failed, sent.length];
}

const LOST = [
  ["answers 504", { status: 504 }],
  ["answers 502", { status: 502 }],
  ["answers 524", { status: 524 }],
  ["drops the connection", "reset"],
  ["takes longer than a visitor can wait", "hang"],
] as const;

/** When the task looks, in seconds after the request. */
const LOOKS = [6, 16, 61, 301, 901, 1_801];

/** Every kind of loss once, and each of the times. */
const LATE = [
  ...LOST.map((lost) => [...lost, 5] as const),
  ...[1, 20, 90].map((seconds) => [...LOST[3], seconds] as const),
];

for (const [what, response, seconds] of LATE)
  test(`a system that ${what} and books after ${seconds} s: one appointment, stored, counted and sent once`, async () => {
    const practice = await makePractice();
    const { server, book } = practice;
    server.injectFault("POST /bookings", { reply: response });
    assert.deepEqual(await book(), { kind: "uncertain" });
    let isFinished = false;
    for (const look of LOOKS) {
      if (look > seconds && !isFinished) {
        await finish(server);
        isFinished = true;
      }
      await lookAt(look);
      assert.deepEqual(await count(practice), isFinished ? [1, 1, 1, 0, 1] : [0, 0, 0, 0, 0], `after ${look} s`);
    }
    assert.equal((await book()).kind, "confirmed");
    assert.deepEqual(await count(practice), [1, 1, 1, 0, 1]);
  });

test("a booking that appears while the visitor's own request still looks is confirmed at once", async () => {
  const practice = await makePractice();
  const { server, book } = practice;
  server.injectFault("POST /bookings", { reply: "reset" });
  const made = book();
  await until(() => server.requests.some(({ method }) => method === "POST"), "the system is asked");
  await finish(server);
  assert.equal((await made).kind, "confirmed");
  assert.deepEqual(await count(practice), [1, 1, 1, 0, 1]);
});

test("what is not there after half an hour has failed, and not a moment earlier", async () => {
  const practice = await makePractice();
  const { server, book, owner } = practice;
  server.injectFault("POST /bookings", { reply: "reset" });
  assert.deepEqual(await book(), { kind: "uncertain" });
  for (const look of LOOKS.slice(0, -1)) {
    await lookAt(look);
    assert.deepEqual(await count(practice), [0, 0, 0, 0, 0], `after ${look} s`);
  }
  await lookAt(1_801);
  assert.deepEqual(await book(), { kind: "failed", failure: "lost" });
  assert.deepEqual(await count(practice), [0, 0, 0, 1, 0]);
  const kept = await db
    .selectFrom("booking_references")
    .select("reference")
    .where("organization_id", "=", owner)
    .execute();
  assert.equal(kept.length, 1);
  assert.equal((await book({ idempotencyKey: "two" })).kind, "confirmed", "the visit may book again");
});

for (const [name, change] of [
  ["the same request", {}],
  [
    "another one of the visit for the service",
    { idempotencyKey: "two", startAt: new Date("2026-11-02T09:00:00.000Z") },
  ],
] as const) {
  test(`while a booking is uncertain, ${name} waits and gets it once it is found`, async () => {
    const practice = await makePractice();
    const { server, book } = practice;
    server.injectFault("POST /bookings", { reply: "reset" });
    await book();
    assert.deepEqual(await book(change), { kind: "uncertain" });
    const waiting = book(change);
    await finish(server);
    await lookAt(6);
    const made = await waiting;
    assert.ok(made.kind === "confirmed");
    assert.equal(made.response.start, START.toISOString());
    assert.deepEqual(await count(practice), [1, 1, 1, 0, 1]);
  });
}

test("while a booking is uncertain, a request that can't be checked is not given up, unless it is of another visit", async () => {
  const practice = await makePractice();
  const { server, book, abandon, wanted } = practice;
  server.injectFault("POST /bookings", { reply: "reset" });
  await book();
  const second = { idempotencyKey: "two", startAt: new Date("2026-11-02T09:00:00.000Z") };
  assert.deepEqual(await abandon(second), { kind: "uncertain" });
  const waiting = abandon(second);
  const hit = { ...wanted.hit, visitId: crypto.randomUUID() };
  const failed = { kind: "failed", failure: "unavailable" };
  assert.deepEqual(await abandon({ ...second, idempotencyKey: "three", hit }), failed);
  await finish(server);
  await lookAt(6);
  const made = await waiting;
  assert.ok(made.kind === "confirmed");
  assert.equal(made.response.start, START.toISOString());
  assert.deepEqual(await count(practice), [1, 1, 1, 0, 1]);
});

test("two requests of a visit for a service that arrive at once make one appointment", async () => {
  const practice = await makePractice();
  const { server, book } = practice;
  server.injectFault("POST /bookings", { reply: "reset" });
  const second = { idempotencyKey: "two", startAt: new Date("2026-11-02T09:00:00.000Z") };
  assert.deepEqual(await Promise.all([book(), book(second)]), [{ kind: "uncertain" }, { kind: "uncertain" }]);
  await finish(server);
  await lookAt(6);
  assert.deepEqual(await count(practice), [1, 1, 1, 0, 1]);
});

test("another visit, and another service of the visit, don't wait", async () => {
  const { server, book, wanted } = await makePractice();
  server.injectFault("POST /bookings", { reply: "reset" });
  await book();
  const hit = { ...wanted.hit, visitId: crypto.randomUUID() };
  const startAt = new Date("2026-11-02T10:00:00.000Z");
  assert.equal((await book({ idempotencyKey: "two", hit, startAt })).kind, "confirmed");
  assert.notEqual((await book({ idempotencyKey: "three", serviceId: "11", startAt })).kind, "uncertain");
});
