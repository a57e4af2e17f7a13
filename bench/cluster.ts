import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceDeps } from "../src/server/create-deps.ts";
import { listHostUrls } from "../src/server/lib/text/host-urls.ts";
import {
  type CitusCluster,
  createCitusDatabase,
  createDatabase,
  queryOnce,
  startCitusCluster,
} from "../test/support/database/citus-cluster.ts";
import { type Bar, printTable, round } from "./support/bars.ts";
import { listSlots, NO_BOOKING_LIMITS, toBookingRequest } from "./support/booking-requests.ts";
import type { Child } from "./support/child.ts";
import { toEventRequests } from "./support/event-requests.ts";
import { signIn } from "./support/filtered-reports.ts";
import { type LoadResult, runLoad, toRequest } from "./support/load.ts";
import { makeSmallBusinesses, queueDeliveries, type SmallBusiness } from "./support/many-businesses.ts";
import { requireStatus } from "./support/measured-load.ts";
import { readCpuMs } from "./support/process-usage.ts";
import { runCommand, startProcess } from "./support/service.ts";
import { type Receiver, startReceiver } from "./support/start-receiver.ts";
import { openBookings } from "./support/webhook-bookings.ts";

// The same loads of 1,000 organizations on one PostgreSQL server and then on a Citus cluster of one coordinator and two workers,
// all on this machine: how many per second, how much processor time of PostgreSQL each takes, and how much of that falls on the
// coordinator. One web process sends its statements to any server; one worker process uses the coordinator.

/** CLUSTER_ORGANIZATIONS measures with fewer, for trying things out. */
const ORGANIZATIONS = Number(process.env["CLUSTER_ORGANIZATIONS"] ?? 1_000);
const WARM_UP_MS = 3_000;
const MEASURE_MS = 8_000;
const CONNECTIONS = { reads: 32, analytics: 16, dashboard: 16, events: 64, "many events": 256, bookings: 16 } as const;
/** Per organization, so that neither deliveries nor available times run out during the measurement. */
const QUEUED_EACH = Math.ceil(20_000 / ORGANIZATIONS);
const SLOTS_EACH = Math.ceil(10_000 / ORGANIZATIONS);
const SLOT_DAYS = [[1, 8]] as const;
/** PostgreSQL's processor time on all servers of the cluster, as a multiple of plain PostgreSQL's in the same run. */
const COST_BARS: Readonly<Record<string, number>> = {
  ...{ events: 2, "many events": 1.3, reads: 1.5, analytics: 1.5, deliveries: 1.6, bookings: 1.6 },
};
/** The coordinator's part of it. */
const COORDINATOR_BAR = 0.05;

const SETTINGS = {
  ...NO_BOOKING_LIMITS,
  RATE_LIMIT_EVENTS_PER_MINUTE: "10000000",
  SECRET_KEY: "a key for the bench, which seals nothing of worth",
  WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
  LOG_LEVEL: "warn",
};

/** `serversMs`: processor time per unit of work, the coordinator's first. */
type Measured = { name: string; rate: number; p50Ms: number | null; p99Ms: number | null; serversMs: number[] };

type Stage = {
  readonly servers: CitusCluster;
  readonly settings: Readonly<Record<string, string>>;
  readonly web: Child;
  readonly receiver: Receiver;
  readonly deps: ServiceDeps;
  readonly businesses: readonly SmallBusiness[];
};

export async function run({ bin }: { bin: string | null }): Promise<Bar[]> {
  if (bin === null) {
    console.log(
      "Skipped: this bench needs PostgreSQL with Citus. Pass its folder: npm run bench -- cluster --bin /path/to/bin",
    );
    return [];
  }
  const plain = await measureOn(bin, 0);
  const spread = await measureOn(bin, 2);
  printTable(plain.map((one, n) => toRow(one, spread[n])));
  return plain.flatMap((one, n) => judge(one, spread[n]));
}

