import assert from "node:assert/strict";
import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeTestFolder } from "../../../../test/support/database/embedded/processes.ts";
import { boundLog, openLog } from "./log-file.ts";

const path = join(makeTestFolder().folder, "some.log");

test("a log over its limit is rotated, keeps one older part, and its writer continues", () => {
  writeFileSync(path, "old lines\n");
  const handle = openLog(path, 5);
  writeSync(handle, "new\n");
  boundLog(path, 5);
  assert.equal(readFileSync(path, "utf8"), "new\n");
  assert.equal(readFileSync(`${path}.1`, "utf8"), "old lines\n");
});

test("a deleted log is not an error", () => {
  boundLog(`${path}.gone`, 5);
});
