import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseConfig } from "../src/server/config.ts";
import { createDeps, type ServiceDeps } from "../src/server/create-deps.ts";
import { openDb, openPool, type Pool } from "../src/server/db/connections/pool.ts";
import { MIGRATIONS_FOLDER, migrate } from "../src/server/db/migrate.ts";
import { createLog } from "../src/server/lib/log/log.ts";
import { listHostUrls } from "../src/server/lib/text/host-urls.ts";
import { addEndpoint } from "../src/server/webhooks/endpoints/endpoints.ts";
import { noAudit } from "../test/support/app/no-audit.ts";
import { makeKey, makeOrganization, makeWidget } from "../test/support/builders.ts";
import {
  type CitusCluster,
  type CitusNode,
  createCitusDatabase,
  startCitusCluster,
} from "../test/support/database/citus-cluster.ts";
import { listTakenSteps } from "../test/support/funnel/collect.ts";
import { findFreePort } from "../test/support/programs/free-port.ts";
import { type Business, CLUSTER_FAULTS, type ClusterFault, type Stage } from "./cluster-faults.ts";
import { Eraser } from "./eraser.ts";
import { Load } from "./load.ts";
import { startReceiver } from "./receiver.ts";
import { countReached, readCounts } from "./reports.ts";
import { Service } from "./service.ts";
import { makeClockFile, toServiceSettings } from "./world.ts";

// `npm run faults -- --cluster DIR`: faults of a Citus cluster under load, from PostgreSQL with Citus in the folder DIR. Two
// organizations, each on a server of its own, send events, book, read and delete bookings. What happens to the server of the
// first must not be noticed by the second, and neither may lose anything that was acknowledged.

const SETTLE_LIMIT_MS = 90_000;
const READY_LIMIT_MS = 60_000;
/** Until a server counts as silent, statements about others may wait for a connection. */
const RESPONSE_MS_MAX = 6_000;

export async function runClusterFaults({
  bin,
  logs,
  only,
}: {
  bin: string;
  logs: string;
  only: string;
}): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-faults-"));
  mkdirSync(logs, { recursive: true });
  const cluster = await startCitusCluster({ bin, isDurable: true });
  const closing: (() => Promise<unknown>)[] = [
    () => cluster.close(),
    async () => rmSync(folder, { recursive: true, force: true }),
  ];
  let wrong = 0;
  try {
    const stage = await setUp(cluster, { folder, logs, closing });
    for (const fault of CLUSTER_FAULTS.filter(({ name }) => name.includes(only))) wrong += await play(stage, fault);
  } finally {
    for (const close of closing.toReversed()) await close();
  }
  return wrong;
}

async function setUp(
  cluster: CitusCluster,
  { folder, logs, closing }: { folder: string; logs: string; closing: (() => Promise<unknown>)[] },
): Promise<Stage> {
  const url = cluster.toUrl("bookflow");
  await createCitusDatabase(listHostUrls(url));
  const log = createLog("silent");
  const pool = openPool({ url, size: 4, log });
  closing.push(() => pool.end());
  await migrate({ pool, log, folder: MIGRATIONS_FOLDER });
  const settings = {
    DATABASE_URL: url,
    ...toServiceSettings({ folder, clockFile: makeClockFile(folder) }),
  };
  const deps = await createDeps({ config: parseConfig(settings), database: { db: openDb(pool), pool }, log });
  const services: Service[] = [];
  for (const role of ["web", "worker"] as const) {
    const port = await findFreePort();
    const own = { ROLE: role, [role === "web" ? "PORT" : "WORKER_PORT"]: String(port) };
    const service = new Service({
      name: role,
      port,
      settings: { ...settings, ...own },
      logPath: join(logs, `${role}.log`),
    });
    await service.start();
    services.push(service);
    closing.push(() => service.end("SIGKILL"));
  }
  const webs = services.slice(0, 1);
  const first = await setUpBusiness(deps, { cluster, pool, webs, elsewhere: null });
  const second = await setUpBusiness(deps, { cluster, pool, webs, elsewhere: first.node });
  for (const { load, receiver } of [first, second])
    closing.push(async () => {
      await load.close();
      receiver.close();
    });
  closing.push(async () => {
    await Promise.all([deps.scheduler.outbound.close(), deps.webhooks.send.close()]);
  });
  return { cluster, coordinatorUrl: listHostUrls(url)[0] ?? "", pool, first, second, services, settings };
}

