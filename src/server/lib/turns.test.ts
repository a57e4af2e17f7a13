import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "./turns.ts";

/** Keeps the processor busy. */
function work(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

test("others that have work get most of the time, and are not waited for after each small piece", async () => {
  let othersMs = 0;
  let isOver = false;
  const serve = () => {
    const startedAt = performance.now();
    work(0.5);
    othersMs += performance.now() - startedAt;
    if (!isOver) setImmediate(serve);
  };
  setImmediate(serve);
  const turns = new Turns();
  let ownMs = 0;
  for (let piece = 0; piece < 40; piece++)
    await turns.spend(() => {
      const startedAt = performance.now();
      work(0.3);
      ownMs += performance.now() - startedAt;
    });
  isOver = true;
  assert.ok(othersMs > 4 * ownMs, `${othersMs} ms of others, ${ownMs} ms of its own`);

  const first = await Promise.race([
    new Turns().spend(() => undefined).then(() => "goes on"),
    new Promise((resolve) => setImmediate(resolve, "others")),
  ]);
  assert.equal(first, "goes on");
});
