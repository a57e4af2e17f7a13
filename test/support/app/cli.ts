import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../../src/server/cli/run.ts";
import { CLEAN_ENVIRONMENT } from "../programs/clean-environment.ts";

const PROGRAM = fileURLToPath(new URL("../../../src/server/cli/main.ts", import.meta.url));

export type Outcome = { code: number | null; stdout: string; stderr: string };

export type CommandLine = {
  /** An empty folder, without a .env unless a test writes one. */
  folder: string;
  /** Runs the command in its own process, with only the settings given here. */
  run(
    args: readonly string[],
    options?: { settings?: Record<string, string>; nodeOptions?: string; input?: string },
  ): Promise<Outcome>;
  /** Runs the command in this process, which is much faster. */
  runInside(args: readonly string[]): Promise<Outcome>;
};

export function createCommandLine(settings: Record<string, string>): CommandLine {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-cli-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const all = { SECRET_KEY: "a secret key for tests, of 32 characters and more", ...settings };
  return {
    folder,
    run: (args, options = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [PROGRAM, ...args], {
          cwd: folder,
          env: {
            ...CLEAN_ENVIRONMENT,
            NODE_OPTIONS: `${CLEAN_ENVIRONMENT.NODE_OPTIONS} ${options.nodeOptions ?? ""}`,
            ...all,
            ...options.settings,
          },
          stdio: ["pipe", "pipe", "pipe"],
        });
        child.stdin.end(options.input ?? "");
        const outcome: Outcome = { code: null, stdout: "", stderr: "" };
        child.stdout.setEncoding("utf8").on("data", appendingTo(outcome, "stdout").write);
        child.stderr.setEncoding("utf8").on("data", appendingTo(outcome, "stderr").write);
        child.once("error", reject);
        child.once("close", (code) => resolve({ ...outcome, code }));
      }),
    async runInside(args) {
      const outcome: Outcome = { code: null, stdout: "", stderr: "" };
      const code = await runCommandLine(args, {
        environment: () => all,
        stdin: Readable.from([]),
        stdout: appendingTo(outcome, "stdout"),
        stderr: appendingTo(outcome, "stderr"),
      });
      return { ...outcome, code };
    },
  };
}

function appendingTo(outcome: Outcome, stream: "stdout" | "stderr"): { write(text: string): void } {
  return {
    write(text) {
      outcome[stream] += text;
    },
  };
}
