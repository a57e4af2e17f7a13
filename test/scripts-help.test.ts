import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CLEAN_ENVIRONMENT } from "./support/programs/clean-environment.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { scripts: Record<string, string> };
/** Run by npm before `start`, and the linter's own program. */
const NOT_OURS = ["prestart", "format"];

describe("every npm script explains itself with --help, and does nothing else", () => {
  for (const [name, command] of Object.entries(scripts).filter(([each]) => !NOT_OURS.includes(each)))
    test(name, async () => {
      const args = [...command.split(" ").slice(1), "--help"];
      const options = { cwd: ROOT, env: CLEAN_ENVIRONMENT };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options);
      assert.match(stdout, /^(npm |Usage: )/);
      assert.equal(stderr, "");
    });
});
