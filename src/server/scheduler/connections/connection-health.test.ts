import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DAY_MS } from "#contract/durations.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { toError } from "../../../../test/support/scheduler/calcom/calcom-error.ts";
import {
  CALCOM_REQUEST_ID,
  type FaultInjection,
  startCalcomServer,
} from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { createOpenDeps } from "../../../../test/support/scheduler/open-deps.ts";
import { toRequest } from "../../../../test/support/scheduler/requests.ts";
import { limitSystem } from "../limit-system.ts";
import { openSchedulingSystem } from "../open-system.ts";
import { addConnection } from "./connections.ts";
import { findConnection } from "./queries.ts";

const { deps, clock, pool } = await createOpenDeps();
const WEEK = { from: NOON, to: new Date(NOON.getTime() + 7 * DAY_MS) };
const QUERY = { serviceId: "10", staffId: null, ...WEEK };
const DOWN: FaultInjection = { reply: { status: 500, json: {} } };

async function connect() {
  clock.set(NOON);
  const server = await startCalcomServer();
  after(() => server.stop());
  const owner = await makeOrganization(deps.db);
  const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...server.parts }, noAudit);
  assert.ok(added.kind === "added");
  const widget = { id: await makeWidget(deps.db, owner), organizationId: owner, connectionId: added.id };
  const system = await openSchedulingSystem(deps, widget);
  const readHealth = async () => {
    const row = await findConnection(deps.db, owner, added.id);
    assert.ok(row);
    return {
      okAt: row.last_ok_at,
      error: row.last_error,
      errorAt: row.last_error_at,
      status: row.last_error_status,
      requestId: row.last_error_request_id,
    };
  };
  const wait = (ms: number) => clock.set(new Date(clock.now().getTime() + ms));
  return { server, owner, id: added.id, system, readHealth, wait };
}

test("a failure is recorded with the system's request id, and so is the next success", async () => {
  const { server, system, readHealth, wait } = await connect();
  server.injectFault("GET /slots", DOWN);
  wait(1_000);
  await system.listSlots(QUERY);
  const failedAt = clock.now();
  const error = { error: "http_status", errorAt: failedAt, status: 500, requestId: CALCOM_REQUEST_ID };
  assert.deepEqual(await readHealth(), { okAt: NOON, ...error });
  wait(1_000);
  await system.listSlots(QUERY);
  assert.deepEqual(await readHealth(), { okAt: clock.now(), ...error });
});

test("rejected credentials are recorded", async () => {
  const { server, system, readHealth } = await connect();
  server.injectFault("GET /me", { reply: toError(401, "UnauthorizedException", "Invalid") });
  assert.equal((await system.verify()).kind, "refused");
  const { error, status } = await readHealth();
  assert.deepEqual({ error, status }, { error: "credentials", status: 401 });
});

test("a visitor's mistakes and a visitor who leaves do not affect a connection's health", async () => {
  const { system, readHealth } = await connect();
  await system.listSlots({ ...QUERY, serviceId: "nonsense" });
  await system.listSlots({ ...QUERY, from: WEEK.to, to: WEEK.from });
  await system.listSlots(QUERY, AbortSignal.abort());
  assert.equal((await readHealth()).error, null);
});

test("every operation has a time limit, and a silent system counts as a timeout", async () => {
  const { server, system, readHealth } = await connect();
  // The services are known before any time limit starts.
  await system.listServices();
  const limited = limitSystem(system, { readMs: 500, bookMs: 500, verifyMs: 500 });
  const hangs: FaultInjection = { reply: "hang" };
  for (const route of ["GET /slots", "POST /bookings", "GET /bookings", "GET /me"]) server.injectFault(route, hangs);
  const upstream = { status: null, requestId: null, failure: "timeout" };
  const silent = { kind: "unavailable", retryAfterMs: null, upstream };
  const slot = { startAt: new Date("2026-11-02T09:00:00.000Z"), endAt: NOON, staffIds: [] };
  const request = toRequest("10", slot);
  assert.deepEqual(await limited.listSlots(QUERY), silent);
  assert.deepEqual(await limited.book(request), { kind: "unknown", upstream });
  assert.deepEqual(await limited.findByReference(request), silent);
  assert.deepEqual(await limited.verify(), silent);
  assert.equal((await readHealth()).error, "timeout");
});

