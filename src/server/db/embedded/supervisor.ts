/**
 * The supervisor: a separate process that runs PostgreSQL for every client of one data folder. Clients (the server and
 * commands, possibly several) each hold a shared lock on one file, and the supervisor runs until it can lock that file
 * alone. It has its own session, so Ctrl-C only reaches the clients. It ignores a service manager's signal to all
 * processes: the clients leave, and then it stops.
 *
 * | state    | what happens                           | next                                                       |
 * |----------|----------------------------------------|------------------------------------------------------------|
 * | begin    | lock held by another supervisor        | exit; the client waits for that one                        |
 * | starting | PostgreSQL accepts connections         | ready: clients read the URL                                |
 * |          | it fails                               | waiting clients read the reason and leave; pausing         |
 * | ready    | PostgreSQL ends by itself              | pausing (clients keep their URL, their pools retry)        |
 * | pausing  | 0.2 s, 1 s, 5 s, then 10 s each time   | starting                                                   |
 * | any      | last client gone                       | stopping: new clients wait for the file until the exit     |
 * | stopping | PostgreSQL stopped                     | exit; a client that waited starts another supervisor       |
 *
 * If it is killed, PostgreSQL stops too (see the guardian in postmaster.ts), and clients start another supervisor.
 */
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StartError } from "../../lib/start-error.ts";
import { chooseAddress, isPortTaken } from "./address.ts";
import { type Cluster, prepareCluster } from "./cluster.ts";
import { toStartError } from "./file-fault.ts";
import { type FileLock, takeFileLock } from "./file-lock.ts";
import { dataFolderPaths } from "./folders.ts";
import { clearLeftoverServer } from "./leftover-server.ts";
import { boundLog } from "./log-file.ts";
import { LOG_LIMIT_BYTES, type PostmasterSpec, type PostmasterStart, startPostmaster } from "./postmaster.ts";
import { type Address, toUrl } from "./settings.ts";
import { writeStatus } from "./status-file.ts";

export type SupervisorOptions = { dataDir: string; sharedFolder: string };

const CLIENT_CHECK_MS = 100;
/** Clients look whether a supervisor lives by locking its file for a moment. */
const LOCK_PATIENCE_MS = 1_000;
const PAUSES_MS = [200, 1_000, 5_000, 10_000];
/** A server that ran this long was healthy, so the pauses start from the beginning. */
const HEALTHY_AFTER_MS = 60_000;
const LOG_CHECK_MS = 60_000;
const ATTEMPTS = 5;
/** Another server's pid file, or its shared memory, is still there. */
const LOCK_FILE_EXISTS = "F0001";

class Clients {
  readonly #path: string;
  /** Once taken it is kept until the process ends, so that nobody arrives any more. */
  #lock: FileLock | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  areGone(): boolean {
    this.#lock ??= takeFileLock(this.#path, "alone");
    return this.#lock !== null;
  }

  async waitUntilGone(limits: { ms?: number; signal?: AbortSignal }): Promise<void> {
    const end = performance.now() + (limits.ms ?? Number.POSITIVE_INFINITY);
    while (!this.areGone() && performance.now() < end && limits.signal?.aborted !== true) await sleep(CLIENT_CHECK_MS);
  }
}

async function main(options: SupervisorOptions): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  const paths = dataFolderPaths(options.dataDir);
  const lock = takeFileLock(paths.lock, "alone", LOCK_PATIENCE_MS);
  if (lock === null) return;
  const clients = new Clients(paths.clients);
  let cluster: Cluster | null = null;
  let address: Address | null = null;
  let failures = 0;
  while (!clients.areGone()) {
    const notice = toNotice(options.dataDir);
    try {
      // Once clients were served, the same cluster is opened at the same address: clients hold its URL, and an empty
      // cluster must not replace a vanished one.
      cluster ??= await prepareCluster({ ...options, notice });
      const run = await runServer({ ...options, cluster, address, clients, notice });
      if (run.kind === "stopped") break;
      address = run.address;
      if (run.ranMs >= HEALTHY_AFTER_MS) failures = 0;
    } catch (error) {
      const { message, cause } = toStartError(error, options.dataDir);
      logLine(cause instanceof Error ? `${message} ${cause.stack}` : message);
      writeStatus(options.dataDir, { kind: "failed", sentence: message, failedAtMs: Date.now() });
    }
    await clients.waitUntilGone({ ms: PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)] ?? 0 });
  }
  rmSync(paths.status, { force: true });
  lock.release();
}

