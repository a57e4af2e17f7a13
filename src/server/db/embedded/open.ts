import { setTimeout as sleep } from "node:timers/promises";
import { StartError } from "../../lib/start-error.ts";
import { toStartError } from "./file-fault.ts";
import { type FileLock, takeFileLock } from "./file-lock.ts";
import { dataFolderPaths, makeDataFolder, SHARED_FOLDER } from "./folders.ts";
import { launchSupervisor } from "./launch-supervisor.ts";
import { readStatus } from "./status-file.ts";
import type { SupervisorOptions } from "./supervisor.ts";

type EmbeddedDatabase = {
  /** For node-postgres. It stays valid across restarts of PostgreSQL. */
  url: string;
  /** The last client to leave waits here until PostgreSQL has stopped. A process that just ends is noticed as well. */
  release(): Promise<void>;
};

type EmbeddedOptions = {
  dataDir: string;
  /** Called while waiting, with messages for the person at the terminal. */
  notice: (sentence: string) => void;
  /** Where root keeps what cannot be in the data folder; tests use their own folder. */
  sharedFolder?: string;
};

/** PostgreSQL's recovery says every 15 s that it goes on, and stopping takes at most 25 s. */
const SILENCE_LIMIT_MS = 90_000;
const POLL_MS = 20;
const WATCH_MS = 1_000;
const RELEASE_LIMIT_MS = 10_000;

/**
 * Opens the PostgreSQL of a data folder: starts it, or joins the processes that already use it.
 * Throws StartError, whose message is for the operator.
 */
export async function openEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const dataDir = makeDataFolder(options.dataDir);
  const target = { dataDir, sharedFolder: options.sharedFolder ?? SHARED_FOLDER };
  let lock: FileLock | null = null;
  const leaving = new AbortController();
  const release = async () => {
    leaving.abort();
    if (lock === null) return;
    lock.release();
    lock = null;
    await waitUntilStopped(dataDir);
  };
  try {
    lock = await becomeClient(dataDir);
    const url = await waitUntilReady(target, options.notice);
    void keepRunning(target, { url, notice: options.notice, signal: leaving.signal });
    return { url, release };
  } catch (error) {
    await release();
    throw toStartError(error, dataDir);
  }
}

/** While this lock is held, PostgreSQL runs. A supervisor that is stopping doesn't give it. */
async function becomeClient(dataDir: string): Promise<FileLock> {
  for (const giveUpAt = performance.now() + SILENCE_LIMIT_MS; performance.now() < giveUpAt; ) {
    const lock = takeFileLock(dataFolderPaths(dataDir).clients, "shared");
    if (lock !== null) return lock;
    await sleep(POLL_MS);
  }
  throw new StartError(`The database in ${dataDir} doesn't stop, so it can't be started again.`);
}

async function waitUntilReady(target: SupervisorOptions, notice: (sentence: string) => void): Promise<string> {
  const { dataDir } = target;
  const beganAtMs = Date.now();
  let isLaunching = false;
  let failure: unknown = null;
  let shown = { pid: 0, count: 0 };
  let readyPid = 0;
  for (let giveUpAt = performance.now() + SILENCE_LIMIT_MS; performance.now() < giveUpAt; await sleep(POLL_MS)) {
    const isAlive = isSupervised(dataDir);
    const status = readStatus(dataDir);
    if (failure !== null) throw failure;
    if (status?.state.kind === "failed" && status.state.failedAtMs >= beganAtMs)
      throw new StartError(status.state.sentence);
    if (!isAlive && !isLaunching) {
      isLaunching = true;
      launchSupervisor(target)
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => {
          isLaunching = false;
        });
    }
    if (!isAlive) continue;
    // A new supervisor first shows for a moment what a killed one has left.
    if (status?.state.kind === "ready" && readyPid === status.pid) return status.state.url;
    if (status?.state.kind === "ready") readyPid = status.pid;
    if (status?.state.kind !== "starting") continue;
    if (shown.pid !== status.pid) shown = { pid: status.pid, count: 0 };
    for (const sentence of status.state.notices.slice(shown.count)) {
      shown.count++;
      notice(sentence);
      giveUpAt = performance.now() + SILENCE_LIMIT_MS;
    }
  }
  throw new StartError(
    `The database did not start within ${SILENCE_LIMIT_MS / 1_000} s. See ${dataFolderPaths(dataDir).supervisorLog}.`,
  );
}

function isSupervised(dataDir: string): boolean {
  const lock = takeFileLock(dataFolderPaths(dataDir).lock, "shared");
  lock?.release();
  return lock === null;
}

/** Starts another supervisor if this one dies. */
async function keepRunning(
  target: SupervisorOptions,
  client: { url: string; notice: (sentence: string) => void; signal: AbortSignal },
): Promise<void> {
  let lastSentence = "";
  for (;;) {
    await sleep(WATCH_MS, undefined, { ref: false });
    if (client.signal.aborted) return;
    try {
      if (isSupervised(target.dataDir) || (await waitUntilReady(target, client.notice)) === client.url) continue;
      // Only with a port, if a stranger takes it at that moment.
      client.notice("The database had to move to another port; restart Bookflow.");
      return;
    } catch (error) {
      const sentence = `The database is unavailable: ${toStartError(error, target.dataDir).message}`;
      if (sentence !== lastSentence) client.notice(sentence);
      lastSentence = sentence;
    }
  }
}

/** Unless other clients need it. */
async function waitUntilStopped(dataDir: string): Promise<void> {
  const { clients } = dataFolderPaths(dataDir);
  for (const giveUpAt = performance.now() + RELEASE_LIMIT_MS; performance.now() < giveUpAt; await sleep(POLL_MS)) {
    if (!isSupervised(dataDir)) return;
    const others = takeFileLock(clients, "alone");
    others?.release();
    // Locked by other clients, or by a supervisor that is stopping and has said so.
    if (others === null && readStatus(dataDir)?.state.kind === "ready") return;
  }
}
