import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { noAudit } from "../../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { startCalcomServer } from "../../../test/support/scheduler/calcom/calcom-server.ts";
import { CalcomThrottle } from "../../../test/support/scheduler/calcom/calcom-throttle.ts";
import { CALCOM_NOW } from "../../../test/support/scheduler/calcom/calcom-world.ts";
import { createOpenDeps } from "../../../test/support/scheduler/open-deps.ts";
import { requireBooked, requireFound, toRequest, toStart } from "../../../test/support/scheduler/requests.ts";
import { addConnection } from "./connections/connections.ts";
import { openSchedulingSystem } from "./open-system.ts";

const { deps, clock } = await createOpenDeps();

/** A connection to a Cal.com with its real limit. */
async function connect() {
  clock.set(CALCOM_NOW);
  const server = await startCalcomServer();
  after(() => server.stop());
  server.throttle = { limit: new CalcomThrottle(), nowMs: () => clock.now().getTime() };
  server.hasTeams = false;
  const organizationId = await makeOrganization(deps.db);
  const added = await addConnection(
    deps,
    organizationId,
    { kind: "calcom", name: "Cal.com", ...server.parts },
    noAudit,
  );
  assert.ok(added.kind === "added");
  const id = await makeWidget(deps.db, organizationId);
  const system = await openSchedulingSystem(deps, { id, organizationId, connectionId: added.id });
  // Reading the services costs many requests at first.
  await system.listServices();
  const wait = (ms: number) => clock.set(new Date(clock.now().getTime() + ms));
  wait(MINUTE_MS);
  const countReads = () => server.requests.filter(({ path }) => path === "/v2/slots").length;
  return { server, system, wait, countReads };
}

/** What a visitor asks for who opens the calendar now. */
function toQuery(serviceId = "10", days = 7) {
  return { serviceId, staffId: null, from: clock.now(), to: new Date(clock.now().getTime() + days * DAY_MS) };
}

test("visitors who ask at the same time and in the seconds after share one request", async () => {
  const { system, wait, countReads } = await connect();
  const lists = await Promise.all([1, 2, 3].map(() => system.listSlots(toQuery())));
  wait(9_999);
  lists.push(await system.listSlots(toQuery()));
  assert.deepEqual(new Set(lists.map((list) => requireFound(list).length)), new Set([80]));
  assert.equal(countReads(), 1);
  wait(1);
  await system.listSlots(toQuery());
  assert.equal(countReads(), 2);
});

test("a visitor gets exactly the times of their range, none of which has passed", async () => {
  const { system } = await connect();
  clock.set(new Date("2026-11-02T09:10:00.000Z"));
  const read = async (from: string, to: string) =>
    requireFound(await system.listSlots({ ...toQuery(), from: new Date(from), to: new Date(to) })).map(toStart);
  assert.deepEqual(await read("2026-11-02T08:00:00Z", "2026-11-02T10:30:00Z"), [
    "2026-11-02T09:30:00.000Z",
    "2026-11-02T10:00:00.000Z",
  ]);
  assert.deepEqual(await read("2026-11-02T10:00:00Z", "2026-11-02T10:30:00Z"), ["2026-11-02T10:00:00.000Z"]);
});

test("31 days from the middle of a day are complete", async () => {
  const { system } = await connect();
  const starts = requireFound(await system.listSlots(toQuery("10", 31))).map(toStart);
  assert.equal(starts.at(0), "2026-11-02T08:00:00.000Z");
  assert.equal(starts.at(-1), "2026-12-02T12:00:00.000Z");
});

test("another service, another range and another connection are read by themselves", async () => {
  const { system, countReads } = await connect();
  await system.listSlots(toQuery("10"));
  await system.listSlots(toQuery("11"));
  await system.listSlots(toQuery("10", 14));
  assert.equal(countReads(), 3);
  const other = await connect();
  await other.system.listSlots(toQuery());
  assert.equal(other.countReads(), 1);
});

