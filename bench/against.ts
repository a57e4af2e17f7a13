import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WidgetId } from "#contract/ids.ts";
import { type Bar, printTable, round } from "./support/bars.ts";
import { makeEventRequests } from "./support/event-requests.ts";
import { type Ask, FILTERS, signInToReports, toQuantile } from "./support/filtered-reports.ts";
import { HISTORY_DAYS, type History, makeHistory } from "./support/funnel-history.ts";
import { toRequest } from "./support/load.ts";
import { type MeasuredLoad, measureLoad, requireStatus } from "./support/measured-load.ts";
import { readCpuMs, readOwnCpuMs, readResidentMb } from "./support/process-usage.ts";
import { type Service, startService } from "./support/service.ts";

// Events and reports of this checkout and of another one (`--dir DIR`, with its node_modules), measured in turn, so that both have
// the same machine. Prints medians and their ratio; a commit that is meant to be faster says what the ratio must be.

const LEVELS = [1, 64, 256];
const EVENT_ROUNDS = 5;
/** AGAINST_SCALE measures with fewer events, on a machine that has other work. */
const SCALE = Number(process.env["AGAINST_SCALE"] ?? 1);
const SMALL_EVENTS = 500_000 * SCALE;
const LARGE_EVENTS = 5_000_000 * SCALE;
const FILTERED_EVENTS = 3_000_000 * SCALE;
const WINDOWS = [30, 730];
const REPORT_ROUNDS = 5;
const FILTER_ROUNDS = { 30: 31, 730: 11 } as Readonly<Record<number, number>>;
/** Visits of the last 24 hours. */
const TODAY = [1_000, 100_000];
const TODAY_ASKED = 40;
/** While reports are read. */
const STEADY_EVENTS_PER_SECOND = 100;
/** Events of a busy hour, against those of an average one. */
const BUSY_HOUR = 10;
const BESIDE_ROUNDS = 3;

type Pair<Value> = { before: Value; now: Value };
const SIDES = ["before", "now"] as const;

export async function run({ dir }: { dir: string | null }): Promise<Bar[]> {
  if (dir === null) {
    console.log("Skipped: pass another checkout with --dir DIR.");
    return [];
  }
  const settings = { RATE_LIMIT_EVENTS_PER_MINUTE: "10000000" };
  const services = await forBoth((side) => startService(settings, side === "before" ? resolve(dir) : undefined));
  try {
    await compareEvents(services);
    const small = await forBoth((side) => makeHistory(services[side], SMALL_EVENTS));
    const large = await forBoth((side) => makeHistory(services[side], LARGE_EVENTS));
    const filtered = await forBoth((side) => makeHistory(services[side], FILTERED_EVENTS));
    for (const { before, now } of [small, filtered, large]) {
      const what = `rebuild of ${now.events.toLocaleString("en")} events`;
      printTable([
        toRow(`${what}, s`, { before: before.rebuildMs / 1_000, now: now.rebuildMs / 1_000 }),
        toRow(`${what}, processor s`, { before: before.rebuildCpuMs / 1_000, now: now.rebuildCpuMs / 1_000 }),
      ]);
    }
    await compareReports(services, { small, large });
    await compareFilters(services, filtered);
    await compareToday(services.now);
    await compareBesideRebuild(services, filtered);
    const residentMb = await forBoth(async (side) => readResidentMb(services[side].pid) ?? 0);
    printTable([toRow("resident memory of the Node process, MB", residentMb)]);
    return [];
  } finally {
    await forBoth((side) => services[side].stop());
  }
}

/** One after the other. */
async function forBoth<Value>(work: (side: (typeof SIDES)[number]) => Promise<Value>): Promise<Pair<Value>> {
  return { before: await work("before"), now: await work("now") };
}

