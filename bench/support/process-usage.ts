import { readdirSync, readFileSync } from "node:fs";

// CPU time and memory of processes, from /proc. Linux only; elsewhere the figures are left out.

/** Linux reports CPU time in hundredths of a second, whatever its internal clock rate. */
const MS_PER_TICK = 10;
const KIB = 1024;

/** The process alone, without PostgreSQL, which the service starts and which is counted separately. */
export function readOwnCpuMs(pid: number): number | null {
  return listProcesses()?.get(pid)?.cpuMs ?? null;
}

/** The process and all its children, also those that have ended. */
export function readCpuMs(rootPid: number): number | null {
  const processes = listProcesses();
  if (processes === null) return null;
  let cpuMs = 0;
  const pending = [rootPid];
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    const found = processes.get(pid);
    cpuMs += found ? found.cpuMs + found.endedMs : 0;
    for (const [childPid, child] of processes) if (child.parentPid === pid) pending.push(childPid);
  }
  return cpuMs;
}

/** Children of the process that have ended. */
export function readEndedCpuMs(pid: number): number | null {
  return listProcesses()?.get(pid)?.endedMs ?? null;
}

export function readResidentMb(pid: number): number | null {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? null : (Number(kib) * KIB) / 1e6;
  } catch {
    return null;
  }
}

/** The PostgreSQL server whose data is in the folder: its first process, which started all others. */
export function findPostmaster(folder: string): number | null {
  for (const pid of listProcesses()?.keys() ?? []) {
    const words = readText(`/proc/${pid}/cmdline`).split("\0");
    if (/postgres$/.test(words[0] ?? "") && words.includes(folder)) return pid;
  }
  return null;
}

/** `endedMs` is the time of children that have ended. */
type Usage = { parentPid: number; cpuMs: number; endedMs: number };

function listProcesses(): Map<number, Usage> | null {
  if (process.platform !== "linux") return null;
  const found = new Map<number, Usage>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    // The name in parentheses can contain anything; the numbers come after it.
    const fields = readText(`/proc/${name}/stat`).split(") ").at(-1)?.split(" ") ?? [];
    found.set(Number(name), {
      parentPid: Number(fields[1]),
      cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK,
      endedMs: (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK,
    });
  }
  return found;
}

/** A process can end while it is being read. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
