import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import type { ServiceDeps } from "../src/server/create-deps.ts";
import { wakeWorkers } from "../src/server/webhooks/outbox/wake-workers.ts";
import { type Bar, judgeMemory, printTable, round } from "./support/bars.ts";
import { bookOverHttp, listSlots, NO_BOOKING_LIMITS } from "./support/booking-requests.ts";
import { pickMiddle } from "./support/measured-load.ts";
import { measurePosts } from "./support/post-loop.ts";
import { readCpuMs, readOwnCpuMs, readResidentMb } from "./support/process-usage.ts";
import { type Service, startService } from "./support/service.ts";
import { type Receiver, startReceiver } from "./support/start-receiver.ts";
import { type Business, book, makeBusiness, openBookings } from "./support/webhook-bookings.ts";
import { countQueued, fillQueue, makeBusinesses, switchEndpoints, waitUntilSent } from "./support/webhook-queue.ts";

// Deliveries to a receiver on this machine: how many per second the service sustains, how soon the first byte arrives after a
// booking's commit in another process or after the response to a visitor, and whether one hung endpoint with a long queue slows
// down the others. Rates are compared with a plain loop of undici POSTs of the same bytes to the same receiver, in turn with the deliveries.

/** Of plain POSTs, of the median, and of the same without the hung endpoint. */
const BARS = { fromQueue: 0.15, whileBooking: 0.08, firstByteP99: 5, hung: 1.3 };

const BUSINESSES = 50;
const ENDPOINTS_EACH = 4;
const THROUGHPUT_ROUNDS = 3;
const WARM_UP_MS = 3_000;
const MEASURE_MS = 10_000;
/** Per endpoint: enough for the warm-up and the measurement at 5,000 deliveries a second. */
const QUEUED_EACH = 400;
/** Bookings stored at once, and the maximum number of deliveries waiting. */
const BOOKERS = 12;
const BACKLOG_MAX = 2_000;
const BOOKINGS_PER_SECOND = 100;
/** The whole booking flow takes both cores at about seven times as many. */
const HTTP_BOOKINGS_PER_SECOND = 20;
const HTTP_MEASURE_MS = 30_000;
const SLOT_DAYS = [[0, 29]] as const;
/** With and without the hung endpoint in turn, so that both see the same conditions. */
const FIRST_BYTE_ROUNDS = 5;
const FIRST_BYTE_ROUND_MS = 10_000;
const ARRIVAL_LIMIT_MS = 10_000;
const HUNG_WAITING = 10_000;

const SETTINGS = {
  SECRET_KEY: "a key for the bench, which seals nothing of worth",
  WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
  // Short enough for the hung endpoint's requests to time out and be retried during the measurement.
  WEBHOOK_TIMEOUT_MS: "2000",
  ...NO_BOOKING_LIMITS,
};

type Bench = { service: Service; receiver: Receiver; deps: ServiceDeps };

export async function run(): Promise<Bar[]> {
  const receiver = await startReceiver();
  const service = await startService(SETTINGS);
  const bookings = await openBookings({ ...SETTINGS, DATABASE_URL: "", DATA_DIR: service.dataDir });
  try {
    return await measure({ service, receiver, deps: bookings.deps });
  } finally {
    await bookings.close();
    await service.stop();
    receiver.stop();
  }
}

async function measure(bench: Bench): Promise<Bar[]> {
  const { fromQueue, whileBooking, ceiling, residentMb } = await measureThroughput(bench);
  const overHttp = await measureOverHttp(bench);
  const { alone, besideHung } = await measureFirstBytes(bench);
  const answered = `response to a visitor to first byte at ${HTTP_BOOKINGS_PER_SECOND} bookings a second`;
  const pace = `commit to first byte at ${BOOKINGS_PER_SECOND} bookings a second`;
  const beside = `the same beside a hung endpoint with ${HUNG_WAITING.toLocaleString("en")} waiting`;
  printTable([
    { what: "plain undici POSTs a second", measured: round(ceiling.middle.rate), spread: ceiling.spread },
    ...[
      { what: "deliveries a second, from a long queue", ...fromQueue },
      { what: "deliveries a second while bookings are stored", ...whileBooking },
    ].map(({ what, middle, spread }) => ({ what: `${what} (${middle.cpu})`, measured: round(middle.rate), spread })),
    { what: `${answered}, p50 ms`, measured: overHttp.p50Ms.toFixed(1) },
    { what: `${answered}, p99 ms`, measured: overHttp.p99Ms.toFixed(1) },
    { what: `${pace}, p50 ms`, measured: alone.p50Ms.toFixed(1) },
    { what: `${pace}, p99 ms`, measured: alone.p99Ms.toFixed(1) },
    { what: `${beside}, p99 ms`, measured: besideHung.p99Ms.toFixed(1) },
  ]);
  const missing = alone.missing + besideHung.missing + overHttp.missing;
  const plain = ceiling.middle.rate;
  return [
    atLeast("deliveries from a long queue, of plain POSTs", fromQueue.middle.rate / plain, BARS.fromQueue),
    atLeast(
      "deliveries while bookings are stored, of plain POSTs",
      whileBooking.middle.rate / plain,
      BARS.whileBooking,
    ),
    atMost(`${pace}, p99 of p50`, alone.p99Ms / alone.p50Ms, BARS.firstByteP99),
    atMost("hung endpoint's effect on the others' p99", besideHung.p99Ms / alone.p99Ms, BARS.hung),
    { what: "bookings that did not arrive", measured: String(missing), bar: "0", isReached: missing === 0 },
    judgeMemory(Math.max(residentMb, besideHung.residentMb)),
  ];
}

