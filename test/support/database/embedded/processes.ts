import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { CLEAN_ENVIRONMENT } from "../../programs/clean-environment.ts";
import { temporaryFolder } from "../../programs/temporary-folder.ts";
import { until } from "../../until.ts";

type Word = { kind: "ready"; url: string } | { kind: "failed"; name: string; sentence: string };

export type ClientProcess = {
  word: Word;
  notices: string[];
  pid: number;
  release(): Promise<void>;
  kill(): Promise<void>;
};

export const isRoot = process.getuid?.() === 0;

/** A folder every user can enter; whatever still runs in it at the end of the file is killed. */
export function makeTestFolder(): { folder: string; shared: string } {
  const folder = realpathSync(mkdtempSync(join(temporaryFolder(), "bookflow-embedded-")));
  chmodSync(folder, 0o755);
  after(async () => {
    for (const { pid } of findProcesses(folder)) killIfAlive(pid);
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  return { folder, shared: join(folder, "shared") };
}

/** Starts a client process and waits for its first message. */
export async function startClient(spec: {
  dataDir: string;
  shared: string;
  user?: { uid: number; gid: number };
}): Promise<ClientProcess> {
  const program = fileURLToPath(new URL("client-program.ts", import.meta.url));
  const child = spawn(process.execPath, [program, spec.dataDir, spec.shared], {
    cwd: "/",
    env: CLEAN_ENVIRONMENT,
    stdio: ["pipe", "pipe", "inherit"],
    ...spec.user,
  });
  const exited = once(child, "exit");
  const notices: string[] = [];
  const word = await new Promise<Word>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => {
      const said = JSON.parse(line) as Word | { kind: "notice"; sentence: string } | { kind: "released" };
      if (said.kind === "notice") notices.push(said.sentence);
      else if (said.kind !== "released") resolve(said);
    });
    exited.then(() => reject(new Error("The client ended without a word.")), reject);
  });
  const release = async () => {
    child.stdin.end();
    await exited;
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  return { word, notices, pid: child.pid ?? 0, release, kill };
}

export function urlOf(client: ClientProcess): string {
  if (client.word.kind === "ready") return client.word.url;
  throw new Error(client.word.sentence);
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // A server killed between two calls is reported here; the next call fails too.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Asks again until there is an answer, like a connection pool. */
export async function queryWhenBack(url: string, text: string): Promise<Record<string, unknown>[]> {
  let rows: Record<string, unknown>[] = [];
  const isBack = async () => {
    rows = await query(url, text);
    return true;
  };
  await until(() => isBack().catch(() => false), "the server answers again");
  return rows;
}

/** Every process whose command line names the folder: the supervisor, the server, and clients started above. */
function findProcesses(folder: string): { pid: number; command: string }[] {
  return listProcesses().filter(({ pid, command }) => pid !== process.pid && command.includes(folder));
}

export function findSupervisors(dataDir: string): number[] {
  return findProcesses(dataDir)
    .filter(({ command }) => command.includes("supervisor.ts"))
    .map(({ pid }) => pid);
}

export function readServerPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
}

export async function untilNoneRuns(folder: string): Promise<void> {
  await until(() => findProcesses(folder).length === 0, `no process of ${folder} runs`);
}

export function killIfAlive(pid: number): void {
  signalIfAlive(pid, "SIGKILL");
}

/** As in a power cut: none of them can react to another one's end. */
export function killTogether(pids: readonly number[]): void {
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const pid of pids) signalIfAlive(pid, signal);
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone.
  }
}

function listProcesses(): { pid: number; command: string }[] {
  if (process.platform !== "linux") {
    const lines = execFileSync("ps", ["-axww", "-o", "pid=,command="], { encoding: "utf8" }).trim().split("\n");
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line }));
  }
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.map((pid) => ({ pid, command: readCommand(pid) }));
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
