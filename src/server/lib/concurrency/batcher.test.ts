import assert from "node:assert/strict";
import { test } from "node:test";
import { Batcher, type BatcherLimits } from "./batcher.ts";

const LIMITS: BatcherLimits = { batchMax: 10, itemsMax: 100, atOnce: 1, waitMs: 60_000 };

/** Work that runs until the test ends it. */
function createWork() {
  const batches: { items: readonly number[]; end(results?: Promise<never>): void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<number[]>((resolve) =>
      batches.push({ items, end: (failure) => resolve(failure ?? items.map((item) => item * 2)) }),
    );
  return { batches, run };
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

test("items that arrive during a batch form the next one, each with its own result", async () => {
  const { batches, run } = createWork();
  const batcher = new Batcher(LIMITS, run);
  const first = batcher.submit(1);
  await turn();
  const later = [2, 3, 4].map((item) => batcher.submit(item));
  await turn();
  assert.deepEqual(
    batches.map((batch) => batch.items),
    [[1]],
  );
  batches[0]?.end();
  assert.deepEqual(await first, { kind: "done", result: 2 });
  await turn();
  assert.deepEqual(batches[1]?.items, [2, 3, 4]);
  batches[1]?.end();
  assert.deepEqual(
    await Promise.all(later),
    [4, 6, 8].map((result) => ({ kind: "done", result })),
  );
});

test("a batch never exceeds its maximum size; the rest forms the next ones", async () => {
  const { batches, run } = createWork();
  const batcher = new Batcher(LIMITS, run);
  const all = Array.from({ length: 25 }, (_, n) => batcher.submit(n));
  for (let n = 0; n < 3; n++) {
    await turn();
    batches[n]?.end();
  }
  await Promise.all(all);
  assert.deepEqual(
    batches.map((batch) => batch.items.length),
    [10, 10, 5],
  );
});

test("no more batches run at once than allowed", async () => {
  const { batches, run } = createWork();
  const batcher = new Batcher({ ...LIMITS, atOnce: 2 }, run);
  const all = Array.from({ length: 40 }, (_, n) => batcher.submit(n));
  await turn();
  assert.equal(batches.length, 2);
  batches[1]?.end();
  await turn();
  assert.equal(batches.length, 3);
  for (const n of [0, 2, 3]) {
    batches[n]?.end();
    await turn();
  }
  await Promise.all(all);
});

test("items over the limit are rejected at once, until there is room again", async () => {
  const { batches, run } = createWork();
  const batcher = new Batcher({ ...LIMITS, itemsMax: 3 }, run);
  const accepted = [1, 2, 3].map((item) => batcher.submit(item));
  assert.deepEqual(await batcher.submit(4), { kind: "full" });
  await turn();
  assert.deepEqual(await batcher.submit(5), { kind: "full" }, "items being worked on count as well");
  batches[0]?.end();
  await Promise.all(accepted);
  const next = batcher.submit(6);
  await turn();
  batches[1]?.end();
  assert.deepEqual(await next, { kind: "done", result: 12 });
});

test("when a batch fails, each of its items gets the error, and the next batch runs", async () => {
  const { batches, run } = createWork();
  const batcher = new Batcher(LIMITS, run);
  const failing = Promise.allSettled([batcher.submit(1), batcher.submit(2)]);
  await turn();
  const reason = new Error("no");
  batches[0]?.end(Promise.reject(reason));
  assert.deepEqual(await failing, [
    { status: "rejected", reason },
    { status: "rejected", reason },
  ]);
  const next = batcher.submit(3);
  await turn();
  batches[1]?.end();
  assert.deepEqual(await next, { kind: "done", result: 6 });
});

test("items past their time limit are late: the running batch finishes, and later ones never start", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { batches, run } = createWork();
  const batcher = new Batcher({ ...LIMITS, batchMax: 1, waitMs: 1_000 }, run);
  const [first, second] = [batcher.submit(1), batcher.submit(2)];
  await turn();
  t.mock.timers.tick(1_000);
  assert.deepEqual(await Promise.all([first, second]), [{ kind: "late" }, { kind: "late" }]);
  const third = batcher.submit(3);
  await turn();
  assert.equal(batches.length, 1);
  batches[0]?.end();
  await turn();
  assert.deepEqual(
    batches.map((batch) => batch.items),
    [[1], [3]],
  );
  batches[1]?.end();
  assert.deepEqual(await third, { kind: "done", result: 6 });
});

test("the batcher is idle when nothing is waiting or running", async () => {
  const { batches, run } = createWork();
  const batcher = new Batcher(LIMITS, run);
  await batcher.idle();
  const submitted = batcher.submit(1);
  let isIdle = false;
  const idle = batcher.idle().then(() => {
    isIdle = true;
  });
  await turn();
  assert.equal(isIdle, false);
  batches[0]?.end();
  await Promise.all([idle, submitted]);
});

test("a batch that fails after everyone has given up on it fails quietly, and the next one runs", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { batches, run } = createWork();
  const batcher = new Batcher({ ...LIMITS, waitMs: 1_000 }, run);
  const late = batcher.submit(1);
  await turn();
  t.mock.timers.tick(1_000);
  assert.deepEqual(await late, { kind: "late" });
  // An unhandled rejection fails the test, as it would end the service.
  batches[0]?.end(Promise.reject(new Error("the connection was cut")));
  await turn();
  const next = batcher.submit(2);
  await turn();
  batches[1]?.end();
  assert.deepEqual(await next, { kind: "done", result: 4 });
});
