import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestClock } from "../../../test/support/app/app.ts";
import { NOON } from "../../../test/support/builders.ts";
import { startLocalServer } from "../../../test/support/scheduler/local-server.ts";
import { createTestOutbound } from "../../../test/support/scheduler/outbound.ts";
import { RequestBudget, withBudget } from "./request-budget.ts";

const NEVER = new AbortController().signal;
const later = (ms: number) => new Date(NOON.getTime() + ms);

function createSpent(count: number): { budget: RequestBudget; wait: (ms: number) => void } {
  const clock = createTestClock(NOON);
  const budget = new RequestBudget(clock, { requests: 120, windowMs: 60_000 });
  for (let n = 0; n < count; n++) assert.equal(budget.take(), 0);
  return { budget, wait: (ms) => clock.set(later(ms)) };
}

test("a third of the requests is kept for bookings, and a third for times that nobody knows yet", () => {
  for (const [spent, renewal, first] of [
    [39, true, true],
    [40, false, true],
    [79, false, true],
    [80, false, false],
  ] as const) {
    const { budget } = createSpent(spent);
    assert.deepEqual([budget.allows("renewal"), budget.allows("first")], [renewal, first], String(spent));
    assert.equal(budget.take(), 0, "a booking is always sent");
  }
});

test("nothing is sent beyond the limit until the window ends, and then everything is allowed again", () => {
  const { budget, wait } = createSpent(120);
  wait(45_000);
  assert.equal(budget.take(), 15_000);
  wait(60_000);
  assert.equal(budget.take(), 0);
  assert.equal(budget.allows("renewal"), true);
});

test("a clock that is set back does not keep an account waiting", () => {
  const { budget, wait } = createSpent(120);
  wait(-3_600_000);
  assert.equal(budget.take(), 0);
});

test("a system that says less is left corrects the count, within the window that it names", () => {
  const { budget, wait } = createSpent(1);
  budget.note({ limit: 120, remaining: 2, resetMs: 10_000 });
  assert.deepEqual([budget.take(), budget.take(), budget.take()], [0, 0, 10_000]);
  wait(10_000);
  assert.equal(budget.take(), 0);
});

test("a reply that was overtaken by others gives nothing back", () => {
  const { budget, wait } = createSpent(100);
  wait(1_000);
  budget.note({ limit: 120, remaining: 60, resetMs: 59_000 });
  assert.equal(budget.allows("first"), false);
});

test("the limit that a system names applies", () => {
  const { budget: generous } = createSpent(1);
  generous.note({ limit: 900, remaining: 899, resetMs: 60_000 });
  for (let n = 0; n < 299; n++) generous.take();
  assert.deepEqual([generous.allows("renewal"), generous.allows("first")], [false, true]);
  const { budget } = createSpent(1);
  budget.note({ limit: 30, remaining: 21, resetMs: 60_000 });
  assert.equal(budget.allows("renewal"), true);
  budget.take();
  assert.equal(budget.allows("renewal"), false);
});

test("a request over the budget isn't sent, and reads the limit from the headers of Cal.com, Calendly and Graph", async () => {
  for (const headers of [
    { "X-RateLimit-Limit-Default": "120", "X-RateLimit-Remaining-Default": "0", "X-RateLimit-Reset-Default": "42" },
    { "X-RateLimit-Limit": "500", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "42" },
    { "RateLimit-Limit": "10000", "RateLimit-Remaining": "0", "RateLimit-Reset": "42" },
  ]) {
    const server = await startLocalServer(() => ({ status: 200, json: {}, headers }));
    after(() => server.stop());
    const clock = createTestClock(NOON);
    const budget = new RequestBudget(clock, { requests: 120, windowMs: 60_000 });
    const outbound = withBudget(createTestOutbound(clock), budget);
    const request = { method: "GET", url: server.url, headers: {}, body: null } as const;
    await outbound.send(request, NEVER);
    const second = await outbound.send(request, NEVER);
    assert.deepEqual(second.kind === "reply" && [second.status, second.retryAfterMs], [429, 42_000]);
    assert.equal(server.requests.length, 1);
  }
});

test("after a 429 nothing is sent until the system's wait is over", async () => {
  const server = await startLocalServer(() => ({ status: 429, json: {}, headers: { "Retry-After": "30" } }));
  after(() => server.stop());
  const clock = createTestClock(NOON);
  const budget = new RequestBudget(clock, { requests: 120, windowMs: 60_000 });
  const outbound = withBudget(createTestOutbound(clock), budget);
  const request = { method: "GET", url: server.url, headers: {}, body: null } as const;
  for (const [ms, count] of [
    [0, 1],
    [29_999, 1],
    [30_000, 2],
  ] as const) {
    clock.set(later(ms));
    await outbound.send(request, NEVER);
    assert.equal(server.requests.length, count);
  }
});

test("a limit on bookings alone doesn't count for all requests", async () => {
  const headers = { "X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "42" };
  const server = await startLocalServer(() => ({ status: 201, json: {}, headers }));
  after(() => server.stop());
  const clock = createTestClock(NOON);
  const budget = new RequestBudget(clock, { requests: 500, windowMs: 60_000 });
  const outbound = withBudget(createTestOutbound(clock), budget);
  await outbound.send({ method: "POST", url: server.url, headers: {}, body: { json: {} } }, NEVER);
  assert.equal(budget.allows("renewal"), true);
});
