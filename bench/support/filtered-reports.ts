import { readReport } from "../../src/server/analytics/app-report.ts";
import type { Db } from "../../src/server/db/pool.ts";
import { systemClock } from "../../src/server/lib/clock.ts";
import type { Bar } from "./bars.ts";
import { makeEventRequests } from "./event-requests.ts";
import type { History } from "./funnel-history.ts";
import { runLoad } from "./load.ts";
import type { Service } from "./service.ts";
import { round } from "./table.ts";

// The dashboard's whole report with filters, comparison included, as the analytics screen asks for it.

const WINDOWS = [
  { days: 30, barMs: 60, runs: 60 },
  { days: 730, barMs: 700, runs: 12 },
] as const;

/** From few visits that match to nearly all. */
const FILTERS: readonly Readonly<Record<string, string>>[] = [
  { channel: "Channel 3" },
  { device: "mobile" },
  { notDevice: "tablet" },
  { notChannel: "Channel 3" },
  { country: "DE", notDevice: "mobile" },
  { page: "https://www.lindenhof.example/page-7", device: "desktop" },
];

const COLLECTING_BAR = 0.8;
const COLLECT_CONNECTIONS = 64;

export async function judgeFilteredReports(db: Db, history: History): Promise<Bar[]> {
  const bars: Bar[] = [];
  for (const { days, barMs, runs } of WINDOWS) {
    const times: number[] = [];
    for (let n = 0; n < runs; n++)
      for (const filter of FILTERS) {
        const startedAt = performance.now();
        await ask(db, history, { ...filter, days: String(days) });
        // The first round fills PostgreSQL's memory.
        if (n > 0) times.push(performance.now() - startedAt);
      }
    const p99 = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
    bars.push({
      what: `${days} days, any filter, p99`,
      measured: `${round(p99)} ms`,
      bar: `≤ ${barMs} ms`,
      isReached: p99 <= barMs,
    });
  }
  return bars;
}

/** Events per second while one report over two years runs after the other, against events alone. */
export async function judgeCollecting(service: Service, db: Db, history: History): Promise<Bar> {
  const requests = await makeEventRequests(service);
  const plan = { port: service.port, connections: COLLECT_CONNECTIONS, requests, warmUpMs: 2_000, measureMs: 8_000 };
  const alone = await runLoad(plan, () => undefined);
  let isOver = false;
  const asking = (async () => {
    while (!isOver) await ask(db, history, { device: "mobile", days: "730" });
  })();
  const beside = await runLoad(plan, () => undefined);
  isOver = true;
  await asking;
  const ratio = beside.rate / alone.rate;
  return {
    what: "events per second beside reports with a filter over 730 days, against alone",
    measured: `${ratio.toFixed(2)} ×`,
    bar: `≥ ${COLLECTING_BAR} ×`,
    isReached: ratio >= COLLECTING_BAR,
  };
}

async function ask(db: Db, { owner }: History, query: Readonly<Record<string, string>>): Promise<void> {
  await readReport({ db, clock: systemClock }, { organizationId: owner, plan: "business" }, query);
}
