import { existsSync } from "node:fs";
import { examine, type Finding } from "../operations/operations.ts";
import type { Command } from "./command.ts";

const BROWSER_FILES = new URL("../../../dist/made-from", import.meta.url);
const MARKS: Record<Finding["state"], string> = { ok: "ok  ", warning: "warn", fault: "FAIL" };

export const DOCTOR_COMMAND: Command = {
  name: "doctor",
  usage: "doctor",
  summary:
    "check settings, database, mail, clock, queue and more, and suggest fixes; exits with 1 if something is broken",
  options: [],
  positionals: 0,
  async run(context) {
    const findings = await examine({ ...context, hasBrowserFiles: existsSync(BROWSER_FILES) });
    return {
      text: findings.map(({ check, state, message }) => `${MARKS[state]}  ${check}: ${message}`).join("\n"),
      json: findings,
      exitCode: findings.some(({ state }) => state === "fault") ? 1 : 0,
    };
  },
};
