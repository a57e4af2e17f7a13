/**
 * The supervisor: a separate process that runs PostgreSQL for every client of one data folder. Clients (the server and
 * commands, possibly several) each hold a control connection, and the supervisor runs as long as there is one. It has its
 * own session, so Ctrl-C only reaches the clients. It ignores a service manager's signal to all processes: the clients
 * leave, and then it stops.
 *
 * | state    | what happens                           | next                                                       |
 * |----------|----------------------------------------|------------------------------------------------------------|
 * | begin    | lock held by another supervisor        | exit; the client connects to that one                      |
 * |          | no client within 10 s                  | exit                                                       |
 * |          | first client                           | starting                                                   |
 * | starting | PostgreSQL accepts connections         | ready: waiting clients get the URL                         |
 * |          | it fails                               | waiting clients get the reason and leave; pausing          |
 * |          | last client gone                       | stopping                                                   |
 * | ready    | PostgreSQL ends by itself              | pausing (clients keep their connection, their pools retry) |
 * |          | last client gone                       | stopping                                                   |
 * | pausing  | 0.2 s, 1 s, 5 s, then 10 s each time   | starting                                                   |
 * |          | last client gone                       | stopping                                                   |
 * | stopping | PostgreSQL stopped, no new client      | exit                                                       |
 * |          | PostgreSQL stopped, a new client       | starting                                                   |
 *
 * If it is killed, PostgreSQL stops too (see the guardian in postmaster.ts), and clients start another supervisor.
 */
import { rmSync, writeSync } from "node:fs";
import { StartError } from "../../lib/start-error.ts";
import { ClientList } from "./client-list.ts";
import { type Cluster, prepareCluster } from "./cluster.ts";
import { type FirstMessage, writeControlFile } from "./control-channel.ts";
import { toStartError } from "./file-fault.ts";
import { dataFolderPaths } from "./folders.ts";
import { boundLog } from "./log-file.ts";
import { LOG_LIMIT_BYTES } from "./postmaster.ts";
import { type Address, toUrl } from "./settings.ts";
import { startServer } from "./start-server.ts";
import { takeSupervisorLock } from "./supervisor-lock.ts";

export type SupervisorOptions = { dataDir: string; sharedFolder: string };

const FIRST_CLIENT_LIMIT_MS = 10_000;
const PAUSES_MS = [200, 1_000, 5_000, 10_000];
/** A server that ran this long was healthy, so the pauses start from the beginning. */
const HEALTHY_AFTER_MS = 60_000;
const LOG_CHECK_MS = 60_000;

type Supervision = SupervisorOptions & { clients: ClientList };

async function main(options: SupervisorOptions): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  const paths = dataFolderPaths(options.dataDir);
  const lock = takeSupervisorLock(paths.lock);
  if (lock === null) return sendFirstMessage({ kind: "busy" });

  const clients = new ClientList();
  const port = await clients.listen();
  writeControlFile(options.dataDir, { port, ask: clients.ask, answer: clients.answer });
  sendFirstMessage({ kind: "listening" });

  await clients.waitUntil("occupied", FIRST_CLIENT_LIMIT_MS);
  while (!clients.isEmpty) await serveClients({ ...options, clients });
  // No await between the last check of the list and here: a client that arrives now finds no supervisor and starts a
  // new one.
  clients.close();
  rmSync(paths.control, { force: true });
  lock.release();
}

/** From the first client to the last: runs PostgreSQL, restarts it if it ends, and stops it. */
async function serveClients(supervision: Supervision): Promise<void> {
  const { clients } = supervision;
  let cluster: Cluster | null = null;
  let address: Address | null = null;
  let failures = 0;
  while (!clients.isEmpty) {
    try {
      // Once clients were served, the same cluster is opened at the same address: clients hold its URL, and an empty
      // cluster must not replace a vanished one.
      cluster ??= await prepareCluster({ ...supervision, notice: (sentence) => clients.tellWaiting(sentence) });
      const run = await runServer(supervision, cluster, address);
      if (run.kind === "stopped") break;
      address = run.address;
      if (run.ranMs >= HEALTHY_AFTER_MS) failures = 0;
    } catch (error) {
      const { message, cause } = toStartError(error, supervision.dataDir);
      logLine(cause instanceof Error ? `${message} ${cause.stack}` : message);
      clients.failWaiting(message);
    }
    await clients.waitUntil("empty", PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)]);
  }
  clients.dismissLeavers();
}

type Run = { kind: "stopped" } | { kind: "ended"; ranMs: number; address: Address };

/**
 * Runs the server until no client needs it and it has stopped, or until it ends by itself; throws if it does not start.
 */
async function runServer({ dataDir, clients }: Supervision, cluster: Cluster, address: Address | null): Promise<Run> {
  const logPath = dataFolderPaths(dataDir).postgresLog;
  const start = await startServer({
    dataDir,
    cluster,
    address,
    logPath,
    isWanted: () => !clients.isEmpty,
    notice: (sentence) => clients.tellWaiting(sentence),
  });
  if (start.kind === "failed") throw new StartError(start.sentence);
  if (start.kind === "unwanted") return { kind: "stopped" };
  clients.tellReady(toUrl({ address: start.address, clusterFolder: cluster.folder, password: cluster.password }));
  const readyAt = Date.now();
  const logCheck = setInterval(() => boundLog(logPath, LOG_LIMIT_BYTES), LOG_CHECK_MS);
  const end = await Promise.race([start.postmaster.exited, clients.waitUntil("empty")]);
  clearInterval(logCheck);
  // Clients that arrive from now on wait for the next start instead of using a server that is stopping.
  clients.holdBack();
  if (end === undefined) {
    await start.postmaster.stop();
    return { kind: "stopped" };
  }
  logLine(`PostgreSQL exited unexpectedly (${end}).`);
  return { kind: "ended", ranMs: Date.now() - readyAt, address: start.address };
}

/** Standard output is a pipe to the client that started this process; when that client is gone, others may still come. */
function sendFirstMessage(message: FirstMessage): void {
  try {
    writeSync(1, `${JSON.stringify(message)}\n`);
  } catch {
    logLine("The client that started this supervisor is gone.");
  }
}

/** Standard error is supervisor.log. */
function logLine(sentence: string): void {
  process.stderr.write(`${new Date().toISOString()} ${sentence}\n`);
}

// The only caller is launch-supervisor.ts, which writes this argument.
const options = JSON.parse(process.argv[2] ?? "") as SupervisorOptions;
try {
  await main(options);
} catch (error) {
  logLine(error instanceof Error ? (error.stack ?? error.message) : String(error));
  sendFirstMessage({ kind: "failed", sentence: toStartError(error, options.dataDir).message });
}
process.exit();
