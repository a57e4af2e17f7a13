import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { makeOrganization, NOON } from "../../../../test/support/builders.ts";
import { type CalcomServer, startCalcomServer } from "../../../../test/support/scheduler/calcom-server.ts";
import { createOpenDeps } from "../../../../test/support/scheduler/open-deps.ts";
import { addConnection } from "../../scheduler/connections/connections.ts";
import type { Outbound } from "../../scheduler/outbound.ts";
import { pollConnections } from "./poll-connections.ts";

const { deps, clock } = await createOpenDeps();
const { db, scheduler } = deps;
const NEVER = new AbortController().signal;

async function start(): Promise<CalcomServer> {
  const server = await startCalcomServer();
  after(() => server.stop());
  return server;
}

async function connect(owner: OrganizationId, server: CalcomServer): Promise<void> {
  const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...server.parts });
  assert.ok(added.kind === "added", added.kind);
}

function countPolls({ requests }: CalcomServer): number {
  return requests.filter(({ path, query }) => path === "/v2/bookings" && "afterUpdatedAt" in query).length;
}

test("a system that doesn't answer holds up no poll of another connection, and all that are due are polled in one run", async () => {
  clock.set(NOON);
  const owner = await makeOrganization(db, { plan: "business" });
  const [silent, other] = [await start(), await start()];
  await connect(owner, silent);
  clock.set(new Date(NOON.getTime() + MINUTE_MS));
  const others = 45;
  for (let n = 0; n < others; n++) await connect(owner, other);
  clock.set(new Date(NOON.getTime() + DAY_MS));
  const allPolled = Promise.withResolvers<"polled">();
  const endings: string[] = [];
  const { outbound } = scheduler;
  const send: Outbound["send"] = async (request, signal) => {
    if (request.url.startsWith(silent.parts.settings.apiUrl)) {
      endings.push(await Promise.race([allPolled.promise, once(signal, "abort").then(() => "given up")]));
      return { kind: "failure", code: "timeout", wasSent: true };
    }
    const reply = await outbound.send(request, signal);
    if (countPolls(other) === others) allPolled.resolve("polled");
    return reply;
  };
  const withSilence = { ...deps, scheduler: { ...scheduler, outbound: { ...outbound, send } } };
  await pollConnections(withSilence, NEVER);
  assert.deepEqual([countPolls(other), endings], [others, ["polled"]]);
  await pollConnections(withSilence, NEVER);
  assert.equal(countPolls(other), others, "each once");
});
