import assert from "node:assert/strict";
import { after } from "node:test";
import { createTestClock } from "../../../../test/support/app.ts";
import { createCalendly } from "../calendly/calendly.ts";
import type { UnlimitedSystem } from "../scheduling-system.ts";
import { type CalendlyServer, startCalendlyServer } from "./calendly-server.ts";
import { CALENDLY_NOW } from "./calendly-world.ts";
import { createTestOutbound } from "./outbound.ts";

/** For tests: the Calendly adapter with its own stand-in server, which must have understood every request. */
export async function openCalendly(): Promise<{ system: UnlimitedSystem; server: CalendlyServer }> {
  const clock = createTestClock(CALENDLY_NOW);
  const server = await startCalendlyServer(CALENDLY_NOW);
  after(async () => {
    await server.stop();
    assert.deepEqual(server.faults, [], "requests that Calendly would not have understood");
  });
  return { system: createCalendly({ outbound: createTestOutbound(clock), clock }, server.parts), server };
}