/** Adds to the sentences that waiting clients show. */
function toNotice(dataDir: string): (sentence: string) => void {
  const notices: string[] = [];
  const write = () => writeStatus(dataDir, { kind: "starting", notices });
  write();
  return (sentence) => {
    notices.push(sentence);
    write();
  };
}

type Run = { kind: "stopped" } | { kind: "ended"; ranMs: number; address: Address };

/**
 * Runs the server until no client needs it and it has stopped, or until it ends by itself; throws if it does not start.
 */
async function runServer(
  spec: SupervisorOptions & {
    cluster: Cluster;
    address: Address | null;
    clients: Clients;
    notice: (sentence: string) => void;
  },
): Promise<Run> {
  const { dataDir, cluster, clients } = spec;
  const logPath = dataFolderPaths(dataDir).postgresLog;
  const start = await startServer({ ...spec, logPath, isWanted: () => !clients.areGone() });
  if (start.kind === "failed") throw new StartError(start.sentence);
  if (start.kind === "unwanted") return { kind: "stopped" };
  const url = toUrl({ address: start.address, clusterFolder: cluster.folder, password: cluster.password });
  writeStatus(dataDir, { kind: "ready", url });
  const readyAt = Date.now();
  const logCheck = setInterval(() => boundLog(logPath, LOG_LIMIT_BYTES), LOG_CHECK_MS);
  const ended = new AbortController();
  const end = start.postmaster.exited.finally(() => ended.abort());
  await clients.waitUntilGone({ signal: ended.signal });
  clearInterval(logCheck);
  if (!ended.signal.aborted) {
    writeStatus(dataDir, { kind: "stopping" });
    await start.postmaster.stop();
    return { kind: "stopped" };
  }
  logLine(`PostgreSQL exited unexpectedly (${await end}).`);
  return { kind: "ended", ranMs: Date.now() - readyAt, address: start.address };
}

/** Standard error is supervisor.log. */
function logLine(sentence: string): void {
  process.stderr.write(`${new Date().toISOString()} ${sentence}\n`);
}

// The only caller is launch-supervisor.ts, which writes this argument and reads the output.
const options = JSON.parse(process.argv[2] ?? "") as SupervisorOptions;
try {
  await main(options);
  process.exit(0);
} catch (error) {
  logLine(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.stdout.write(toStartError(error, options.dataDir).message, () => process.exit(1));
}

type ServerSpec = Omit<PostmasterSpec, "address"> & {
  dataDir: string;
  /** The address that clients already use; null for any. */
  address: Address | null;
};

/** Starts the server on a cluster in whatever state the last run left it. */
async function startServer(spec: ServerSpec): Promise<PostmasterStart & { address: Address }> {
  for (let attemptNumber = 1; ; attemptNumber++) {
    await clearLeftoverServer(spec.cluster.folder);
    const folders = { dataDir: spec.dataDir, clusterFolder: spec.cluster.folder };
    const address = spec.address ?? (await chooseAddress(folders));
    const start = await startPostmaster({ ...spec, address });
    if (start.kind !== "failed" || attemptNumber === ATTEMPTS) return { ...start, address };
    const mayWorkNext =
      start.sqlState === LOCK_FILE_EXISTS || (address.kind === "tcp" && (await isPortTaken(address.port)));
    if (!mayWorkNext) return { ...start, address };
  }
}
