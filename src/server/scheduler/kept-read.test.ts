import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestClock } from "../../../test/support/app/app.ts";
import { NOON } from "../../../test/support/builders.ts";
import { createKeptRead } from "./kept-read.ts";
import { type Read, unavailable } from "./scheduling-system.ts";

const NEVER = new AbortController().signal;

function createCounted(replies: readonly Promise<Read<string>>[]) {
  const clock = createTestClock();
  const loads: AbortSignal[] = [];
  const kept = createKeptRead<string>(
    { clock },
    {
      timeoutMs: 60_000,
      toKeptMs: () => 1_000,
      load: (signal) => {
        loads.push(signal);
        return replies[loads.length - 1] ?? Promise.resolve(unavailable());
      },
    },
  );
  return { kept, loads, clock };
}

const one = Promise.resolve({ kind: "found", value: "one" } as const);
const two = Promise.resolve({ kind: "found", value: "two" } as const);

test("simultaneous callers share one load, and later ones its result while it is kept", async () => {
  const { kept, loads, clock } = createCounted([one, two]);
  const replies = await Promise.all([kept.get(NEVER), kept.get(NEVER), kept.get(NEVER)]);
  assert.deepEqual(replies, [await one, await one, await one]);
  clock.set(new Date(NOON.getTime() + 999));
  assert.deepEqual(await kept.get(NEVER), await one);
  assert.equal(loads.length, 1);
  clock.set(new Date(NOON.getTime() + 1_000));
  assert.deepEqual(await kept.get(NEVER), await two);
});

test("a clock that is set back does not keep a value for longer", async () => {
  const { kept, clock } = createCounted([one, two]);
  assert.deepEqual(await kept.get(NEVER), await one);
  clock.set(new Date(NOON.getTime() - 1_000));
  assert.deepEqual(await kept.get(NEVER), await two);
});

test("a failure is not kept", async () => {
  const { kept, loads } = createCounted([Promise.resolve(unavailable()), one]);
  assert.deepEqual(await kept.get(NEVER), unavailable());
  assert.deepEqual(await kept.get(NEVER), await one);
  assert.equal(loads.length, 2);
});

test("a caller that leaves is answered at once, and the others still get the result", async () => {
  const { promise, resolve } = Promise.withResolvers<Read<string>>();
  const { kept, loads } = createCounted([promise]);
  const leaver = new AbortController();
  const [left, stayed] = [kept.get(leaver.signal), kept.get(NEVER)];
  leaver.abort();
  assert.deepEqual(await left, unavailable({ status: null, requestId: null, failure: "aborted" }));
  assert.equal(loads[0]?.aborted, false);
  resolve({ kind: "found", value: "one" });
  assert.deepEqual(await stayed, await one);
});

test("a caller that has already left starts nothing", async () => {
  const { kept, loads } = createCounted([one]);
  assert.equal((await kept.get(AbortSignal.abort())).kind, "unavailable");
  assert.equal(loads.length, 0);
});

test("a forgotten value is loaded again, unless a newer one has arrived", async () => {
  const { kept, loads } = createCounted([one, two]);
  await kept.get(NEVER);
  kept.forget("two");
  await kept.get(NEVER);
  assert.equal(loads.length, 1);
  kept.forget("one");
  assert.deepEqual(await kept.get(NEVER), await two);
});
