import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CLEAN_ENVIRONMENT } from "../support/programs/clean-environment.ts";

const ROUNDS = 2;

test("a few faults under load lose nothing that was acknowledged (npm run faults has many more)", {
  skip: process.platform !== "linux" && "processes are listed and stopped as Linux does",
}, async () => {
  const logs = mkdtempSync(join(tmpdir(), "bookflow-fault-logs-"));
  after(() => rmSync(logs, { recursive: true, force: true }));
  const program = join(import.meta.dirname, "../../faults/main.ts");
  const child = spawn(process.execPath, [program, "--rounds", String(ROUNDS), "--seed", "4", "--logs", logs], {
    env: { ...process.env, NODE_OPTIONS: CLEAN_ENVIRONMENT.NODE_OPTIONS },
    stdio: ["ignore", "pipe", "pipe"],
  });
  after(() => child.kill("SIGTERM"));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code] = await once(child, "close");
  assert.equal(code, 0, output);
  assert.equal(output.match(/, ok$/gm)?.length, ROUNDS, output);
});
