import assert from "node:assert/strict";
import { after } from "node:test";
import type { Clock } from "../../../src/server/lib/time/clock.ts";
import { createOutbound, type Outbound } from "../../../src/server/scheduler/outbound.ts";
import { RequestBudget } from "../../../src/server/scheduler/request-budget.ts";
import { type Cidr, parseCidr } from "../../../src/server/sending/address-rules.ts";
import { NOON } from "../builders.ts";

/** For tests: an account without a limit, because the clock of most tests stands still. */
export const NO_BUDGET = new RequestBudget({ now: () => NOON }, { requests: 1_000_000_000, windowMs: 1 });

/** For tests: the real client, allowed to reach this machine. */
export function createTestOutbound(clock: Clock, allow: readonly string[] = ["127.0.0.0/8"]): Outbound {
  const outbound = createOutbound({
    clock,
    docsUrl: "https://docs.example",
    resolve: async () => ({ kind: "not_found" }),
    allow: allow.map((text): Cidr => parseCidr(text) ?? assert.fail(text)),
    nat64: [],
  });
  after(() => outbound.close());
  return outbound;
}