test("a booking and a taken time outdate the times of their service at once", async () => {
  const { server, system } = await connect();
  const [first, second] = requireFound(await system.listSlots(toQuery()));
  assert.ok(first && second);
  requireBooked(await system.book(toRequest("10", first)));
  assert.equal(toStart(requireFound(await system.listSlots(toQuery()))[0] ?? first), toStart(second));
  const [booking] = server.bookings;
  assert.ok(booking);
  server.bookings.push({ ...booking, start: toStart(second), end: second.endAt.toISOString() });
  assert.equal((await system.book(toRequest("10", second))).kind, "slot_taken");
  const [third] = requireFound(await system.listSlots(toQuery()));
  assert.ok(third && third.startAt > second.startAt);
});

test("while requests are short, older times are shown, and bookings are still made", async () => {
  const { server, system, wait } = await connect();
  const slots = requireFound(await system.listSlots(toQuery()));
  // Another program uses the same key.
  for (let n = 0; n < 90; n++) server.throttle.limit.take(clock.now().getTime());
  await system.listSlots(toQuery("11"));
  wait(11_000);
  assert.deepEqual(requireFound(await system.listSlots(toQuery())), slots);
  const unknown = await system.listSlots(toQuery("12"));
  assert.deepEqual(unknown, { kind: "unavailable", retryAfterMs: null, upstream: null, overLimit: "account" });
  for (const slot of slots.slice(0, 10)) requireBooked(await system.book(toRequest("10", slot)));
  assert.deepEqual(requireFound(await system.listSlots(toQuery())), slots, "a booking is checked again anyway");
  wait(60_000);
  assert.equal(requireFound(await system.listSlots(toQuery())).length, 70);
});

test("times that are older than ten minutes are not shown", async () => {
  const { server, system, wait } = await connect();
  await system.listSlots(toQuery());
  wait(10_000 + 10 * MINUTE_MS);
  for (let n = 0; n < 121; n++) server.throttle.limit.take(clock.now().getTime());
  assert.equal((await system.listSlots(toQuery())).kind, "unavailable");
});

test("a system that is down shows no times, however recent", async () => {
  const { server, system, wait } = await connect();
  await system.listSlots(toQuery());
  wait(10_000);
  server.injectFault("GET /slots", { reply: { status: 500, json: {} } });
  assert.equal((await system.listSlots(toQuery())).kind, "unavailable");
});

test("a system that answers 429 shows older times until it answers again", async () => {
  const { server, system, wait } = await connect();
  const slots = requireFound(await system.listSlots(toQuery()));
  wait(10_000);
  server.injectFault("GET /slots", { reply: { status: 429, json: {}, headers: { "Retry-After": "30" } } });
  assert.deepEqual(requireFound(await system.listSlots(toQuery())), slots);
  wait(10_000);
  assert.deepEqual(requireFound(await system.listSlots(toQuery())), slots, "while the connection is paused, too");
});

test("services that don't exist and visitors who may not ask cause no request", async () => {
  const { server, system } = await connect();
  await system.listServices();
  const before = server.requests.length;
  assert.equal((await system.listSlots(toQuery("nonsense"))).kind, "refused");
  const refused = await system.listSlots({ ...toQuery(), mayAsk: () => false });
  assert.deepEqual(refused, { kind: "unavailable", retryAfterMs: null, upstream: null, overLimit: "visitor" });
  assert.equal(server.requests.length, before);
});

test("a visitor who may not ask gets what others have asked for", async () => {
  const { system, wait } = await connect();
  const slots = requireFound(await system.listSlots(toQuery()));
  assert.deepEqual(requireFound(await system.listSlots({ ...toQuery(), mayAsk: () => false })), slots);
  wait(10_000);
  assert.deepEqual(requireFound(await system.listSlots({ ...toQuery(), mayAsk: () => false })), slots);
});
