import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../../lib/log/log.ts";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { Nodes } from "./nodes.ts";

const OWNER = "org_1";
const OLD = "one:5432";

/** Servers that never answer. */
function createSilentNodes(): { nodes: Nodes; probed: string[] } {
  const probed: string[] = [];
  const nodes = new Nodes({
    probe: async (address) => {
      probed.push(address);
      throw new DatabaseUnavailable("no answer");
    },
    isSomeoneWaiting: () => true,
    onSilent: () => undefined,
    log: createLog("silent"),
  });
  return { nodes, probed };
}

/** Four ticks a second. */
async function passSeconds(nodes: Nodes, seconds: number): Promise<void> {
  for (let tick = 0; tick < seconds * 4; tick++) {
    nodes.tick();
    await Promise.resolve();
    await Promise.resolve();
  }
}

test("a silent server is no longer probed a minute after a standby took over its organizations", async () => {
  const { nodes, probed } = createSilentNodes();
  const old = nodes.learn(OWNER, OLD);
  await passSeconds(nodes, 4);
  assert.ok(old.watch.silence);
  nodes.learn(OWNER, "standby:5432");
  await passSeconds(nodes, 61);
  probed.length = 0;
  await passSeconds(nodes, 5);
  assert.ok(!probed.includes(OLD));
  assert.equal(nodes.learn(OWNER, OLD).watch.silence, null);
});

test("a silent server is probed as long as statements are about its organizations", async () => {
  const { nodes, probed } = createSilentNodes();
  const old = nodes.learn(OWNER, OLD);
  for (let minute = 0; minute < 3; minute++) {
    await passSeconds(nodes, 59);
    assert.equal(nodes.learn(OWNER, OLD), old);
  }
  probed.length = 0;
  await passSeconds(nodes, 5);
  assert.ok(probed.includes(OLD));
});
