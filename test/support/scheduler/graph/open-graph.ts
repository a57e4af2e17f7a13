import assert from "node:assert/strict";
import { after } from "node:test";
import { AccountLimits } from "../../../../src/server/scheduler/account-limits.ts";
import { createMicrosoftBookings } from "../../../../src/server/scheduler/microsoft-bookings/microsoft-bookings.ts";
import type { UnlimitedSystem } from "../../../../src/server/scheduler/scheduling-system.ts";
import { createTestClock, type TestClock } from "../../app/app.ts";
import { createTestOutbound, NO_BUDGET } from "../outbound.ts";
import { type GraphServer, startGraphServer } from "./graph-server.ts";
import { GRAPH_NOW } from "./graph-world.ts";

/** For tests: the Microsoft Bookings adapter with its own stand-in server, which must have understood every request. */
export async function openGraph(): Promise<{ system: UnlimitedSystem; server: GraphServer; clock: TestClock }> {
  const clock = createTestClock(GRAPH_NOW);
  const server = await startGraphServer();
  after(async () => {
    await server.stop();
    assert.deepEqual(server.faults, [], "requests that Graph would not have understood");
  });
  const system = createMicrosoftBookings(
    { outbound: createTestOutbound(clock), clock, accountLimits: new AccountLimits(clock), budget: NO_BUDGET },
    server.parts,
  );
  return { system, server, clock };
}
