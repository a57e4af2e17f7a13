import assert from "node:assert/strict";
import { after } from "node:test";
import { createTestClock, type TestClock } from "../../../../test/support/app/app.ts";
import { AccountLimits } from "../account-limits.ts";
import { createCalendly } from "../calendly/calendly.ts";
import type { UnlimitedSystem } from "../scheduling-system.ts";
import { type CalendlyServer, startCalendlyServer } from "./calendly-server.ts";
import { CALENDLY_NOW } from "./calendly-world.ts";
import { createTestOutbound, NO_BUDGET } from "./outbound.ts";

/** For tests: the Calendly adapter with its own stand-in server, which must have understood every request. */
export async function openCalendly(): Promise<{ system: UnlimitedSystem; server: CalendlyServer; clock: TestClock }> {
  const clock = createTestClock(CALENDLY_NOW);
  const server = await startCalendlyServer(CALENDLY_NOW);
  after(async () => {
    await server.stop();
    assert.deepEqual(server.faults, [], "requests that Calendly would not have understood");
  });
  const system = createCalendly(
    { outbound: createTestOutbound(clock), clock, accountLimits: new AccountLimits(), budget: NO_BUDGET },
    server.parts,
  );
  return { system, server, clock };
}
