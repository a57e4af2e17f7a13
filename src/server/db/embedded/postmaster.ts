import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { diskFullSentence } from "./file-fault.ts";
import { readPidFile } from "./leftover-server.ts";
import { openLog, readLogSize } from "./log-file.ts";
import { hasEnded, programOptions, runProgram } from "./run-program.ts";
import { type Address, toServerArguments } from "./settings.ts";

/** The running server; `exited` resolves however it ends. */
type Postmaster = { exited: Promise<string>; stop(): Promise<void> };

export type PostmasterStart =
  | { kind: "ready"; postmaster: Postmaster }
  | { kind: "failed"; sqlState: string | null; sentence: string }
  // The last client left before it was ready.
  | { kind: "unwanted" };

export type PostmasterSpec = {
  cluster: Cluster;
  address: Address;
  logPath: string;
  isWanted: () => boolean;
  notice: (sentence: string) => void;
};

export const LOG_LIMIT_BYTES = 8 * 1024 * 1024;
const POLL_MS = 10;
const FIRST_NOTICE_MS = 3_000;
const NEXT_NOTICE_MS = 15_000;
/** Recovery after a crash may take long, but logs its progress every 10 s. */
const SILENCE_LIMIT_MS = 60_000;
const FAST_STOP_LIMIT_MS = 20_000;
const IMMEDIATE_STOP_LIMIT_MS = 5_000;

/** Starts the server and waits until its pid file says that it accepts connections. */
export async function startPostmaster(spec: PostmasterSpec): Promise<PostmasterStart> {
  const log = openLog(spec.logPath, LOG_LIMIT_BYTES);
  const logStart = readLogSize(spec.logPath);
  const { binaries, folder, user } = spec.cluster;
  const args = ["-D", folder, ...toServerArguments(spec.address)];
  const child = spawn(binaries.postgres, args, { ...programOptions(user), stdio: ["ignore", log, log] });
  closeSync(log);
  const postmaster = toPostmaster(child, spec.cluster);
  let outcome: "ready" | "ended" | "silent" | "unwanted";
  try {
    outcome = await waitUntilReady(child, spec);
  } catch (error) {
    await postmaster.stop();
    throw error;
  }
  switch (outcome) {
    case "ready":
      return { kind: "ready", postmaster };
    case "ended":
      return { kind: "failed", ...explainFailure({ ...spec, logStart, end: await postmaster.exited }) };
    case "silent": {
      await postmaster.stop();
      const sentence = `PostgreSQL did not start within ${SILENCE_LIMIT_MS / 1000} s; see ${spec.logPath}.`;
      return { kind: "failed", sqlState: null, sentence };
    }
    case "unwanted":
      await postmaster.stop();
      return { kind: "unwanted" };
  }
}

async function waitUntilReady(child: ChildProcess, spec: PostmasterSpec) {
  let logSize = 0;
  let lastSignOfLifeAt = Date.now();
  let noticeAt = lastSignOfLifeAt + FIRST_NOTICE_MS;
  while (!hasEnded(child) && child.pid !== undefined) {
    const pidFile = readPidFile(spec.cluster.folder);
    if (pidFile?.pid === child.pid && pidFile.state === "ready") return "ready";
    if (!spec.isWanted()) return "unwanted";
    const size = readLogSize(spec.logPath);
    if (size !== logSize) lastSignOfLifeAt = Date.now();
    logSize = size;
    if (Date.now() - lastSignOfLifeAt > SILENCE_LIMIT_MS) return "silent";
    if (Date.now() > noticeAt) {
      spec.notice(`PostgreSQL is still starting, probably after an unclean stop; see its progress in ${spec.logPath}.`);
      noticeAt = Date.now() + NEXT_NOTICE_MS;
    }
    await sleep(POLL_MS);
  }
  return "ended";
}

function toPostmaster(child: ChildProcess, cluster: Cluster): Postmaster {
  const guardian = child.pid === undefined ? null : startGuardian(child.pid);
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const done = exited.then(async (end) => {
    if (guardian !== null && !hasEnded(guardian)) {
      guardian.kill("SIGKILL");
      await once(guardian, "exit");
    }
    return end;
  });
  const isGoneWithin = (ms: number) => Promise.race([done.then(() => true), sleep(ms, false, { ref: false })]);
  const stop = async () => {
    await sendStop(child, cluster, "INT");
    if (await isGoneWithin(FAST_STOP_LIMIT_MS)) return;
    await sendStop(child, cluster, "QUIT");
    if (await isGoneWithin(IMMEDIATE_STOP_LIMIT_MS)) return;
    child.kill("SIGKILL");
    await done;
  };
  return { exited: done, stop };
}

/** INT is a clean and fast stop; QUIT leaves the clean-up to the next start's recovery. Neither loses a commit. */
async function sendStop(child: ChildProcess, cluster: Cluster, signal: "INT" | "QUIT"): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  if (process.platform !== "win32") child.kill(`SIG${signal}`);
  // Windows has no signals; PostgreSQL includes its own.
  else await runProgram({ file: cluster.binaries.pgCtl, args: ["kill", signal, String(child.pid)], user: null });
}

/**
 * A shell that waits for the end of its input, which comes when the supervisor exits, even by kill -9, and then stops
 * the server. Without a shell, the next start stops it.
 */
function startGuardian(serverPid: number): ChildProcess | null {
  if (process.platform === "win32") return null;
  const script = `trap '' INT TERM HUP; read -r line; kill -INT "$1"`;
  const guardian = spawn("/bin/sh", ["-c", script, "sh", String(serverPid)], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guardian.on("error", () => {});
  guardian.stdin.on("error", () => {});
  return guardian.pid === undefined ? null : guardian;
}

function explainFailure(spec: PostmasterSpec & { logStart: number; end: string }) {
  const lines = readFileSync(spec.logPath).subarray(spec.logStart).toString("utf8").trim().split("\n");
  // The format is set by log_line_prefix: time, process, SQLSTATE. Class 57P goes to clients that connected too early.
  const fatal = lines.map((line) => /\[\d+\] (?!57P)(\w{5}) (?:FATAL|PANIC): +(.*)$/.exec(line)).findLast(Boolean);
  // Before its log is set up, or if its libraries are missing, it writes plain lines.
  const plain = lines.filter((line) => !/\[\d+\] \w{5} /.test(line)).join(" ");
  const sqlState = fatal?.[1] ?? null;
  const why = fatal?.[2] || plain || spec.end;
  return { sqlState, sentence: toFailureSentence({ sqlState, why, spec }) };
}

function toFailureSentence({ sqlState, why, spec }: { sqlState: string | null; why: string; spec: PostmasterSpec }) {
  switch (sqlState) {
    case "53100":
      return diskFullSentence(spec.cluster.folder);
    case "53200":
      return `There is not enough memory for PostgreSQL (${why}).`;
    default:
      return `PostgreSQL could not start (${why}); see ${spec.logPath}.`;
  }
}
