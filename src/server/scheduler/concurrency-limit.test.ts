import assert from "node:assert/strict";
import { test } from "node:test";
import { createConcurrencyLimit } from "./concurrency-limit.ts";

const NEVER = new AbortController().signal;

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
  const started = () => tasks.map(({ isStarted }) => isStarted);
  assert.deepEqual(started(), [true, true, false, false]);
  tasks[0]?.finish();
  await results[0];
  await Promise.resolve();
  assert.deepEqual(started(), [true, true, true, false]);
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