async function compareEvents(services: Pair<Service>): Promise<void> {
  const requests = await forBoth((side) => makeEventRequests(services[side]));
  for (const connections of LEVELS) {
    const results: Pair<MeasuredLoad[]> = { before: [], now: [] };
    for (let n = 0; n < EVENT_ROUNDS; n++)
      for (const side of SIDES) {
        const plan = {
          connections,
          requests: requests[side],
          port: services[side].port,
          warmUpMs: 1_500,
          measureMs: 5_000,
        };
        const result = await measureLoad(plan, services[side]);
        requireStatus(result, 204);
        results[side].push(result);
      }
    const what = `events, ${connections} connections`;
    printTable([
      compare(results, `${what}, PostgreSQL µs each`, ({ postgresShare, rate }) => (postgresShare * 1e6) / rate),
      compare(results, `${what}, Node µs each`, ({ nodeShare, rate }) => (nodeShare * 1e6) / rate),
      compare(results, `${what}, per second`, ({ rate }) => rate),
      compare(results, `${what}, p50 ms`, ({ p50Ms }) => p50Ms),
      compare(results, `${what}, p99 ms`, ({ p99Ms }) => p99Ms),
    ]);
  }
}

/** Medians. Lines are printed at once: a whole run takes many minutes, and a stopped one should have told something. */
function compare(
  results: Pair<readonly MeasuredLoad[]>,
  what: string,
  read: (result: MeasuredLoad) => number,
): Record<string, string> {
  return toRow(what, {
    before: toQuantile(results.before.map(read), 0.5),
    now: toQuantile(results.now.map(read), 0.5),
  });
}

/** While events arrive: those of others, and those of a busy hour of each organization. */
async function compareReports(
  services: Pair<Service>,
  histories: Record<"small" | "large", Pair<History>>,
): Promise<void> {
  const senders: (() => Promise<void>)[] = [];
  for (const side of SIDES) {
    const others = await makeHistory(services[side], 1);
    senders.push(sendSteadily(services[side], others.widgetId, STEADY_EVENTS_PER_SECOND));
    for (const { widgetId, events } of [histories.small[side], histories.large[side]])
      senders.push(sendSteadily(services[side], widgetId, (BUSY_HOUR * events) / HISTORY_DAYS / 86_400));
  }
  for (const days of WINDOWS)
    for (const size of ["small", "large"] as const) {
      const results: Pair<MeasuredLoad[]> = { before: [], now: [] };
      for (let n = 0; n < REPORT_ROUNDS; n++)
        for (const side of SIDES) {
          const headers = { authorization: `Bearer ${histories[size][side].key}` };
          const requests = [toRequest({ method: "GET", path: `/api/v1/analytics?days=${days}`, headers })];
          const plan = { port: services[side].port, connections: 1, requests, warmUpMs: 500, measureMs: 3_000 };
          results[side].push(await measureLoad(plan, services[side]));
        }
      const what = `report of ${histories[size].now.events.toLocaleString("en")} events, ${days} days`;
      printTable([
        compare(results, `${what}, p50 ms`, ({ p50Ms }) => p50Ms),
        compare(results, `${what}, p99 ms`, ({ p99Ms }) => p99Ms),
        compare(results, `${what}, processor ms`, ({ nodeShare, postgresShare, rate }) => {
          return ((nodeShare + postgresShare) * 1_000) / rate;
        }),
      ]);
    }
  await Promise.all(senders.map((stop) => stop()));
}

async function compareFilters(services: Pair<Service>, histories: Pair<History>): Promise<void> {
  const asks = await forBoth((side) => signInToReports(services[side], histories[side]));
  for (const days of WINDOWS) {
    const times: Pair<number[]> = { before: [], now: [] };
    const used: Pair<number> = { before: 0, now: 0 };
    for (let n = 0; n < (FILTER_ROUNDS[days] ?? 0); n++)
      for (const filter of FILTERS)
        for (const side of SIDES) {
          const usedBefore = readUsed(services[side]);
          const ms = await time(asks[side], `${filter}&days=${days}`);
          // The first round fills PostgreSQL's memory.
          if (n === 0) continue;
          times[side].push(ms);
          used[side] += readUsed(services[side]) - usedBefore;
        }
    const what = `any filter, ${(FILTERED_EVENTS / 3).toLocaleString("en")} visits, ${days} days`;
    const each = ({ before, now }: Pair<number>) => ({
      before: before / times.before.length,
      now: now / times.now.length,
    });
    printTable([
      ...[0.5, 0.99].map((share) =>
        toRow(`${what}, p${share * 100} ms`, {
          before: toQuantile(times.before, share),
          now: toQuantile(times.now, share),
        }),
      ),
      toRow(`${what}, processor ms`, each(used)),
    ]);
  }
}

