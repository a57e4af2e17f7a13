import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { openEmbeddedDatabase } from "../../src/server/db/embedded/open.ts";
import { type Db, openDb, openPool } from "../../src/server/db/pool.ts";
import { createLog } from "../../src/server/lib/log.ts";
import { makeOrganization, makeWidget } from "../support/builders.ts";
import { createEventSender, type EventSender } from "../support/event-sender.ts";
import { countReached, expectReached, listRecorded } from "../support/recorded.ts";
import { startServiceProcess } from "../support/service-process.ts";

/** Enough that every browser has sent some. */
const EVENTS = 200;
const POLL_MS = 20;
/** The wait for a commit, and some for a busy machine. */
const SLOWEST_MS = 12_000;
const GROWTH_MAX_MB = 80;

/** The service with a PostgreSQL of its own, which the test may stop and kill. */
async function startWithOwnDatabase() {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-away-"));
  // Root's PostgreSQL runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711);
  const dataDir = join(folder, "data");
  const service = await startServiceProcess({
    DATABASE_URL: "",
    DATA_DIR: dataDir,
    ROLE: "web",
    RATE_LIMIT_EVENTS_PER_MINUTE: "0",
  });
  const embedded = await openEmbeddedDatabase({ dataDir, notice: () => {} });
  const pool = openPool({ url: embedded.url, size: 2, log: createLog("silent") });
  after(async () => {
    await service.kill("SIGTERM");
    await pool.end();
    await embedded.release();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return { service, db: openDb(pool), postmasterFile: join(dataDir, "postgres", "postmaster.pid") };
}

/** NaN where the system does not say. */
function readMemoryMb(pid: number): number {
  if (process.platform !== "linux") return Number.NaN;
  return (Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024) / 1e6;
}

/** Every process of the server: a stopped one keeps its connections and says nothing. */
async function listServerPids(db: Db, postmasterFile: string): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity`.execute(db);
  return [readPostmasterPid(postmasterFile), ...rows.map((row) => row.pid)];
}

/** NaN while no server runs. */
function readPostmasterPid(postmasterFile: string): number {
  return existsSync(postmasterFile) ? Number.parseInt(readFileSync(postmasterFile, "utf8"), 10) : Number.NaN;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(POLL_MS);
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A worker of PostgreSQL may have ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

async function assertNothingMissing(db: Db, sender: EventSender): Promise<void> {
  const recorded = await listRecorded(db);
  assert.deepEqual([...sender.acknowledged.difference(recorded)], [], "answered 204 and missing");
}

test("while PostgreSQL is away the answer is 503, memory stays flat, and everything goes on by itself afterwards", {
  skip: process.platform === "win32" && "there are no signals to stop a process with",
  timeout: 120_000,
}, async () => {
  const { service, db, postmasterFile } = await startWithOwnDatabase();
  const owner = await makeOrganization(db);
  const sender = createEventSender([await makeWidget(db, owner), await makeWidget(db, owner)], service.port);
  let grownMb = 0;

  const outages = async () => {
    const untilMoreAreSent = async () => {
      const before = sender.acknowledged.size;
      await until(() => sender.acknowledged.size > before + EVENTS);
    };
    await untilMoreAreSent();
    const memoryMb = readMemoryMb(service.pid);
    const pids = await listServerPids(db, postmasterFile);
    signalAll(pids, "SIGSTOP");
    await until(() => (sender.statuses.get(503) ?? 0) > 0);
    signalAll(pids, "SIGCONT");
    grownMb = readMemoryMb(service.pid) - memoryMb;
    await untilMoreAreSent();

    // Its processes end without a word; the supervisor starts the server again, and it recovers.
    const killed = readPostmasterPid(postmasterFile);
    process.kill(killed, "SIGKILL");
    await until(() => ![killed, Number.NaN].includes(readPostmasterPid(postmasterFile)));
    await untilMoreAreSent();
  };
  await sender.sendWhile(outages());

  assert.ok((sender.statuses.get(503) ?? 0) > 0, "503 while it was away");
  assert.deepEqual(
    [...sender.statuses.keys()].filter((status) => status !== 204 && status !== 503),
    [],
    "and no other answer",
  );
  assert.ok(sender.slowestMs < SLOWEST_MS, `the slowest answer took ${sender.slowestMs} ms`);
  assert.ok(!(grownMb > GROWTH_MAX_MB), `it grew by ${grownMb} MB`);

  await sender.replay();
  await assertNothingMissing(db, sender);
  assert.deepEqual(await countReached(db), expectReached(sender.visits));
});