/** On any server but `elsewhere`. */
async function setUpBusiness(
  deps: ServiceDeps,
  where: { cluster: CitusCluster; pool: Pool; webs: readonly Service[]; elsewhere: CitusNode | null },
): Promise<Business> {
  const { db } = deps;
  for (;;) {
    const owner = await makeOrganization(db, { timeZone: "Europe/Berlin" });
    const home = await where.pool.homes?.find(owner);
    const node = where.cluster.nodes.find(({ address }) => address === home?.address);
    if (!node || node === where.elsewhere) continue;
    const receiver = await startReceiver();
    const endpoint = { url: receiver.url, kind: "webhook", description: "" } as const;
    const added = await addEndpoint(deps, owner, endpoint, noAudit);
    if (added.kind !== "added") throw new Error(`The endpoint was refused: ${added.kind}`);
    const { key: apiKey } = await makeKey(db, owner);
    const eventWidgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
    const bookingWidgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
    const load = new Load({ webs: where.webs, apiKey, eventWidgets, bookingWidgets, externalWidget: null });
    return { owner, node, eventWidgets, bookingWidgets, load, receiver, eraser: new Eraser(deps, owner, receiver) };
  }
}

async function play(stage: Stage, fault: ClusterFault): Promise<number> {
  const businesses = [stage.first, stage.second];
  for (const { load, eraser } of businesses) {
    load.start();
    eraser.start();
  }
  await sleep(2_000);
  const before = businesses.map(({ load }) => ({ ...load.counts }));
  const wrong: string[] = [];
  const startedAt = performance.now();
  try {
    await fault.happen(stage);
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const during = businesses.map(({ load }, n) => subtract(load.counts, before[n]));
  await Promise.all(stage.services.map((service) => service.untilReady(READY_LIMIT_MS)));
  await sleep(2_000);
  for (const { load, eraser } of businesses) {
    if (!(await load.rest())) wrong.push("requests are not answered any more");
    await eraser.rest();
  }
  const slow = stage.second.load.slowResponses
    .splice(0)
    .filter(({ tookMs, lagMs }) => tookMs - lagMs > RESPONSE_MS_MAX);
  if (fault.isSpared && (during[1]?.events === 0 || during[1]?.bookings === 0))
    wrong.push("the other organization waited");
  if (fault.isSpared && slow.length > 0)
    wrong.push(`the other organization waited ${Math.round(slow[0]?.tookMs ?? 0)} ms`);
  for (const business of businesses) wrong.push(...(await check(stage, business)));
  const shown = during.map((counts) => JSON.stringify(counts)).join(" and ");
  const steps = businesses.flatMap(({ load }) => load.visits.flatMap((visit) => visit.steps)).length;
  const bookings = businesses.reduce((sum, { load }) => sum + load.booked.size, 0);
  console.log(
    `${fault.name}: ${seconds} s, meanwhile ${shown}; ${steps} steps and ${bookings} bookings acknowledged since the start; ${wrong.length === 0 ? "ok" : `WRONG: ${wrong.join("; ")}`}`,
  );
  return wrong.length;
}

function subtract(counts: Load["counts"], before: Load["counts"] | undefined): Load["counts"] {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, count - (before?.[name as keyof Load["counts"]] ?? 0)]),
  ) as Load["counts"];
}

/** Everything acknowledged is stored, counted once and delivered. */
async function check(
  { pool }: Stage,
  { owner, eventWidgets, bookingWidgets, load, receiver, eraser }: Business,
): Promise<string[]> {
  const wrong = [...load.wrongResponses.splice(0), ...eraser.wrong.splice(0)];
  const references = await pool.query<{ reference: string }>(
    "select reference from bookings where organization_id = $1",
    [owner],
  );
  const stored = new Set(references.rows.map(({ reference }) => reference));
  const lost = load.booked.difference(stored).difference(eraser.erased).size;
  if (lost > 0) wrong.push(`${lost} bookings lost`);
  const back = eraser.erased.intersection(stored).size;
  if (back > 0) wrong.push(`${back} deleted bookings are still there`);
  const deletions = await pool.query<{ reference: string }>(
    "select reference from booking_deletions where organization_id = $1",
    [owner],
  );
  if (deletions.rows.length !== eraser.erased.size)
    wrong.push(`${deletions.rows.length} deletions recorded, ${eraser.erased.size} made`);
  const startedAt = performance.now();
  while (stored.difference(new Set(receiver.taken.keys())).size > 0) {
    if (performance.now() - startedAt > SETTLE_LIMIT_MS) {
      wrong.push(`${stored.difference(new Set(receiver.taken.keys())).size} bookings not delivered`);
      break;
    }
    await sleep(500);
  }
  const taken = (await listTakenSteps(openDb(pool))).map(({ visit_id, step }) => `${visit_id} ${step}`);
  const sent = new Set(load.visits.flatMap(({ visitId, steps }) => steps.map((step) => `${visitId} ${step}`)));
  const missing = sent.difference(new Set(taken)).size;
  if (missing > 0) wrong.push(`${missing} steps lost`);
  const db = openDb(pool);
  const { bookings } = await readCounts(db, bookingWidgets);
  const made = stored.union(eraser.erased).size;
  if (bookings !== made) wrong.push(`${bookings} bookings counted, ${made} made`);
  const { reached } = await readCounts(db, eventWidgets);
  const expected = countReached(load.visits);
  if (String(reached) !== String(expected)) wrong.push(`counted ${reached}, sent ${expected}`);
  return wrong;
}