/** An organization with many visits a day against one with few, at any time of day; each gets as many events as such a day brings. */
async function compareToday(service: Service): Promise<void> {
  const made: { visits: number; ask: Ask; stop: () => Promise<void> }[] = [];
  for (const visits of TODAY) {
    const history = await makeHistory(service, 3 * visits, 1);
    const stop = sendSteadily(service, history.widgetId, visits / 86_400);
    made.push({ visits, ask: await signInToReports(service, history), stop });
  }
  for (const query of ["days=30", "days=30&device=mobile"]) {
    const times = new Map<number, number[]>(made.map(({ visits }) => [visits, []]));
    for (let n = 0; n < TODAY_ASKED; n++)
      for (const { visits, ask } of made) times.get(visits)?.push(await time(ask, query));
    const [few = 0, many = 0] = made.map(({ visits }) => toQuantile(times.get(visits) ?? [], 0.5));
    console.log(
      `${query}, p50: ${made.map(({ visits }) => `${visits.toLocaleString("en")} visits a day`).join(" and ")}: ` +
        `${round(few)} and ${round(many)} ms, ${(many / few).toFixed(2)} ×`,
    );
  }
  await Promise.all(made.map(({ stop }) => stop()));
}

async function compareBesideRebuild(services: Pair<Service>, histories: Pair<History>): Promise<void> {
  const requests = await forBoth((side) => makeEventRequests(services[side]));
  for (const side of SIDES) {
    const service = services[side];
    const plan = { connections: 64, requests: requests[side], port: service.port, warmUpMs: 1_500, measureMs: 5_000 };
    const rates: { alone: number[]; beside: number[] } = { alone: [], beside: [] };
    for (let n = 0; n < BESIDE_ROUNDS; n++) {
      rates.alone.push((await measureLoad(plan, service)).rate);
      const rebuilding = service.command("stats", "rebuild", "--org", histories[side].owner);
      rates.beside.push((await measureLoad(plan, service)).rate);
      await rebuilding;
    }
    const [alone, beside] = [toQuantile(rates.alone, 0.5), toQuantile(rates.beside, 0.5)];
    console.log(
      `${side}: events per second alone ${round(alone)}, beside a rebuild ${round(beside)}: ${(beside / alone).toFixed(2)} ×`,
    );
  }
}

/** Processor time of the process and its PostgreSQL. */
function readUsed({ pid, postmasterPid }: Service): number {
  return (readOwnCpuMs(pid) ?? 0) + (postmasterPid === null ? 0 : (readCpuMs(postmasterPid) ?? 0));
}

async function time(ask: Ask, query: string): Promise<number> {
  const startedAt = performance.now();
  await ask(query);
  return performance.now() - startedAt;
}

function toRow(what: string, { before, now }: Pair<number>): Record<string, string> {
  return { what, before: round(before), now: round(now), ratio: (now / before).toFixed(2) };
}

/** Sends views of new visits at this rate until the returned function is called. */
export function sendSteadily(service: Service, widgetId: WidgetId, perSecond: number): () => Promise<void> {
  const address = `http://127.0.0.1:${service.port}/embed-api/${widgetId}/events`;
  const send = async () => {
    const body = JSON.stringify({ visitId: randomUUID(), events: [{ step: "widget_viewed" }] });
    const headers = { "content-type": "application/json" };
    const response = await fetch(address, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`An event got ${response.status}: ${await response.text()}`);
  };
  const ending = new AbortController();
  const sending = (async () => {
    const startedAt = performance.now();
    const underWay: Promise<void>[] = [];
    for (let n = 1; !ending.signal.aborted; n++) {
      underWay.push(send());
      const waitMs = startedAt + (n * 1_000) / perSecond - performance.now();
      await sleep(Math.max(0, waitMs), undefined, { signal: ending.signal }).catch(() => {});
    }
    await Promise.all(underWay);
  })();
  return async () => {
    ending.abort();
    await sending;
  };
}
