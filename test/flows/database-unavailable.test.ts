import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { hashPassword } from "../../src/server/accounts/auth/password.ts";
import { insertMember } from "../../src/server/accounts/queries.ts";
import { createUser } from "../../src/server/accounts/setup/create-user.ts";
import { type Db, openDb, openPool } from "../../src/server/db/connections/pool.ts";
import { dataFolderPaths } from "../../src/server/db/embedded/folders.ts";
import { readPidFile } from "../../src/server/db/embedded/leftover-server.ts";
import { openEmbeddedDatabase } from "../../src/server/db/embedded/open.ts";
import { createLog } from "../../src/server/lib/log/log.ts";
import { systemRandom } from "../../src/server/lib/secrets/random.ts";
import { systemClock } from "../../src/server/lib/time/clock.ts";
import { makeKey, makeOrganization, makeWidget } from "../support/builders.ts";
import { DESKTOP, eventsBody } from "../support/funnel/collect.ts";
import { createEventSender, type EventSender } from "../support/funnel/event-sender.ts";
import { countReached, expectReached, listRecorded } from "../support/funnel/recorded.ts";
import { startServiceProcess } from "../support/programs/service-process.ts";
import { until } from "../support/until.ts";

/** Enough for every browser to have sent some. */
const EVENTS = 200;
const SERVICE = "http://book.example";

/** The service with its own PostgreSQL, which the test can stop and kill. */
async function startWithOwnDatabase() {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-away-"));
  // PostgreSQL runs as another user when root starts it, and that user needs access to the folder.
  chmodSync(folder, 0o711);
  const dataDir = join(folder, "data");
  const service = await startServiceProcess({
    DATABASE_URL: "",
    DATA_DIR: dataDir,
    BASE_URL: SERVICE,
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
  return { service, db: openDb(pool), cluster: dataFolderPaths(dataDir).cluster };
}

/** NaN if the system doesn't report it. */
function readMemoryMb(pid: number): number {
  if (process.platform !== "linux") return Number.NaN;
  return (Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024) / 1e6;
}

/** Every process of the server: a stopped one keeps its connections and stays silent. */
async function listServerPids(db: Db, cluster: string): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity`.execute(db);
  return [readPostmasterPid(cluster), ...rows.map((row) => row.pid)];
}

/** NaN while no server runs, or one has not written its pid yet. */
function readPostmasterPid(cluster: string): number {
  return readPidFile(cluster)?.pid || Number.NaN;
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A PostgreSQL worker may have ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}

/** A server that stays suspended couldn't even be stopped. */
async function whileStopped(pids: readonly number[], work: () => Promise<void>): Promise<void> {
  signalAll(pids, "SIGSTOP");
  try {
    await work();
  } finally {
    signalAll(pids, "SIGCONT");
  }
}

async function assertNothingMissing(db: Db, sender: EventSender): Promise<void> {
  const recorded = await listRecorded(db);
  assert.deepEqual([...sender.acknowledged.difference(recorded)], [], "answered 204 and missing");
}

const WITHOUT_SIGNALS = process.platform === "win32" && "this system has no signals to suspend a process";

test("while PostgreSQL is down requests get 503, memory stays flat, and everything recovers by itself", {
  skip: WITHOUT_SIGNALS,
}, async () => {
  const { service, db, cluster } = await startWithOwnDatabase();
  const owner = await makeOrganization(db);
  const sender = createEventSender([await makeWidget(db, owner), await makeWidget(db, owner)], service.port);
  let growth = 0;

  const untilRefused = () => until(() => (sender.statuses.get(503) ?? 0) > 0, "events are refused");
  const outages = async () => {
    const untilMoreAreSent = async () => {
      const before = sender.acknowledged.size;
      await until(() => sender.acknowledged.size > before + EVENTS, "more events were answered");
    };
    await untilMoreAreSent();
    const memoryMb = readMemoryMb(service.pid);
    const pids = await listServerPids(db, cluster);
    await whileStopped(pids, untilRefused);
    growth = readMemoryMb(service.pid) / memoryMb;
    await untilMoreAreSent();

    // Its processes end without a reply; the supervisor restarts the server, and it recovers.
    const killed = readPostmasterPid(cluster);
    process.kill(killed, "SIGKILL");
    await until(() => ![killed, Number.NaN].includes(readPostmasterPid(cluster)), "another server runs");
    await untilMoreAreSent();
  };
  await sender.sendWhile(outages());

  assert.ok((sender.statuses.get(503) ?? 0) > 0, "503 while it was down");
  assert.deepEqual(
    [...sender.statuses.keys()].filter((status) => status !== 204 && status !== 503),
    [],
    "and no other answer",
  );
  assert.ok(!(growth > 1.5), `it grew to ${growth} times its size`);

  await sender.replay();
  await assertNothingMissing(db, sender);
  assert.deepEqual(await countReached(db), expectReached(sender.visits));
});

/** The requests, and whether their response needs the database. */
type Door = { route: string; headers?: Record<string, string>; body?: object };
type DoorResponse = { route: string; status: number; retryAfter: string | null; tookMs: number };

/** A valid format, but no such appointment. */
const MANAGE_TOKEN = `${"a".repeat(12)}222222${"a".repeat(24)}`;

/** One of every kind of route that needs the database. */
async function listDoors(db: Db, port: number): Promise<Door[]> {
  const owner = await makeOrganization(db);
  const widget = await makeWidget(db, owner);
  const { key } = await makeKey(db, owner);
  const reading = { authorization: `Bearer ${key}` };
  const member = {
    cookie: await signInAsOwner(db, port, owner),
    "x-organization": owner,
    origin: SERVICE,
  };
  const beacon = { "content-type": "text/plain", "user-agent": DESKTOP };
  return [
    { route: "GET /readyz" },
    ...["widgets", "bookings", "analytics"].map((name) => ({ route: `GET /api/v1/${name}`, headers: reading })),
    { route: `GET /embed-api/${widget}/config` },
    { route: `GET /embed-api/${widget}/slots?service=x&from=2026-11-16&to=2026-11-17` },
    // A widget the process hasn't seen yet: its owner is looked up first.
    { route: `POST /embed-api/${widget}/events`, headers: beacon, body: eventsBody({}) },
    {
      route: `POST /embed-api/${widget}/bookings`,
      headers: { "idempotency-key": randomUUID() },
      body: {
        visitId: randomUUID(),
        serviceId: "x",
        start: "2026-11-16T10:00:00Z",
        timeZone: "Europe/Berlin",
        customer: { name: "Mara Quell", email: "mara@example.com" },
      },
    },
    { route: `GET /embed/${widget}` },
    { route: `GET /w/${widget}` },
    { route: `GET /manage/${MANAGE_TOKEN}` },
    { route: "GET /api/app/me", headers: member },
    { route: "GET /api/app/widgets", headers: member },
    { route: "POST /api/app/widgets", headers: member, body: { name: "Another" } },
    {
      route: "POST /api/auth/sign-in/email",
      headers: { origin: member.origin },
      body: { email: "nobody@example.com", password: "not a password" },
    },
  ];
}

async function signInAsOwner(db: Db, port: number, owner: OrganizationId): Promise<string> {
  const deps = { db, clock: systemClock, random: systemRandom };
  const [email, password] = ["owner@example.com", "correct horse battery"];
  const passwordHash = await hashPassword(deps, password);
  const user = await createUser(deps, { name: "Owner", email, passwordHash, isEmailProven: true });
  assert.ok(user);
  await insertMember(db, {
    organization_id: owner,
    user_id: user.userId,
    role: "owner",
    last_used_at: null,
    created_at: new Date(),
  });
  const response = await fetch(`http://127.0.0.1:${port}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: SERVICE },
    body: JSON.stringify({ email, password }),
  });
  assert.equal(response.status, 200);
  return response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
}

