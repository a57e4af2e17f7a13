import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "#contract/durations.ts";
import { createTestApp } from "../../test/support/app/app.ts";
import type { Listen } from "./db/listen.ts";
import { pause } from "./lib/concurrency/pause.ts";
import {
  book,
  createWebhookService,
  makeBusiness,
  makeEndpoint,
  startReplying,
  until,
} from "./webhooks/testing/webhook-service.ts";
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
    failures.map(({ level, task, error }) => ({ level, task, type: error.type, message: error.message })),
    [{ level: "error", task: "flaky", type: "RangeError", message: "a bad night" }],
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
  assert.equal(given.get("long"), deps.patientDb);
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

test("a worker claims nothing before it holds its lock", async () => {
  const { deps } = await createWebhookService();
  const business = await makeBusiness(deps);
  const holders: (number | null)[] = [];
  const receiver = await startReplying(async () => {
    const rows = await deps.db.selectFrom("delivery_queue").select("leased_by").execute();
    holders.push(...rows.map((row) => row.leased_by));
    return {};
  });
  await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);

  const listenLater: Listen = (...options) => {
    const listening = pause(50).then(() => deps.listen(...options));
    return { stop: async () => await (await listening).stop() };
  };
  const worker = startWorker({ ...deps, listen: listenLater }, []);
  await until(() => holders.length === 1, "the delivery has arrived");
  await worker.stop();
  assert.equal(typeof holders[0], "number");
});
