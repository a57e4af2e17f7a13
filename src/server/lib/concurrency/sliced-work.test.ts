import assert from "node:assert/strict";
import { test } from "node:test";
import { noteEvents, SlicedWork } from "./sliced-work.ts";

/** Keeps the processor busy. */
function work(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

test("others get a turn between slices of short work, and most of the time beside long work", async () => {
  const others = { turns: 0, ms: 0 };
  let isOver = false;
  const serve = () => {
    const startedAt = performance.now();
    work(0.5);
    others.turns += 1;
    others.ms += performance.now() - startedAt;
    if (!isOver) setImmediate(serve);
  };
  setImmediate(serve);
  const sliced = new SlicedWork();
  for (let piece = 0; piece < 5; piece++) await sliced.spend(() => work(2));
  assert.equal(others.turns, 5);

  for (let piece = 0; piece < 5; piece++) await sliced.spend(() => work(2));
  others.ms = 0;
  let ownMs = 0;
  for (let piece = 0; piece < 40; piece++)
    await sliced.spend(() => {
      const startedAt = performance.now();
      work(0.3);
      // On a busy machine, more than this was the work of other processes.
      ownMs += Math.min(0.5, performance.now() - startedAt);
    });
  isOver = true;
  assert.ok(others.ms > 4 * ownMs, `${others.ms} ms of others, ${ownMs} ms of its own`);
});

test("beside many visitors, most of the time is theirs even while this process has nothing to do", async () => {
  const sliced = new SlicedWork();
  const spend = async () => {
    noteEvents(50);
    await sliced.spend(() => work(1));
  };
  // Only longer work gives way.
  for (let piece = 0; piece < 15; piece++) await spend();
  const startedAt = performance.now();
  for (let piece = 0; piece < 10; piece++) await spend();
  const elapsedMs = performance.now() - startedAt;
  assert.ok(elapsedMs > 80, `10 ms of work took ${elapsedMs} ms`);
});

test("others don't get a turn after each small piece of work", async () => {
  const first = await Promise.race([
    new SlicedWork().spend(() => undefined).then(() => "goes on"),
    new Promise((resolve) => setImmediate(resolve, "others")),
  ]);
  assert.equal(first, "goes on");
});
