import assert from "node:assert/strict";
import { test } from "node:test";
import { Semaphore } from "./semaphore.ts";

test("no more work runs at once than allowed, and each piece gets its turn in order, also after a failure", async () => {
  const few = new Semaphore(2);
  const started: number[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const results = [0, 1, 2, 3].map((n) => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return few.run(`key ${n}`, async () => {
      started.push(n);
      await end.promise;
      if (n === 1) throw new Error("failed");
      return n;
    });
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const settled = Promise.allSettled(results);
  await turn();
  assert.deepEqual(started, [0, 1]);
  ends[1]?.resolve();
  await turn();
  assert.deepEqual(started, [0, 1, 2]);
  for (const end of ends) end.resolve();
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled", "fulfilled"],
  );
  assert.deepEqual(started, [0, 1, 2, 3]);
  assert.equal(await few.run("key", async () => "free again"), "free again");
});

test("work of one key runs one piece after the other, and another key does not wait for it", async () => {
  const few = new Semaphore(2);
  const started: string[] = [];
  const first = Promise.withResolvers<void>();
  const run = (key: string, name: string, end?: Promise<void>) =>
    few.run(key, async () => {
      started.push(name);
      await end;
    });
  const large = [run("large", "large 1", first.promise), run("large", "large 2"), run("large", "large 3")];
  await run("small", "small 1");
  assert.deepEqual(started, ["large 1", "small 1"]);
  first.resolve();
  await Promise.all(large);
  assert.deepEqual(started, ["large 1", "small 1", "large 2", "large 3"]);
});

test("keys take turns: one with much work waiting does not come before one that arrives later", async () => {
  const few = new Semaphore(1);
  const started: string[] = [];
  const run = (name: string) => few.run(name[0] as string, async () => void started.push(name));
  await Promise.all(["a1", "a2", "a3", "b1", "b2", "c1"].map(run));
  assert.deepEqual(started, ["a1", "a2", "b1", "c1", "a3", "b2"]);
});
