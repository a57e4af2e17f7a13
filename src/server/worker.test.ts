import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS } from "#contract/durations.ts";
import { createTestApp } from "../../test/support/app/app.ts";
import { until } from "../../test/support/until.ts";
import {
  book,
  createWebhookService,
  makeBusiness,
  makeEndpoint,
  startReplying,
} from "../../test/support/webhooks/webhook-service.ts";
import type { Listen } from "./db/connections/listen.ts";
import { startWorker, type Task } from "./worker.ts";

const { deps, lines } = await createTestApp();

/** A task whose runs are numbered, with the shortest period, since the test waits for nothing. */
function makeTask(name: string, run: (runNumber: number, signal: AbortSignal) => Promise<void>): Task {
  let runs = 0;
  return {
    name,
    periodMs: 1,
    run: (_deps, signal) => {
      runs += 1;
      return run(runs, signal);
    },
  };
}

async function countRuns(name: string): Promise<Record<string, number>> {
  const { values } = await deps.metrics.taskRuns.get();
  const runs = values.filter(({ labels }) => labels.task === name);
  return Object.fromEntries(runs.map(({ labels, value }) => [String(labels.outcome), value]));
}

test("a failed run is logged and the next one runs", async () => {
  const { promise: hasRunAgain, resolve: ranAgain } = Promise.withResolvers<void>();
  const flaky = makeTask("flaky", async (runNumber) => {
    if (runNumber === 1) throw new RangeError("a bad night");
    if (runNumber === 3) ranAgain();
  });
  const worker = startWorker(deps, [flaky]);
  await hasRunAgain;
  await worker.stop();

  const failures = lines.map((line) => JSON.parse(line)).filter(({ name }) => name === "task.failed");
  assert.deepEqual(
    failures.map(({ level, task, error }) => ({ level, task, type: error.type })),
    [{ level: "error", task: "flaky", type: "RangeError" }],
  );
  const { failed, succeeded = 0 } = await countRuns("flaky");
  assert.equal(failed, 1);
  assert.ok(succeeded >= 2);
});

test("a task with long statements gets the database pool that waits for them", async () => {
  const given = new Map<string, unknown>();
  const { promise: haveRun, resolve } = Promise.withResolvers<void>();
  const task = (name: string): Task => ({
    name,
    periodMs: DAY_MS,
    async run({ db }) {
      if (given.set(name, db).size === 2) resolve();
    },
  });
  const worker = startWorker(deps, [task("short"), { ...task("long"), isLong: true }]);
  await haveRun;
  await worker.stop();
  assert.equal(given.get("short"), deps.db);
  assert.equal(given.get("long"), deps.longRunningDb);
});

test("a task that fails or hangs does not hold up another", async () => {
  const { promise: hasRun, resolve: ran } = Promise.withResolvers<void>();
  const hanging = makeTask("hanging", (_runNumber, signal) => {
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  });
  const failing = makeTask("failing", async () => {
    throw new Error("always");
  });
  const healthy = makeTask("healthy", async (runNumber) => {
    if (runNumber === 5) ran();
  });
  const worker = startWorker(deps, [hanging, failing, healthy]);
  await hasRun;
  await worker.stop();
  assert.deepEqual(await countRuns("hanging"), { failed: 0, succeeded: 1 });
});

test("stopping waits for the run in progress, signals it, and starts no other", async () => {
  const { promise: hasBegun, resolve: begun } = Promise.withResolvers<void>();
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  let runs = 0;
  let wasTold = false;
  const task = makeTask("slow", async (runNumber, signal) => {
    runs = runNumber;
    begun();
    await mayEnd;
    wasTold = signal.aborted;
  });
  const worker = startWorker(deps, [task]);
  await hasBegun;
  let hasStopped = false;
  const stopping = worker.stop().then(() => {
    hasStopped = true;
  });
  await Promise.resolve();
  assert.equal(hasStopped, false);
  end();
  await stopping;
  assert.deepEqual([runs, wasTold], [1, true]);
});

test("a worker stops at once when nothing is running", async () => {
  const { promise: hasRun, resolve: ran } = Promise.withResolvers<void>();
  const worker = startWorker(deps, [{ ...makeTask("idle", async () => ran()), periodMs: DAY_MS }]);
  await hasRun;
  await worker.stop();
  assert.deepEqual(await countRuns("idle"), { failed: 0, succeeded: 1 });
});

describe("the delivery loop and the worker's lock", () => {
  /** A booking to deliver, and a worker that listens and takes its lock only when told to. */
  async function setUp() {
    const service = await createWebhookService();
    const business = await makeBusiness(service.deps);
    const { db } = service.deps;
    const listHolders = async () => {
      const leases = db.selectFrom("delivery_queue").where("lease_token", "is not", null);
      return (await leases.select("leased_by").execute()).map((row) => row.leased_by);
    };
    const holders: (number | null)[] = [];
    const receiver = await startReplying(async () => {
      holders.push(...(await listHolders()));
      return {};
    });
    await makeEndpoint(service.deps, business, { url: receiver.url });
    await book(service.deps, business);

    const { promise: mayListen, resolve: listen } = Promise.withResolvers<void>();
    const listenLater: Listen = (...options) => {
      const listening = mayListen.then(() => service.deps.listen(...options));
      return { stop: async () => await (await listening).stop() };
    };
    const worker = startWorker({ ...service.deps, listen: listenLater }, []);
    return { worker, listen, listHolders, holders };
  }

  test("the first lease carries the worker's number", async () => {
    const { worker, listen, listHolders, holders } = await setUp();
    assert.deepEqual(await listHolders(), []);
    listen();
    await until(() => holders.length === 1, "the delivery has arrived");
    await worker.stop();
    assert.equal(typeof holders[0], "number");
  });

  test("a worker that gets no lock delivers too", async () => {
    const { worker, listen, holders } = await setUp();
    await until(() => holders.length === 1, "the delivery has arrived");
    listen();
    await worker.stop();
    assert.deepEqual(holders, [null]);
  });

  test("a worker that is stopped before claims nothing", async () => {
    const { worker, listen, listHolders, holders } = await setUp();
    const stopped = worker.stop();
    listen();
    await stopped;
    assert.deepEqual([holders, await listHolders()], [[], []]);
  });
});
