import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { DatabaseUser } from "./database-user.ts";
import { errorCode } from "./file-fault.ts";

export type Outcome =
  | { kind: "ended"; code: number | null; stderr: string }
  // The system could not run the file: missing, not executable or not permitted.
  | { kind: "refused"; code: string };

/** Runs one of PostgreSQL's programs to completion, as the database user if there is one. */
export function runProgram(spec: {
  file: string;
  args: string[];
  user: DatabaseUser | null;
  input?: string;
}): Promise<Outcome> {
  return new Promise<Outcome>((resolve, reject) => {
    const child = spawn(spec.file, spec.args, { ...programOptions(spec.user), stdio: ["pipe", "ignore", "pipe"] });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    // A program that exits without reading its input breaks the pipe; its exit code says more.
    child.stdin.on("error", () => {});
    child.stdin.end(spec.input ?? "");
    child.once("error", reject);
    child.once("close", (code) => resolve({ kind: "ended", code, stderr }));
  }).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === null) throw error;
    return { kind: "refused", code };
  });
}

/**
 * The working directory is the root, because a program fails in a folder that its user may not enter. The language is C
 * and the zone UTC, so that messages and log lines are the same on every machine.
 */
export function programOptions(user: DatabaseUser | null): SpawnOptions {
  return {
    cwd: "/",
    env: { ...plainEnvironment(), LC_ALL: "C", TZ: "UTC" },
    windowsHide: true,
    ...(user && { uid: user.uid, gid: user.gid }),
  };
}

const PASSED_ON = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot", "SystemDrive", "TEMP", "TMP"];

/** Only what programs need: our secrets, NODE_OPTIONS and PG* variables are not passed on. */
export function plainEnvironment(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
