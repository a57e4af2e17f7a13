import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { replayCheck, toRequests } from "../../../../test/support/scheduler/replay-check.ts";
import type { ConnectionCheck } from "./check-connection.ts";

// Every file in saved/ is the result of `connection check --save`. docs/scheduling-systems.md says how to add one.

const FOLDER = new URL("saved/", import.meta.url);

for (const name of readdirSync(FOLDER))
  test(`the saved check ${name} gives the same requests and results`, async () => {
    // Written by `connection check --save`; if it is damaged, the replay fails.
    const saved = JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as ConnectionCheck;
    const { check, faults } = await replayCheck(saved);
    assert.deepEqual(faults, []);
    assert.deepEqual(check.steps, saved.steps);
    assert.deepEqual(toRequests(check), toRequests(saved));
  });
