import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createTestClock } from "../../../test/support/app/app.ts";
import { startCalendlyServer } from "../../../test/support/scheduler/calendly/calendly-server.ts";
import { CALENDLY_NOW } from "../../../test/support/scheduler/calendly/calendly-world.ts";
import { startGraphServer } from "../../../test/support/scheduler/graph/graph-server.ts";
import { GRAPH_NOW } from "../../../test/support/scheduler/graph/graph-world.ts";
import { createTestOutbound, NO_BUDGET } from "../../../test/support/scheduler/outbound.ts";
import { listWeek, requireBooked, toRequest } from "../../../test/support/scheduler/requests.ts";
import { AccountLimits, createConcurrencyLimit } from "./account-limits.ts";
import { createCalendly } from "./calendly/calendly.ts";
import { createMicrosoftBookings } from "./microsoft-bookings/microsoft-bookings.ts";

const NEVER = new AbortController().signal;

test("two uses of one mailbox, for example a widget and a check, make four requests at once together", async () => {
  const server = await startGraphServer();
  after(() => server.stop());
  const clock = createTestClock(GRAPH_NOW);
  const openPair = (first: AccountLimits, second: AccountLimits) =>
    [first, second].map((accountLimits) =>
      createMicrosoftBookings(
        { outbound: createTestOutbound(clock), clock, accountLimits, budget: NO_BUDGET },
        server.parts,
      ),
    );
  const readWeeks = async (systems: ReturnType<typeof openPair>) => {
    for (const system of systems) await system.listServices(NEVER);
    server.faults.length = 0;
    const queries = systems.flatMap((system) => Array.from({ length: 8 }, () => system));
    await Promise.all(queries.map((system) => listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" })));
    return new Set(server.faults);
  };
  const shared = new AccountLimits(clock);
  assert.deepEqual(await readWeeks(openPair(shared, shared)), new Set());
  const apart = openPair(new AccountLimits(clock), new AccountLimits(clock));
  assert.deepEqual(await readWeeks(apart), new Set(["more than four requests at once"]), "the stand-in would notice");
});

test("two connections with one Calendly token share its bookings per minute", async () => {
  const server = await startCalendlyServer(CALENDLY_NOW);
  after(() => server.stop());
  const clock = createTestClock(CALENDLY_NOW);
  const accountLimits = new AccountLimits(clock);
  const [one, other] = [1, 2].map(() =>
    createCalendly({ outbound: createTestOutbound(clock), clock, accountLimits, budget: NO_BUDGET }, server.parts),
  );
  assert.ok(one && other);
  const slots = await listWeek(one, { now: CALENDLY_NOW, serviceId: "CHECKUP" });
  for (const [index, slot] of slots.slice(0, 10).entries())
    requireBooked(await (index % 2 === 0 ? one : other).book(toRequest("CHECKUP", slot), NEVER));
  const [next] = slots.slice(10);
  assert.ok(next);
  for (const system of [one, other]) {
    const outcome = await system.book(toRequest("CHECKUP", next), NEVER);
    assert.deepEqual(outcome, { kind: "unavailable", retryAfterMs: 60_000, upstream: null });
  }
  assert.equal(server.bookings.length, 10);
});

function createTask() {
  const { promise, resolve } = Promise.withResolvers<string>();
  const task = { isStarted: false, finish: () => resolve("done"), run: () => promise };
  task.run = () => {
    task.isStarted = true;
    return promise;
  };
  return task;
}

test("no more tasks run at once than allowed, and the next starts when one ends", async () => {
  const limit = createConcurrencyLimit(2);
  const tasks = Array.from({ length: 4 }, createTask);
  const results = tasks.map((task) => limit(task.run, NEVER));
  const listStarted = async () => {
    await setImmediate();
    return tasks.map(({ isStarted }) => isStarted);
  };
  assert.deepEqual(await listStarted(), [true, true, false, false]);
  tasks[0]?.finish();
  assert.deepEqual(await listStarted(), [true, true, true, false]);
  for (const task of tasks) task.finish();
  assert.deepEqual(await Promise.all(results), ["done", "done", "done", "done"]);
});

test("a failed task gives its place to the next", async () => {
  const limit = createConcurrencyLimit(1);
  await assert.rejects(
    limit(() => Promise.reject(new Error("no")), NEVER),
    /no/,
  );
  assert.equal(await limit(async () => "next", NEVER), "next");
});

test("a task whose caller leaves while it waits never runs, and takes up no place", async () => {
  const limit = createConcurrencyLimit(1);
  const [first, second, third] = [createTask(), createTask(), createTask()];
  const caller = new AbortController();
  const results = [limit(first.run, NEVER), limit(second.run, caller.signal), limit(third.run, NEVER)];
  caller.abort();
  assert.equal(await results[1], null);
  first.finish();
  third.finish();
  assert.deepEqual(await Promise.all(results), ["done", null, "done"]);
  assert.equal(second.isStarted, false);
});

test("nothing runs for a caller that is already gone", async () => {
  assert.equal(await createConcurrencyLimit(1)(async () => "run", AbortSignal.abort()), null);
});
