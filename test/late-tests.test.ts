import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

// node:test alone would cancel the second test: it stops waiting when all tests known so far have ended.

test("a file's first test may end while the file is still being loaded", () => {});

await sleep(50);

test("a test that a file adds later is waited for", async () => {
  await sleep(50);
});
