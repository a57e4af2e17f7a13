import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StartError } from "../../lib/start-error.ts";
import { errorCode } from "./file-fault.ts";
import { SOCKET_PORT } from "./settings.ts";

const STOP_STEPS: { signal: NodeJS.Signals; patienceMs: number }[] = [
  { signal: "SIGINT", patienceMs: 15_000 },
  { signal: "SIGQUIT", patienceMs: 5_000 },
  { signal: "SIGKILL", patienceMs: 5_000 },
];

/** The socket has its own pid file. */
const PID_FILES = ["postmaster.pid", `.s.PGSQL.${SOCKET_PORT}.lock`];

/**
 * Stops any server of this cluster that outlived its supervisor, and removes stale pid files. PostgreSQL refuses to
 * start if the number in such a file belongs to any live process of the same user, even an unrelated one. Called only
 * while holding the supervisor's lock, so nobody needs a server found here. If one is overlooked, PostgreSQL's own
 * check of its shared memory still protects the files.
 */
export async function clearLeftoverServer(folder: string): Promise<void> {
  // Windows: PostgreSQL recognises its own processes there, and doesn't wait for unrelated ones.
  if (process.platform === "win32") return;
  for (const { signal, patienceMs } of STOP_STEPS) {
    const processes = findServerProcesses(folder);
    if (processes.length === 0) break;
    // Only a postmaster stops properly on this signal; for its children the signal means something else.
    const postmaster = processes.find((pid) => pid === readPidFile(folder)?.pid);
    if (signal !== "SIGINT") for (const pid of processes) sendSignal(pid, signal);
    else if (postmaster !== undefined) sendSignal(postmaster, signal);
    else continue;
    for (const until = Date.now() + patienceMs; Date.now() < until && findServerProcesses(folder).length > 0; ) {
      await sleep(20);
    }
  }
  const [pid] = findServerProcesses(folder);
  if (pid !== undefined) {
    throw new StartError(`A leftover PostgreSQL server in ${folder} won't stop. Kill process ${pid}.`);
  }
  for (const name of PID_FILES) rmSync(join(folder, name), { force: true });
}

function findServerProcesses(folder: string): number[] {
  return process.platform === "linux" ? findByWorkingFolder(folder) : findByPidFile(folder);
}

/**
 * A server and all its children work in the cluster's folder, so this also finds children whose postmaster was killed.
 */
function findByWorkingFolder(folder: string): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    try {
      const program = basename(readlinkSync(`/proc/${pid}/exe`)).replace(" (deleted)", "");
      return program === "postgres" && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      // It has exited, or belongs to another user and so cannot be our server.
      return false;
    }
  });
}

function findByPidFile(folder: string): number[] {
  const pid = readPidFile(folder)?.pid;
  if (pid === undefined) return [];
  try {
    const command = execFileSync("ps", ["-ww", "-p", String(pid), "-o", "command="], { encoding: "utf8" });
    return command.includes("postgres") && command.includes(folder) ? [pid] : [];
  } catch {
    // ps ends with 1 when there is no such process.
    return [];
  }
}

/** PostgreSQL writes its pid into line 1 and its state, such as "starting" or "ready", into line 8. */
export function readPidFile(folder: string): { pid: number; state: string } | null {
  try {
    const lines = readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
    return { pid: Number(lines[0]), state: lines[7]?.trim() ?? "" };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