function atLeast(what: string, ratio: number, bar: number): Bar {
  return { what, measured: `${ratio.toFixed(2)} ×`, bar: `≥ ${bar} ×`, isReached: ratio >= bar };
}

function atMost(what: string, ratio: number, bar: number): Bar {
  return { what, measured: `${ratio.toFixed(2)} ×`, bar: `≤ ${bar} ×`, isReached: ratio <= bar };
}

type Throughput = { rate: number; cpu: string; residentMb: number };

/** The median of several rounds of each, in turn. The first round is slower: the service has only just started. */
async function measureThroughput(bench: Bench) {
  const fromQueue: Throughput[] = [];
  const whileBooking: Throughput[] = [];
  const ceiling: { rate: number }[] = [];
  const url = `http://127.0.0.1:${bench.receiver.port}/plain`;
  for (let n = 0; n < THROUGHPUT_ROUNDS; n++) {
    fromQueue.push(await measureSustained(bench, { queuedEach: QUEUED_EACH, bookers: 0 }));
    whileBooking.push(await measureSustained(bench, { queuedEach: 0, bookers: BOOKERS }));
    const event = await bench.deps.db.selectFrom("webhook_events").select("body").executeTakeFirst();
    const body = event?.body ?? Buffer.alloc(0);
    ceiling.push({ rate: await measurePosts({ url, body, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS }) });
    await bench.receiver.take();
    const rates = [fromQueue, whileBooking, ceiling].map((rounds) => round(rounds[n]?.rate ?? 0)).join(", ");
    console.log(`per second from a long queue, while bookings are stored, plain: ${rates}`);
  }
  return {
    fromQueue: pickMiddle(fromQueue),
    whileBooking: pickMiddle(whileBooking),
    ceiling: pickMiddle(ceiling),
    residentMb: Math.max(...[...fromQueue, ...whileBooking].map((each) => each.residentMb)),
  };
}

/** How fast a queue is drained, or kept short while bookings arrive as fast as they can be stored. */
async function measureSustained(
  { service, receiver, deps }: Bench,
  options: { queuedEach: number; bookers: number },
): Promise<Throughput> {
  const { port } = receiver;
  const businesses = await makeBusinesses(deps, { port, count: BUSINESSES, endpoints: ENDPOINTS_EACH });
  if (options.queuedEach > 0) await fillQueue(deps, businesses, options.queuedEach);
  await Promise.all(businesses.map(({ owner }) => wakeWorkers(deps, owner)));
  const load = { booked: 0, arrived: 0, isOver: false };
  const booking = Array.from({ length: options.bookers }, async () => {
    while (!load.isOver) {
      if (load.booked * ENDPOINTS_EACH - load.arrived > BACKLOG_MAX) await sleep(2);
      else await book(deps, businesses[load.booked++ % businesses.length] as Business);
    }
  });
  const counting = (async () => {
    while (!load.isOver) {
      load.arrived += (await receiver.take()).length;
      await sleep(20);
    }
  })();
  const readUsage = () => ({
    at: performance.now(),
    arrived: load.arrived,
    node: readOwnCpuMs(service.pid) ?? 0,
    postgres: service.postmasterPid === null ? 0 : (readCpuMs(service.postmasterPid) ?? 0),
  });
  await sleep(WARM_UP_MS);
  const start = readUsage();
  await sleep(MEASURE_MS);
  const end = readUsage();
  const residentMb = readResidentMb(service.pid) ?? 0;
  const left = await countQueued(deps);
  load.isOver = true;
  await Promise.all([...booking, counting]);
  if (options.queuedEach > 0 && left === 0) throw new Error("The queue ran dry: raise QUEUED_EACH.");
  await waitUntilSent(deps);
  await receiver.take();
  const deliveries = end.arrived - start.arrived;
  const each = (name: "node" | "postgres") => `${name} ${((end[name] - start[name]) / deliveries).toFixed(2)} ms`;
  return {
    rate: (deliveries / (end.at - start.at)) * 1000,
    cpu: `processor time each: ${each("node")}, ${each("postgres")}`,
    residentMb,
  };
}

