import assert from "node:assert/strict";
import { test } from "node:test";
import { startFaultyProxy } from "./faulty-proxy.ts";

test("a service that is gone closes the caller's connection, and fails no other test", async () => {
  // Nothing listens on port 1. A request may still be in progress when a test's service is closed.
  const proxy = await startFaultyProxy("http://127.0.0.1:1");
  await assert.rejects(fetch(proxy.url), TypeError);
});
