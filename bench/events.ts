import { join } from "node:path";
import { type Bar, judgeMemory } from "./support/bars.ts";
import { startServer } from "./support/child.ts";
import { type LoadResult, runLoad, toRequest, UUID } from "./support/load.ts";
import { readCpuMs, readOwnCpuMs, readResidentMb } from "./support/process-usage.ts";
import { type Service, startService } from "./support/service.ts";
import { printTable, round } from "./support/table.ts";

// Funnel events over HTTP, one per request, each from a new visit, answered after commit. The baseline is a bare Fastify route
// that validates the same body, in the same run.

const LEVELS = [
  { connections: 1, bar: null },
  { connections: 64, bar: 0.25 },
  { connections: 256, bar: 0.4 },
] as const;
const WIDGETS = 5;
const CAMPAIGNS = 10;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 8_000;

const USER_AGENT =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";

type Row = Record<string, string | number>;
/** Shares of one CPU. */
type Measured = LoadResult & { nodeShare: number; postgresShare: number; residentMb: number };

export async function run(): Promise<Bar[]> {
  // The limit per address stays on, high enough for all the load to come from one address.
  const service = await startService({ RATE_LIMIT_EVENTS_PER_MINUTE: "10000000" });
  const bare = await startServer({
    file: join(import.meta.dirname, "support/bare-collect-route.ts"),
    readyPath: "/readyz",
  });
  try {
    const requests = toRequests(await makeWidgets(service));
    const rows: Row[] = [];
    const bars: Bar[] = [];
    let residentMb = 0;
    for (const { connections, bar } of LEVELS) {
      const plan = { connections, requests, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS };
      const bareResult = await measure({ ...plan, port: bare.port }, { pid: bare.pid, postmasterPid: null });
      const result = await measure({ ...plan, port: service.port }, service);
      if (Object.keys(result.statuses).join() !== "204")
        throw new Error(`The answers were ${JSON.stringify(result.statuses)}`);
      const ratio = result.rate / bareResult.rate;
      rows.push(
        { connections, what: "bare route", ...toCells(bareResult), ratio: "" },
        { connections, what: "events", ...toCells(result), ratio: ratio.toFixed(2) },
      );
      residentMb = Math.max(residentMb, result.residentMb);
      if (bar !== null)
        bars.push({
          what: `events a second against the bare route, ${connections} connections`,
          measured: `${ratio.toFixed(2)} ×`,
          bar: `≥ ${bar.toFixed(2)} ×`,
          isReached: ratio >= bar,
        });
    }
    printTable(rows);
    return [...bars, judgeMemory(residentMb)];
  } finally {
    await bare.stop();
    await service.stop();
  }
}

async function makeWidgets(service: Service): Promise<string[]> {
  const { id } = await service.command("org", "create", "--name", "Bench", "--time-zone", "Europe/Berlin");
  const widgets: string[] = [];
  for (let n = 1; n <= WIDGETS; n++) {
    const widget = await service.command("widget", "create", "--org", String(id), "--name", `Widget ${n}`);
    widgets.push(String(widget["id"]));
  }
  return widgets;
}

function toRequests(widgets: readonly string[]): string[] {
  return widgets.flatMap((widget) =>
    Array.from({ length: CAMPAIGNS }, (_, n) => {
      const page = `https://www.lindenhof-dental.example/booking?utm_source=google&utm_campaign=autumn-${n}`;
      const attribution = {
        landingPage: page,
        currentPage: page,
        referrer: "https://www.google.com/",
        utmSource: "google",
        utmMedium: "cpc",
        utmCampaign: `autumn-${n}`,
        touches: 1,
      };
      return toRequest({
        method: "POST",
        path: `/embed-api/${widget}/events`,
        headers: { "content-type": "application/json", "user-agent": USER_AGENT },
        body: JSON.stringify({ visitId: UUID, page, attribution, events: [{ step: "widget_viewed" }] }),
      });
    }),
  );
}

async function measure(
  plan: Parameters<typeof runLoad>[0],
  server: { pid: number; postmasterPid: number | null },
): Promise<Measured> {
  const readUsage = () => ({
    at: performance.now(),
    node: readOwnCpuMs(server.pid) ?? 0,
    postgres: server.postmasterPid === null ? 0 : (readCpuMs(server.postmasterPid) ?? 0),
  });
  let start = readUsage();
  let end = start;
  let residentMb = 0;
  const result = await runLoad(plan, (moment) => {
    if (moment === "start") {
      start = readUsage();
      return;
    }
    end = readUsage();
    residentMb = readResidentMb(server.pid) ?? 0;
  });
  const elapsedMs = end.at - start.at;
  return {
    ...result,
    nodeShare: (end.node - start.node) / elapsedMs,
    postgresShare: (end.postgres - start.postgres) / elapsedMs,
    residentMb,
  };
}

function toCells(measured: Measured): Record<string, string> {
  return {
    "per second": round(measured.rate),
    "p50 ms": round(measured.p50Ms),
    "p99 ms": round(measured.p99Ms),
    "node cpu": toCpu(measured.nodeShare, measured.rate),
    "postgres cpu": toCpu(measured.postgresShare, measured.rate),
    "node mb": String(Math.round(measured.residentMb)),
  };
}

function toCpu(share: number, rate: number): string {
  return share === 0 ? "" : `${Math.round(share * 100)}% = ${Math.round((share * 1e6) / rate)} µs each`;
}
