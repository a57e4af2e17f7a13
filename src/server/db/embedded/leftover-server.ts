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

/** The socket has a pid file of its own. */
const PID_FILES = ["postmaster.pid", `.s.PGSQL.${SOCKET_PORT}.lock`];

/**
 * Stops whatever server of this cluster outlived its supervisor, and removes pid files that mean nothing any more.
 * PostgreSQL itself refuses to start when the number in such a file belongs to any live process of the same user, also to
 * an unrelated one. Called only while holding the supervisor's lock, so no server found here is wanted by anyone; should
 * one be overlooked, PostgreSQL's own check of its shared memory still keeps a second one off the files.
 */
export async function clearLeftoverServer(folder: string): Promise<void> {
  // Windows: PostgreSQL recognises its own processes there, and waits on no unrelated ones.
  if (process.platform === "win32") return;
  for (const { signal, patienceMs } of STOP_STEPS) {
    const processes = findServerProcesses(folder);
    if (processes.length === 0) break;
    // Only a postmaster knows an orderly stop; to its children the same signal means other things.
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
    throw new StartError(`A PostgreSQL server left over in ${folder} doesn't stop. End its process ${pid}.`);
  }
  for (const name of PID_FILES) rmSync(join(folder, name), { force: true });
}

function findServerProcesses(folder: string): number[] {
  return process.platform === "linux" ? findByWorkingFolder(folder) : findByPidFile(folder);
}

/** A server and all its children work in the cluster's folder; that finds children whose postmaster was killed, too. */
function findByWorkingFolder(folder: string): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    try {
      const program = basename(readlinkSync(`/proc/${pid}/exe`)).replace(" (deleted)", "");
      return program === "postgres" && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      // Gone meanwhile, or another user's process, which cannot be a server of ours.
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
