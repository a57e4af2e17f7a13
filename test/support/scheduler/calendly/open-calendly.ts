import assert from "node:assert/strict";
import { after } from "node:test";
import { AccountLimits } from "../../../../src/server/scheduler/account-limits.ts";
import { createCalendly } from "../../../../src/server/scheduler/calendly/calendly.ts";
import type { UnlimitedSystem } from "../../../../src/server/scheduler/scheduling-system.ts";
import { createTestClock, type TestClock } from "../../app/app.ts";
import { createTestOutbound, NO_BUDGET } from "../outbound.ts";
import { type CalendlyServer, startCalendlyServer } from "./calendly-server.ts";
import { CALENDLY_NOW } from "./calendly-world.ts";

/** For tests: the Calendly adapter with its own stand-in server, which must have understood every request. */
export async function openCalendly(): Promise<{ system: UnlimitedSystem; server: CalendlyServer; clock: TestClock }> {
  const clock = createTestClock(CALENDLY_NOW);
  const server = await startCalendlyServer(CALENDLY_NOW);
  after(async () => {
    await server.stop();
    assert.deepEqual(server.faults, [], "requests that Calendly would not have understood");
  });
  const system = createCalendly(
    { outbound: createTestOutbound(clock), clock, accountLimits: new AccountLimits(clock), budget: NO_BUDGET },
    server.parts,
  );
  return { system, server, clock };
}
