import assert from "node:assert/strict";
import { test } from "node:test";
import { toClientNetwork } from "./client-network.ts";

for (const [ip, network] of [
  ["192.0.2.1", "192.0.2.1"],
  ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1"],
  ["2001:db8:1:2::6", "2001:db8:1"],
  ["2001:db8::6", "2001:db8:0"],
  ["2001:db8::3:4:5:6", "2001:db8:0"],
  ["2001::2:3:4:5:6:7", "2001:0:2"],
  ["::1", "0:0:0"],
  ["::", "0:0:0"],
  ["fe80::1%eth0", "fe80:0:0"],
  ["unknown", "unknown"],
] as const)
  test(`${ip} counts with ${network}`, () => assert.equal(toClientNetwork(ip), network));
