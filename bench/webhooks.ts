import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { Agent, request } from "undici";
import type { Deps } from "../src/server/deps.ts";
import { readCpuMs, readResidentMb } from "./support/process-usage.ts";
import { type Service, startService } from "./support/service.ts";
import { printTable, round } from "./support/table.ts";
import { type Business, book, makeBusiness, openBookings } from "./support/webhook-bookings.ts";
import type { Arrival } from "./support/webhook-receiver.ts";

// Deliveries to a receiver on this machine: how many a second the service keeps up, how soon the first byte leaves after a
// booking's commit, and whether one hung endpoint with many waiting changes that for the others. The ceiling is a plain
// loop of undici POSTs of the same bytes to the same receiver.

const BARS = { deliveriesPerSecond: 1_000, firstByteP99Ms: 150, hungRatio: 1.2, residentMb: 250 };

const BUSINESSES = 50;
const ENDPOINTS_EACH = 4;
const WARM_UP_MS = 3_000;
const MEASURE_MS = 10_000;
/** The queue is kept this long, so that it never runs dry and never just grows. */
const BACKLOG = 2_000;
const CEILING_CONNECTIONS = 64;
const BOOKINGS_PER_SECOND = 100;
/** Each is measured in turn with and without the hung endpoint, so that both see the same machine. */
const ROUNDS = 3;
const ROUND_MS = 10_000;
const HUNG_WAITING = 10_000;

const SETTINGS = {
  SECRET_KEY: "a key for the bench, which seals nothing of worth",
  WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
};

type Receiver = { port: number; take(): Promise<Arrival[]>; stop(): void };
type Bench = { service: Service; receiver: Receiver; deps: Deps };

export async function run(): Promise<boolean> {
  const receiver = await startReceiver();
  const service = await startService(SETTINGS);
  const bookings = await openBookings({ ...SETTINGS, DATABASE_URL: "", DATA_DIR: service.dataDir });
  const bench = { service, receiver, deps: bookings.deps };
  try {
    const sustained = await measureSustained(bench);
    const [alone, besideHung] = await measureFirstBytes(bench);
    const ceiling = await measureCeiling(bench);
    const hungRatio = besideHung.p99Ms / alone.p99Ms;
    const residentMb = Math.max(sustained.residentMb, besideHung.residentMb);
    const rows = [
      { what: "plain undici POSTs a second", measured: round(ceiling), bar: "", isReached: true },
      {
        what: `deliveries a second, sustained (${sustained.cpu})`,
        measured: round(sustained.rate),
        bar: `≥ ${BARS.deliveriesPerSecond}`,
        isReached: sustained.rate >= BARS.deliveriesPerSecond,
      },
      { what: "share of the plain POSTs", measured: (sustained.rate / ceiling).toFixed(2), bar: "", isReached: true },
      {
        what: `commit to first byte at ${BOOKINGS_PER_SECOND}/s, p50 ms`,
        measured: round(alone.p50Ms),
        bar: "",
        isReached: true,
      },
      {
        what: `commit to first byte at ${BOOKINGS_PER_SECOND}/s, p99 ms`,
        measured: round(alone.p99Ms),
        bar: `≤ ${BARS.firstByteP99Ms}`,
        isReached: alone.p99Ms <= BARS.firstByteP99Ms,
      },
      {
        what: `the same beside a hung endpoint with ${HUNG_WAITING.toLocaleString("en")} waiting, p99 ms`,
        measured: round(besideHung.p99Ms),
        bar: "",
        isReached: true,
      },
      {
        what: "hung endpoint's effect on p99",
        measured: `${hungRatio.toFixed(2)}×`,
        bar: `≤ ${BARS.hungRatio}×`,
        isReached: hungRatio <= BARS.hungRatio,
      },
      {
        what: "resident memory, MB",
        measured: String(Math.round(residentMb)),
        bar: `≤ ${BARS.residentMb}`,
        isReached: residentMb <= BARS.residentMb,
      },
      {
        what: "bookings that did not arrive",
        measured: String(alone.missing + besideHung.missing),
        bar: "0",
        isReached: alone.missing + besideHung.missing === 0,
      },
    ];
    printTable(
      rows.map(({ isReached, bar, ...row }) => ({
        ...row,
        bar,
        verdict: bar === "" ? "" : isReached ? "pass" : "MISS",
      })),
    );
    return rows.every(({ isReached }) => isReached);
  } finally {
    await bookings.close();
    await service.stop();
    receiver.stop();
  }
}