test("no more than 31 days are requested", async () => {
  const { system } = await connect();
  const query = { ...QUERY, to: new Date(NOON.getTime() + 31 * DAY_MS + 1) };
  assert.deepEqual(await system.listSlots(query), { kind: "refused", reason: "invalid", upstream: null });
});

test("after five failures in a row the system gets no requests for half a minute, except reference lookups", async () => {
  const { server, system, wait } = await connect();
  server.injectFault("GET /slots", ...Array.from({ length: 5 }, () => DOWN));
  for (let times = 0; times < 5; times++) await system.listSlots(QUERY);
  const asked = server.requests.length;
  const expected = { kind: "unavailable", retryAfterMs: 30_000, upstream: null };
  assert.deepEqual(await system.listSlots(QUERY), expected);
  const slot = { startAt: new Date("2026-11-02T09:00:00.000Z"), endAt: NOON, staffIds: [] };
  const request = toRequest("10", slot);
  assert.deepEqual(await system.book(request), expected);
  assert.equal(server.requests.length, asked);
  assert.deepEqual(await system.findByReference(request), { kind: "absent" });
  wait(30_000);
  assert.equal((await system.listSlots(QUERY)).kind, "found");
});

test("a failure that five visitors waited for counts once", async () => {
  const { server, system } = await connect();
  const asked = () => server.requests.filter(({ path }) => path === "/v2/me").length;
  const askedBefore = asked();
  server.injectFault("GET /me", DOWN);
  const reads = await Promise.all(Array.from({ length: 5 }, () => system.listServices()));
  assert.deepEqual(new Set(reads.map(({ kind }) => kind)), new Set(["unavailable"]));
  assert.equal((await system.listServices()).kind, "found");
  assert.equal(asked(), askedBefore + 2);
});

test("a wait the system asks for is honoured, up to five minutes", async () => {
  const { server, system, wait } = await connect();
  server.injectFault("GET /slots", { reply: { status: 429, headers: { "Retry-After": "3600" } } });
  assert.equal((await system.listSlots(QUERY)).kind, "unavailable");
  const slot = { startAt: new Date("2026-11-02T09:00:00.000Z"), endAt: NOON, staffIds: [] };
  const paused = { kind: "unavailable", retryAfterMs: 300_000, upstream: null, overLimit: "account" };
  assert.deepEqual(await system.book(toRequest("10", slot)), paused);
  assert.equal((await system.listSlots(QUERY)).kind, "unavailable");
  wait(300_000);
  assert.equal((await system.listSlots(QUERY)).kind, "found");
});

test("a clock that is set back ends a pause, and a later pause counts again", async () => {
  const { server, system, wait } = await connect();
  const throttled: FaultInjection = { reply: { status: 429, headers: { "Retry-After": "300" } } };
  server.injectFault("GET /slots", throttled, DOWN, throttled);
  assert.equal((await system.listSlots(QUERY)).kind, "unavailable");
  wait(-DAY_MS);
  await system.listSlots(QUERY);
  assert.equal(server.requests.filter(({ path }) => path === "/v2/slots").length, 2, "it is asked again");
  await system.listSlots({ ...QUERY, serviceId: "11" });
  const slot = { startAt: new Date("2026-11-02T09:00:00.000Z"), endAt: NOON, staffIds: [] };
  const outcome = await system.book(toRequest("10", slot));
  assert.deepEqual(outcome, { kind: "unavailable", retryAfterMs: 300_000, upstream: null, overLimit: "account" });
});

test("failing to write health changes no outcome", async () => {
  const { system, wait } = await connect();
  wait(120_000);
  await pool.query("alter table scheduling_connections rename column last_ok_at to lost");
  try {
    assert.equal((await system.listSlots(QUERY)).kind, "found");
  } finally {
    await pool.query("alter table scheduling_connections rename column lost to last_ok_at");
  }
});
