import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "./turns.ts";

test("everything else has its turn after each slice of long work, and not after each small piece", async () => {
  let others = 0;
  let isOver = false;
  const count = () => {
    others += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns = new Turns();
  for (let slice = 0; slice < 5; slice++) {
    const startedAt = performance.now();
    while (performance.now() - startedAt < 1.5);
    await turns.give();
  }
  isOver = true;
  assert.ok(others >= 4, `${others} turns in 5 slices`);

  const immediate = await Promise.race([
    new Turns().give().then(() => "no turn was given"),
    new Promise((resolve) => setImmediate(resolve, "another turn")),
  ]);
  assert.equal(immediate, "no turn was given");
});
