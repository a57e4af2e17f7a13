import { join } from "node:path";
import { type Bar, judgeMemory, printTable } from "./support/bars.ts";
import { startServer } from "./support/child.ts";
import { makeEventRequests } from "./support/event-requests.ts";
import { type MeasuredLoad, measureLoad, pickMiddle, requireStatus, toLoadCells } from "./support/measured-load.ts";
import { startService } from "./support/service.ts";

// Funnel events over HTTP, one per request, each from a new visit, answered after commit. The baseline is a bare Fastify route
// that validates the same body, in the same run.

const LEVELS = [
  { connections: 1, bar: null },
  { connections: 64, bar: 0.25 },
  { connections: 256, bar: 0.4 },
] as const;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 5_000;
/** In turn with the bare route, because a single measurement varies by a fifth. */
const REPETITIONS = 3;

export async function run(): Promise<Bar[]> {
  // The limit per address stays on, high enough for all the load to come from one address.
  const service = await startService({ RATE_LIMIT_EVENTS_PER_MINUTE: "10000000" });
  const bare = await startServer({
    file: join(import.meta.dirname, "support/bare-collect-route.ts"),
    readyPath: "/readyz",
  });
  try {
    const requests = await makeEventRequests(service);
    const rows: Record<string, string | number>[] = [];
    const bars: Bar[] = [];
    let residentMb = 0;
    for (const { connections, bar } of LEVELS) {
      const plan = { connections, requests, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS };
      const bareResults: MeasuredLoad[] = [];
      const results: MeasuredLoad[] = [];
      for (let n = 0; n < REPETITIONS; n++) {
        bareResults.push(await measureLoad({ ...plan, port: bare.port }, { pid: bare.pid, postmasterPid: null }));
        results.push(await measureLoad({ ...plan, port: service.port }, service));
      }
      for (const result of results) requireStatus(result, 204);
      const floor = pickMiddle(bareResults);
      const { middle, spread } = pickMiddle(results);
      const ratio = middle.rate / floor.middle.rate;
      rows.push(
        { connections, what: "bare route", ...toLoadCells(floor.middle), spread: floor.spread, ratio: "" },
        { connections, what: "events", ...toLoadCells(middle), spread, ratio: ratio.toFixed(2) },
      );
      residentMb = Math.max(residentMb, ...results.map((result) => result.residentMb));
      if (bar !== null)
        bars.push({
          what: `events per second against the bare route, ${connections} connections`,
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
