import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { errorCode } from "./file-fault.ts";
import { dataFolderPaths } from "./folders.ts";

/** What a supervisor tells the clients, in a file that only its owner can read. True only while that supervisor lives. */
type SupervisorStatus = {
  pid: number;
  state:
    | { kind: "starting"; notices: readonly string[] }
    | { kind: "ready"; url: string }
    | { kind: "failed"; sentence: string; failedAtMs: number }
    | { kind: "stopping" };
};

export function writeStatus(dataDir: string, state: SupervisorStatus["state"]): void {
  const { status: path } = dataFolderPaths(dataDir);
  writeFileSync(`${path}.new`, JSON.stringify({ pid: process.pid, state } satisfies SupervisorStatus), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function readStatus(dataDir: string): SupervisorStatus | null {
  try {
    return JSON.parse(readFileSync(dataFolderPaths(dataDir).status, "utf8")) as SupervisorStatus;
  } catch (error) {
    // An older version's file, or one that a full disk cut short, is replaced by the next supervisor.
    if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return null;
    throw error;
  }
}
