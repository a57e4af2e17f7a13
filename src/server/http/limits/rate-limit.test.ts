import assert from "node:assert/strict";
import { test } from "node:test";
import { RateLimiter, SharedLimiter } from "./rate-limit.ts";

const at = (time: string) => new Date(`2026-11-01T${time}Z`);

test("a key can make as many requests a minute as the limit allows, and no more", () => {
  const limiter = new RateLimiter({ perMinute: 2 });
  assert.deepEqual(
    ["12:00:00.000", "12:00:20.500", "12:00:30.000", "12:00:59.999", "12:01:00.000"].map((time) =>
      limiter.take("key_a", at(time)),
    ),
    [
      { isAllowed: true, remaining: 1, resetSeconds: 60 },
      { isAllowed: true, remaining: 0, resetSeconds: 40 },
      { isAllowed: false, remaining: 0, resetSeconds: 30 },
      { isAllowed: false, remaining: 0, resetSeconds: 1 },
      { isAllowed: true, remaining: 1, resetSeconds: 60 },
    ],
  );
});

test("one key's requests do not count towards another's limit", () => {
  const limiter = new RateLimiter({ perMinute: 1 });
  limiter.take("key_a", at("12:00:00.000"));
  assert.equal(limiter.take("key_a", at("12:00:00.000")).isAllowed, false);
  assert.equal(limiter.take("key_b", at("12:00:00.000")).isAllowed, true);
});

test("a few networks can't use up a shared limit: its second half is kept for networks that have used little", () => {
  const limiter = new SharedLimiter({ perMinute: 60 });
  const take = (network: string, key = "widget") =>
    limiter.take({ key, network }, at("12:00:00.000")).isAllowed ? "yes" : "no";
  const networks = Array.from({ length: 20 }, (_, place) => `network ${place}`);
  const countAllowed = (network: string) =>
    Array.from({ length: 60 }, () => take(network)).filter((is) => is === "yes");
  assert.deepEqual(
    networks.map((network) => countAllowed(network).length),
    [30, ...Array<number>(15).fill(2), 0, 0, 0, 0],
  );
  assert.equal(take("network 0", "another widget"), "yes");
  assert.equal(limiter.take({ key: "widget", network: "network 0" }, at("12:01:00.000")).isAllowed, true);
});

test("a clock that is set back does not lock a key out", () => {
  const limiter = new RateLimiter({ perMinute: 1 });
  limiter.take("key_a", at("12:05:00.000"));
  assert.deepEqual(limiter.take("key_a", at("12:00:10.000")), { isAllowed: true, remaining: 0, resetSeconds: 50 });
});

test("the headers name the policy, what is left of it and when it resets", () => {
  const limiter = new RateLimiter({ perMinute: 60 });
  assert.deepEqual(limiter.headers({ isAllowed: true, remaining: 59, resetSeconds: 42 }), {
    "ratelimit-policy": '"default";q=60;w=60',
    ratelimit: '"default";r=59;t=42',
  });
});

test("made-up keys take limited memory: beyond it they are let through uncounted", () => {
  const limiter = new RateLimiter({ perMinute: 1, keysMax: 2 });
  const now = at("12:00:00.000");
  for (const key of ["a", "b", "c"]) assert.equal(limiter.take(key, now).isAllowed, true);
  assert.deepEqual(
    ["a", "b", "c"].map((key) => limiter.take(key, now).isAllowed),
    [false, false, true],
  );
});
