import { type Bar, judgeMemory, printTable, round } from "./support/bars.ts";
import { judgeCollecting, judgeFilteredReports, signInToReports } from "./support/filtered-reports.ts";
import { HISTORY_DAYS, type History, KEYS_PER_DAY, makeHistory, WIDGETS } from "./support/funnel-history.ts";
import { type LoadResult, runLoad, toRequest } from "./support/load.ts";
import { readResidentMb } from "./support/process-usage.ts";
import { type Service, startService } from "./support/service.ts";

// GET /api/v1/analytics through the real service, for one organization with 0.5 million and one with 5 million funnel events
// over two years. Latency is measured with one request at a time, throughput with several at once.

const SMALL_EVENTS = 500_000;
const LARGE_EVENTS = 5_000_000;
const WINDOWS = [
  { days: 30, barMs: 10 },
  { days: 730, barMs: 40 },
] as const;
/** Three events per visit. FILTERED_VISITS measures with fewer visits, for trying things out. */
const FILTERED_EVENTS = 3 * Number(process.env["FILTERED_VISITS"] ?? 1_000_000);
const GROWTH_BAR = 1.3;
const REBUILD_BAR_SECONDS = 120;
const MANY_CONNECTIONS = 8;
const WARM_UP_MS = 1_500;
const MEASURE_MS = 6_000;

type Row = Record<string, string>;

export async function run(): Promise<Bar[]> {
  // The limit per address stays on, high enough for all the load to come from one address.
  const service = await startService({ RATE_LIMIT_EVENTS_PER_MINUTE: "10000000" });
  try {
    const small = await load(service, SMALL_EVENTS);
    const large = await load(service, LARGE_EVENTS);
    const rows: Row[] = [];
    const bars: Bar[] = [];
    for (const { days, barMs } of WINDOWS) {
      for (const isFiltered of [false, true]) {
        const before = await measure(service, small, { days, isFiltered });
        const after = await measure(service, large, { days, isFiltered });
        const growth = after.one.p50Ms / before.one.p50Ms;
        const what = `${days} days, ${isFiltered ? "one widget" : "all widgets"}`;
        rows.push({ what, events: "0.5 M", ...toCells(before) }, { what, events: "5 M", ...toCells(after) });
        bars.push({
          what: `${what}, 5 M events, p99`,
          measured: `${round(after.one.p99Ms)} ms`,
          bar: `≤ ${barMs} ms`,
          isReached: after.one.p99Ms <= barMs,
        });
        // A widget of the small organization has a tenth of the keys per day, so only all widgets together can be compared.
        if (!isFiltered)
          bars.push({
            what: `${what}, 5 M against 0.5 M events, p50`,
            measured: `${growth.toFixed(2)} ×`,
            bar: `≤ ${GROWTH_BAR} ×`,
            isReached: growth <= GROWTH_BAR,
          });
      }
    }
    const residentMb = readResidentMb(service.pid) ?? 0;
    printTable(rows);
    for (const history of [small, large])
      console.log(
        `stats rebuild of ${history.events.toLocaleString("en")} events: ${round(history.rebuildMs / 1000)} s`,
      );
    const filtered = await judgeFiltered(service);
    return [
      ...bars,
      ...filtered,
      judgeSeconds("stats rebuild of 5 M events", large.rebuildMs, REBUILD_BAR_SECONDS),
      judgeMemory(residentMb),
    ];
  } finally {
    await service.stop();
  }
}

/** The reports of an organization with a million visits. */
async function judgeFiltered(service: Service): Promise<Bar[]> {
  const ask = await signInToReports(service, await load(service, FILTERED_EVENTS));
  return [...(await judgeFilteredReports(ask)), await judgeCollecting(service, ask)];
}

async function load(service: Service, events: number): Promise<History> {
  console.log(
    `Generating ${events.toLocaleString("en")} events of ${WIDGETS} widgets over ${HISTORY_DAYS} days, ${KEYS_PER_DAY} sources and ` +
      `${KEYS_PER_DAY} campaigns a day.`,
  );
  return await makeHistory(service, events);
}

type Measured = { one: LoadResult; many: LoadResult };

async function measure(
  service: Service,
  history: History,
  options: { days: number; isFiltered: boolean },
): Promise<Measured> {
  const path = `/api/v1/analytics?days=${options.days}${options.isFiltered ? `&widget=${history.widgetId}` : ""}`;
  const requests = [toRequest({ method: "GET", path, headers: { authorization: `Bearer ${history.key}` } })];
  const runWith = async (connections: number) => {
    const plan = { port: service.port, connections, requests, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS };
    const result = await runLoad(plan, () => undefined);
    if (Object.keys(result.statuses).join() !== "200") throw new Error(`${path}: ${JSON.stringify(result.statuses)}`);
    return result;
  };
  return { one: await runWith(1), many: await runWith(MANY_CONNECTIONS) };
}

function toCells({ one, many }: Measured): Row {
  return {
    "p50 ms": round(one.p50Ms),
    "p99 ms": round(one.p99Ms),
    [`per second, ${MANY_CONNECTIONS} connections`]: round(many.rate),
  };
}

function judgeSeconds(what: string, measuredMs: number, barSeconds: number): Bar {
  const seconds = measuredMs / 1000;
  return { what, measured: `${round(seconds)} s`, bar: `≤ ${barSeconds} s`, isReached: seconds <= barSeconds };
}