function toRow(plain: Measured, spread: Measured | undefined): Record<string, string> {
  const [coordinatorMs = 0] = spread?.serversMs ?? [];
  return {
    load: plain.name,
    "plain per second": round(plain.rate),
    "p50 ms": plain.p50Ms === null ? "" : round(plain.p50Ms),
    "p99 ms": plain.p99Ms === null ? "" : round(plain.p99Ms),
    "postgres ms each": round(sum(plain.serversMs)),
    "cluster per second": round(spread?.rate ?? 0),
    "cluster p50 ms": spread?.p50Ms ? round(spread.p50Ms) : "",
    "cluster p99 ms": spread?.p99Ms ? round(spread.p99Ms) : "",
    "all servers ms each": round(sum(spread?.serversMs ?? [])),
    "coordinator ms each": round(coordinatorMs),
    "coordinator share": `${Math.round(toCoordinatorShare(spread?.serversMs ?? []) * 100)}%`,
    "coordinator's ceiling per core": round(1_000 / coordinatorMs),
  };
}

function judge(plain: Measured, spread: Measured | undefined): Bar[] {
  const limit = COST_BARS[plain.name];
  if (limit === undefined || !spread) return [];
  const times = sum(spread.serversMs) / sum(plain.serversMs);
  const share = toCoordinatorShare(spread.serversMs);
  return [
    {
      what: `${plain.name}: PostgreSQL's processor time on all servers`,
      measured: `${round(times)} × plain`,
      bar: `≤ ${limit} × plain`,
      isReached: times <= limit,
    },
    {
      what: `${plain.name}: the coordinator's part of it`,
      measured: `${Math.round(share * 100)}%`,
      bar: `≤ ${COORDINATOR_BAR * 100}%`,
      isReached: share <= COORDINATOR_BAR,
    },
  ];
}

const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
const toCoordinatorShare = (serversMs: readonly number[]) => (serversMs[0] ?? 0) / sum(serversMs);