/** The process that stores the bookings is the one that sends them. */
async function measureOverHttp(bench: Bench): Promise<Omit<FirstBytes, "residentMb">> {
  const { deps, receiver, service } = bench;
  const businesses = await makeBusinesses(deps, { port: receiver.port, count: BUSINESSES, endpoints: 1 });
  const slots: FreeSlot[][] = [];
  for (const { widgetId } of businesses) slots.push(await listSlots(service.port, widgetId, SLOT_DAYS));
  const bookNext = async (n: number) => {
    const { widgetId } = businesses[n % businesses.length] as Business;
    const slot = slots[n % businesses.length]?.shift();
    if (!slot) throw new Error("No available times are left: lower HTTP_MEASURE_MS.");
    return await bookOverHttp(service.port, widgetId, slot);
  };
  const rounds: Rounds = { latencies: [], missing: 0 };
  const pace = { book: bookNext, perSecond: HTTP_BOOKINGS_PER_SECOND };
  await measureRound(bench, { ...pace, lengthMs: WARM_UP_MS });
  await measureRound(bench, { ...pace, lengthMs: HTTP_MEASURE_MS }, rounds);
  return summarize(rounds);
}

type Rounds = { latencies: number[]; missing: number };
type FirstBytes = { p50Ms: number; p99Ms: number; missing: number; residentMb: number };

async function measureFirstBytes(bench: Bench): Promise<{ alone: FirstBytes; besideHung: FirstBytes }> {
  const { port } = bench.receiver;
  const businesses = await makeBusinesses(bench.deps, { port, count: BUSINESSES, endpoints: 1 });
  const hung = await makeBusiness(bench.deps, [`http://127.0.0.1:${port}/hang`]);
  const alone: Rounds = { latencies: [], missing: 0 };
  const besideHung: Rounds = { latencies: [], missing: 0 };
  for (let n = 0; n < FIRST_BYTE_ROUNDS; n++) {
    await switchEndpoints(bench.deps, hung, "disabled");
    await measureSettled(bench, businesses, alone);
    await switchEndpoints(bench.deps, hung, "enabled");
    await fillQueue(bench.deps, [hung], HUNG_WAITING);
    await measureSettled(bench, businesses, besideHung);
    const soFar = [summarize(alone), summarize(besideHung)].map(({ p99Ms }) => round(p99Ms)).join(" and ");
    console.log(`first byte p99 so far, alone and beside a hung endpoint: ${soFar} ms`);
  }
  const residentMb = readResidentMb(bench.service.pid) ?? 0;
  return { alone: { ...summarize(alone), residentMb }, besideHung: { ...summarize(besideHung), residentMb } };
}

/** Lets PostgreSQL settle after the queue was filled and emptied at once, which is not what is measured. */
async function measureSettled(bench: Bench, businesses: readonly Business[], rounds: Rounds): Promise<void> {
  const { longRunningDb } = bench.deps;
  await sql`vacuum analyze webhook_events, deliveries, delivery_queue, delivery_attempts`.execute(longRunningDb);
  const bookNext = async (n: number) => await book(bench.deps, businesses[n % businesses.length] as Business);
  const pace = { book: bookNext, perSecond: BOOKINGS_PER_SECOND };
  await measureRound(bench, { ...pace, lengthMs: WARM_UP_MS });
  await measureRound(bench, { ...pace, lengthMs: FIRST_BYTE_ROUND_MS }, rounds);
}

type Pace = { book(n: number): Promise<{ reference: string; committedAt: number }>; perSecond: number };

/** Stores bookings at a steady pace, whatever happens to them, and adds the measurements to those of earlier rounds. */
async function measureRound(
  { receiver }: Bench,
  { book, perSecond, lengthMs }: Pace & { lengthMs: number },
  rounds: Rounds = { latencies: [], missing: 0 },
): Promise<void> {
  const committed = new Map<string, number>();
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  const total = Math.round((lengthMs / 1000) * perSecond);
  for (let n = 0; n < total; n++) {
    const waitMs = startedAt + (n * 1000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    pending.push(book(n).then(({ reference, committedAt }) => void committed.set(reference, committedAt)));
  }
  await Promise.all(pending);
  const arrivals = new Map<string, number>();
  for (let waitedMs = 0; arrivals.size < total && waitedMs < ARRIVAL_LIMIT_MS; waitedMs += 50) {
    for (const [reference, atMs] of await receiver.take()) if (committed.has(reference)) arrivals.set(reference, atMs);
    if (arrivals.size < total) await sleep(50);
  }
  // The request can arrive before this process has heard of the commit.
  for (const [reference, atMs] of arrivals) rounds.latencies.push(Math.max(0, atMs - (committed.get(reference) ?? 0)));
  rounds.missing += total - arrivals.size;
}

function summarize({ latencies, missing }: Rounds): Pick<FirstBytes, "p50Ms" | "p99Ms" | "missing"> {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), missing };
}