async function measureSustained({
  service,
  receiver,
  deps,
}: Bench): Promise<{ rate: number; cpu: string; residentMb: number }> {
  const businesses = await makeBusinesses(deps, receiver, { count: BUSINESSES, endpoints: ENDPOINTS_EACH });
  let booked = 0;
  let arrived = 0;
  let isOver = false;
  const booking = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      if (booked * ENDPOINTS_EACH - arrived > BACKLOG) await sleep(2);
      else await book(deps, businesses[booked++ % businesses.length] as Business);
    }
  });
  const counting = (async () => {
    while (!isOver) {
      arrived += (await receiver.take()).length;
      await sleep(20);
    }
  })();
  await sleep(WARM_UP_MS);
  const start = { at: performance.now(), arrived, ...readUsage(service) };
  await sleep(MEASURE_MS);
  const end = { at: performance.now(), arrived, ...readUsage(service) };
  const residentMb = readResidentMb(service.pid) ?? 0;
  isOver = true;
  await Promise.all([...booking, counting]);
  await waitUntilSent(deps);
  await receiver.take();
  const elapsedMs = end.at - start.at;
  const share = (name: "node" | "postgres") =>
    `${name} ${Math.round(((end[name] - start[name]) / elapsedMs) * 100)}% of a core`;
  return {
    rate: ((end.arrived - start.arrived) / elapsedMs) * 1000,
    cpu: `${share("node")}, ${share("postgres")}`,
    residentMb,
  };
}

type FirstBytes = { p50Ms: number; p99Ms: number; missing: number; residentMb: number };

async function measureFirstBytes(bench: Bench): Promise<[alone: FirstBytes, besideHung: FirstBytes]> {
  const businesses = await makeBusinesses(bench.deps, bench.receiver, { count: BUSINESSES, endpoints: 1 });
  const hung = await makeBusiness(bench.deps, [`http://127.0.0.1:${bench.receiver.port}/hang`]);
  await measureRound(bench, businesses, WARM_UP_MS);
  const [alone, besideHung]: Rounds[] = [
    { latencies: [], missing: 0 },
    { latencies: [], missing: 0 },
  ];
  for (let n = 0; n < ROUNDS; n++) {
    await switchEndpoints(bench.deps, hung, "disabled");
    add(alone, await measureRound(bench, businesses, ROUND_MS));
    await switchEndpoints(bench.deps, hung, "enabled");
    await fillQueue(bench.deps, hung);
    add(besideHung, await measureRound(bench, businesses, ROUND_MS));
  }
  const residentMb = readResidentMb(bench.service.pid) ?? 0;
  return [
    { ...summarize(alone), residentMb },
    { ...summarize(besideHung), residentMb },
  ];
}

type Rounds = { latencies: number[]; missing: number };

function add(rounds: Rounds | undefined, round: Rounds): void {
  rounds?.latencies.push(...round.latencies);
  if (rounds) rounds.missing += round.missing;
}

function summarize(rounds: Rounds | undefined): Pick<FirstBytes, "p50Ms" | "p99Ms" | "missing"> {
  const sorted = rounds?.latencies.toSorted((a, b) => a - b) ?? [];
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), missing: rounds?.missing ?? 0 };
}

/** Bookings at a steady pace, whatever becomes of them. */
async function measureRound(
  { deps, receiver }: Bench,
  businesses: readonly Business[],
  lengthMs: number,
): Promise<Rounds> {
  const committed = new Map<string, number>();
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  const total = Math.round((lengthMs / 1000) * BOOKINGS_PER_SECOND);
  for (let n = 0; n < total; n++) {
    const waitMs = startedAt + (n * 1000) / BOOKINGS_PER_SECOND - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    const business = businesses[n % businesses.length] as Business;
    pending.push(book(deps, business).then(({ reference, committedAt }) => void committed.set(reference, committedAt)));
  }
  await Promise.all(pending);
  const arrivals = new Map<string, number>();
  for (let waitedMs = 0; arrivals.size < total && waitedMs < 10_000; waitedMs += 50) {
    for (const [reference, atMs] of await receiver.take()) arrivals.set(reference, atMs);
    if (arrivals.size < total) await sleep(50);
  }
  // An arrival before the moment that this process heard of the commit counts as none.
  const latencies = [...committed].flatMap(([reference, at]) => {
    const arrivedAt = arrivals.get(reference);
    return arrivedAt === undefined ? [] : [Math.max(0, arrivedAt - at)];
  });
  return { latencies, missing: total - latencies.length };
}