/** No workers: one plain PostgreSQL server of the same installation, with the same settings. */
async function measureOn(bin: string, workers: number): Promise<Measured[]> {
  const isPlain = workers === 0;
  const folder = mkdtempSync(join(tmpdir(), "bookflow-bench-"));
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const own = isPlain ? ["shared_preload_libraries="] : [];
    const servers = await startCitusCluster({ bin, workers, isDurable: true, settings: own });
    closing.push(() => servers.close());
    const url = servers.toUrl("bookflow");
    if (isPlain) await createDatabase(new URL(url));
    else await createCitusDatabase(listHostUrls(url));
    const settings = { ...SETTINGS, DATABASE_URL: url, DATA_DIR: folder };
    const receiver = await startReceiver();
    closing.push(() => receiver.stop());
    const bookings = await openBookings(settings);
    closing.push(() => bookings.close());
    const startedAt = performance.now();
    const businesses = await makeSmallBusinesses(bookings.deps, { count: ORGANIZATIONS, port: receiver.port });
    for (const server of listHostUrls(url)) await queryOnce(server, "vacuum analyze");
    const web = await startProcess({ ...settings, ROLE: "web" });
    closing.push(() => web.stop());
    const engine = isPlain ? "One PostgreSQL server" : `A coordinator and ${workers} workers`;
    const seconds = round((performance.now() - startedAt) / 1000);
    console.log(`${engine}: ${businesses.length.toLocaleString("en")} organizations created in ${seconds} s.`);
    return await measureAll({ servers, settings, web, receiver, deps: bookings.deps, businesses });
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

async function measureAll(stage: Stage): Promise<Measured[]> {
  const { businesses } = stage;
  const read = (path: string) =>
    businesses.map(({ key }) => toRequest({ method: "GET", path, headers: { authorization: `Bearer ${key}` } }));
  const widgets = businesses.map(({ widgetId }) => widgetId);
  const measured = [
    await measureRequests(stage, { name: "reads", requests: read("/api/v1/bookings?limit=20"), status: 200 }),
    await measureRequests(stage, { name: "analytics", requests: read("/api/v1/analytics?days=30"), status: 200 }),
    await measureRequests(stage, { name: "dashboard", requests: await toDashboardRequests(stage), status: 200 }),
    await measureRequests(stage, { name: "events", requests: toEventRequests(widgets, 1), status: 204 }),
    await measureRequests(stage, { name: "many events", requests: toEventRequests(widgets, 1), status: 204 }),
    await measureRequests(stage, { name: "bookings", requests: await toBookingRequests(stage), status: 201 }),
  ];
  return [...measured, await measureDeliveries(stage)];
}

/** The list of widgets, for which the session and the membership are looked up. */
async function toDashboardRequests({ settings, web, deps, businesses }: Stage): Promise<string[]> {
  const [email, password] = ["bench@example.com", "correct horse battery"];
  const [first] = businesses;
  const words = ["--org", String(first?.owner), "--email", email, "--password", password, "--role", "owner"];
  await runCommand(settings, ["user", "create", ...words]);
  const { user_id } = await deps.db.selectFrom("members").select("user_id").executeTakeFirstOrThrow();
  const others = businesses.slice(1).map(({ owner }) => owner);
  const created_at = deps.clock.now();
  await deps.db
    .insertInto("members")
    .values(others.map((organization_id) => ({ organization_id, user_id, role: "owner" as const, created_at })))
    .execute();
  const cookie = await signIn(web.port, { email, password });
  return businesses.map(({ owner }) =>
    toRequest({ method: "GET", path: "/api/app/widgets", headers: { cookie, "x-organization": owner } }),
  );
}

async function toBookingRequests({ web, businesses }: Stage): Promise<string[]> {
  const bySlot: string[][] = Array.from({ length: SLOTS_EACH }, () => []);
  for (const { widgetId } of businesses) {
    const slots = await listSlots(web.port, widgetId, SLOT_DAYS);
    bySlot.forEach((requests, n) => {
      const slot = slots[n];
      if (slot) requests.push(toBookingRequest(widgetId, slot));
    });
  }
  return bySlot.flat();
}

async function measureRequests(
  { servers, web }: Stage,
  load: { name: keyof typeof CONNECTIONS; requests: string[]; status: number },
): Promise<Measured> {
  const { name, requests } = load;
  const usage = watchServers(servers);
  const plan = {
    port: web.port,
    connections: CONNECTIONS[name],
    requests,
    warmUpMs: WARM_UP_MS,
    measureMs: MEASURE_MS,
  };
  const result: LoadResult = await runLoad(plan, (moment) => usage.note(moment));
  requireStatus(result, load.status);
  const count = sum(Object.values(result.statuses));
  return { name, rate: result.rate, p50Ms: result.p50Ms, p99Ms: result.p99Ms, serversMs: usage.each(count) };
}

/** From a queue in which every organization waits. */
async function measureDeliveries(stage: Stage): Promise<Measured> {
  const { servers, settings, receiver, deps, businesses } = stage;
  await queueDeliveries(deps, businesses, QUEUED_EACH);
  await receiver.take();
  const worker = await startProcess({ ...settings, ROLE: "worker" });
  try {
    await sleep(WARM_UP_MS);
    const usage = watchServers(servers);
    await receiver.take();
    usage.note("start");
    const startedAt = performance.now();
    await sleep(MEASURE_MS);
    usage.note("end");
    const seconds = (performance.now() - startedAt) / 1000;
    const count = (await receiver.take()).length;
    return { name: "deliveries", rate: count / seconds, p50Ms: null, p99Ms: null, serversMs: usage.each(count) };
  } finally {
    await worker.stop();
  }
}

function watchServers({ nodes }: CitusCluster) {
  const read = () => nodes.map(({ postmasterPid }) => readCpuMs(postmasterPid) ?? 0);
  const at: Record<"start" | "end", number[]> = { start: read(), end: [] };
  return {
    note(moment: "start" | "end") {
      at[moment] = read();
    },
    each: (count: number) => at.end.map((ms, n) => (ms - (at.start[n] ?? 0)) / count),
  };
}
