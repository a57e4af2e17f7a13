import assert from "node:assert/strict";
import { after } from "node:test";
import { AccountLimits } from "../../../../src/server/scheduler/account-limits.ts";
import { createCalcom } from "../../../../src/server/scheduler/calcom/calcom.ts";
import type { RequestBudget } from "../../../../src/server/scheduler/request-budget.ts";
import type { UnlimitedSystem } from "../../../../src/server/scheduler/scheduling-system.ts";
import { createTestClock, type TestClock } from "../../app/app.ts";
import { createTestOutbound, NO_BUDGET } from "../outbound.ts";
import { type CalcomServer, startCalcomServer } from "./calcom-server.ts";
import { CALCOM_NOW } from "./calcom-world.ts";

/** For tests: the Cal.com adapter with its own stand-in server, which must have understood every request. */
export async function openCalcom(
  budget: RequestBudget = NO_BUDGET,
): Promise<{ system: UnlimitedSystem; server: CalcomServer; clock: TestClock }> {
  const clock = createTestClock(CALCOM_NOW);
  const server = await startCalcomServer();
  after(async () => {
    await server.stop();
    assert.deepEqual(server.faults, [], "requests that Cal.com would not have understood");
  });
  return {
    system: createCalcom(
      { outbound: createTestOutbound(clock), clock, budget, accountLimits: new AccountLimits(clock) },
      server.parts,
    ),
    server,
    clock,
  };
}