/** What a long outage leaves: the same event again and again. */
async function fillQueue(deps: Deps, { owner, widgetId }: Business): Promise<void> {
  await book(deps, { owner, widgetId });
  await sql`with events as (
      insert into webhook_events (organization_id, id, type, body, created_at)
      select organization_id, 'evt_' || md5(id || n), type, body, created_at
      from (select * from webhook_events where organization_id = ${owner} limit 1) one, generate_series(1, ${HUNG_WAITING}::integer) n
      on conflict do nothing
      returning organization_id, id, created_at
    ), made as (
      insert into deliveries (organization_id, id, event_id, endpoint_id, state, attempt_count, retries_used, created_at)
      select events.organization_id, gen_random_uuid(), events.id, endpoints.id, 'queued', 0, 0, events.created_at
      from events join endpoints on endpoints.organization_id = events.organization_id
      returning organization_id, id, endpoint_id, created_at
    )
    insert into delivery_queue (delivery_id, organization_id, endpoint_id, trigger, due_at)
    select id, organization_id, endpoint_id, 'automatic', created_at from made`.execute(deps.db);
}

/** Disabling empties its queue, through the same code that a customer's click runs. */
async function switchEndpoints(deps: Deps, { owner }: Business, status: "enabled" | "disabled"): Promise<void> {
  await sql`update endpoints set status = ${status}, failed_attempts = 0, failing_since = null, exhausted_deliveries = 0,
    disabled_reason = ${status === "disabled" ? "manual" : null} where organization_id = ${owner}`.execute(deps.db);
  if (status === "disabled") await waitUntilSent(deps);
}

async function waitUntilSent({ db }: Deps): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from delivery_queue`.execute(db);
    if (rows[0]?.count === 0) return;
    await sleep(100);
  }
}

async function measureCeiling({ deps, receiver }: Bench): Promise<number> {
  const { rows } = await sql<{ body: Buffer }>`select body from webhook_events where body is not null limit 1`.execute(
    deps.db,
  );
  const body = rows[0]?.body ?? Buffer.alloc(0);
  const headers = {
    "content-type": "application/json",
    "user-agent": "Service-Webhooks/1.0 (+https://docs.example/webhooks)",
    "service-event": "booking.created",
    "service-delivery": "11111111-2222-4333-8444-555555555555",
    "service-signature": `t=1700000000,v1=${"0".repeat(64)}`,
  };
  const dispatcher = new Agent({ connections: CEILING_CONNECTIONS });
  let posted = 0;
  let isOver = false;
  const posting = Array.from({ length: CEILING_CONNECTIONS }, async () => {
    while (!isOver) {
      const reply = await request(`http://127.0.0.1:${receiver.port}/plain`, {
        method: "POST",
        headers,
        body,
        dispatcher,
      });
      await reply.body.dump();
      posted += 1;
    }
  });
  await sleep(WARM_UP_MS);
  const start = { at: performance.now(), posted };
  await sleep(MEASURE_MS);
  const rate = ((posted - start.posted) / (performance.now() - start.at)) * 1000;
  isOver = true;
  await Promise.all(posting);
  await dispatcher.close();
  return rate;
}

async function makeBusinesses(
  deps: Deps,
  receiver: Receiver,
  about: { count: number; endpoints: number },
): Promise<Business[]> {
  const businesses: Business[] = [];
  for (let n = 0; n < about.count; n++) {
    const urls = Array.from(
      { length: about.endpoints },
      (_, index) => `http://127.0.0.1:${receiver.port}/${n}/${index}`,
    );
    businesses.push(await makeBusiness(deps, urls));
  }
  return businesses;
}

function readUsage(service: Service): { node: number; postgres: number } {
  return {
    node: readCpuMs(service.pid) ?? 0,
    postgres: service.postmasterPid === null ? 0 : (readCpuMs(service.postmasterPid) ?? 0),
  };
}

async function startReceiver(): Promise<Receiver> {
  const child: ChildProcess = fork(join(import.meta.dirname, "support/webhook-receiver.ts"), {
    serialization: "advanced",
  });
  const hear = <T>() => new Promise<T>((resolve) => child.once("message", (message) => resolve(message as T)));
  const { port } = await hear<{ port: number }>();
  return {
    port,
    async take() {
      const answer = hear<{ arrivals: Arrival[] }>();
      child.send("take");
      return (await answer).arrivals;
    },
    stop: () => child.disconnect(),
  };
}