async function knock(port: number, door: Door): Promise<DoorResponse> {
  const [method = "", path = ""] = door.route.split(" ");
  const startedAt = performance.now();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { "content-type": "application/json", ...door.headers },
    ...(door.body ? { body: JSON.stringify(door.body) } : {}),
  });
  await response.arrayBuffer();
  const tookMs = performance.now() - startedAt;
  return { route: door.route, status: response.status, retryAfter: response.headers.get("retry-after"), tookMs };
}

/** Whether most of these took less than half as long as most of the others. */
function isMuchFaster(responses: readonly DoorResponse[], others: readonly DoorResponse[]): boolean {
  const toMedian = (all: readonly DoorResponse[]) =>
    all.map(({ tookMs }) => tookMs).sort((a, b) => a - b)[all.length >> 1];
  return 2 * (toMedian(responses) ?? Number.NaN) < (toMedian(others) ?? Number.NaN);
}

test("with PostgreSQL hung or gone, every route gives 503, soon at once, and recovers by itself", {
  skip: WITHOUT_SIGNALS,
}, async () => {
  const { service, db, cluster } = await startWithOwnDatabase();
  const { port } = service;
  const doors = await listDoors(db, port);
  const knockAll = () => Promise.all(doors.map((door) => knock(port, door)));
  const assertUnavailable = (responses: readonly DoorResponse[]) => {
    for (const { route, status, retryAfter } of responses) {
      assert.equal(status, 503, route);
      assert.match(String(retryAfter), /^[1-9][0-9]*$/, route);
    }
  };
  const untilReady = async () => {
    await until(async () => (await knock(port, { route: "GET /readyz" })).status === 200, "it is ready again");
  };

  const pids = await listServerPids(db, cluster);
  await whileStopped(pids, async () => {
    const [first, second] = [await knockAll(), await knockAll()];
    assertUnavailable([...first, ...second]);
    assert.ok(isMuchFaster(second, first), "nothing waits once the silence is known");
    for (const route of ["GET /healthz", "GET /loader.js", "GET /metrics"])
      assert.equal((await knock(port, { route })).status, 200, route);
  });
  await untilReady();
  for (const { route, status } of await knockAll()) assert.ok(status < 500, `${route} answers ${status}`);

  const killed = readPostmasterPid(cluster);
  process.kill(killed, "SIGKILL");
  let responses: DoorResponse[] = [];
  do responses = await knockAll();
  while (responses.every(({ status }) => status < 500) && readPostmasterPid(cluster) === killed);
  assertUnavailable(responses.filter(({ status }) => status >= 500));
  await untilReady();
  assert.doesNotMatch(service.output(), /service\.crashed|rejection_unhandled/);
});
