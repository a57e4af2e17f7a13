import assert from "node:assert/strict";
import { test } from "node:test";
import { within } from "./pause.ts";

test("work finished in time gives its result, or its error", async () => {
  assert.equal(await within(1_000, Promise.resolve(7)), 7);
  await assert.rejects(within(1_000, Promise.reject(new Error("broken"))), { message: "broken" });
});

test("work that takes too long is abandoned", async () => {
  await assert.rejects(within(1, new Promise(() => undefined)), { message: "Not done in time", code: "ETIMEDOUT" });
});
