import assert from "node:assert/strict";
import { test } from "node:test";
import { Alarm } from "./alarm.ts";

const FAR_MS = 60_000;

test("a wait ends when woken", async () => {
  const alarm = new Alarm();
  const waiting = alarm.wait(FAR_MS);
  alarm.wake();
  await waiting;
});

test("a wake-up before the wait is not lost, and counts once", async () => {
  const alarm = new Alarm();
  alarm.wake();
  alarm.wake();
  await alarm.wait(FAR_MS);
  let isOver = false;
  const second = alarm.wait(FAR_MS).then(() => {
    isOver = true;
  });
  await Promise.resolve();
  assert.equal(isOver, false);
  alarm.wake();
  await second;
});

test("a wait ends by itself after its time", async () => {
  await new Alarm().wait(1);
});

test("several requests to wake within a time wake once, and an earlier wake-up serves all of them", async () => {
  const alarm = new Alarm();
  for (let n = 0; n < 3; n++) alarm.wakeWithin(1);
  await alarm.wait(FAR_MS);
  alarm.wakeWithin(FAR_MS);
  alarm.wake();
  await alarm.wait(FAR_MS);
  let isOver = false;
  const next = alarm.wait(FAR_MS).then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  assert.equal(isOver, false);
  alarm.wake();
  await next;
});

test("a request to wake sooner replaces a later one, and a later one changes nothing", async () => {
  const alarm = new Alarm();
  alarm.wakeWithin(FAR_MS);
  alarm.wakeWithin(1);
  alarm.wakeWithin(FAR_MS);
  await alarm.wait(FAR_MS);
});
