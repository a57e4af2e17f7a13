import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { openEmbeddedDatabase } from "../src/server/db/embedded/open.ts";
import { openPatientDb, openPool } from "../src/server/db/pool.ts";
import { createLog } from "../src/server/lib/log.ts";
import type { Bar } from "./support/bars.ts";
import { makeEventRequests } from "./support/event-requests.ts";
import { makeHistory } from "./support/funnel-history.ts";
import { type MeasuredLoad, measureLoad, pickMiddle, requireStatus, toLoadCells } from "./support/measured-load.ts";
import { type Service, startService } from "./support/service.ts";
import { printTable, round } from "./support/table.ts";

// Collecting funnel events while an operator's command works on another organization, in turn with collecting alone. Also shows
// how fast events are imported without other load.

const BESIDE_BAR = 0.7;
const IMPORT_BAR = 25_000;

const CONNECTIONS = 64;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 5_000;
const REPETITIONS = 3;
/** The commands must last longer than a measurement. */
const HISTORY_EVENTS = 1_000_000;
const IMPORTED_EVENTS = 300_000;
const STEPS = ["widget_viewed", "service_selected", "date_selected"];

export async function run(): Promise<Bar[]> {
  const service = await startService({ RATE_LIMIT_EVENTS_PER_MINUTE: "10000000" });
  try {
    const requests = await makeEventRequests(service);
    const { owner, widgetId } = await loadHistory(service);
    const plan = {
      port: service.port,
      connections: CONNECTIONS,
      requests,
      warmUpMs: WARM_UP_MS,
      measureMs: MEASURE_MS,
    };
    const files = Array.from({ length: REPETITIONS + 1 }, (_, n) => writeImport(service, { widgetId, n }));
    const startedAt = performance.now();
    await service.command("import", "events", "--org", owner, files.pop() as string);
    const importRate = (IMPORTED_EVENTS / (performance.now() - startedAt)) * 1000;

    const alone: MeasuredLoad[] = [];
    const besideRebuild: MeasuredLoad[] = [];
    const besideImport: MeasuredLoad[] = [];
    for (const file of files) {
      alone.push(await measureLoad(plan, service));
      const rebuilding = service.command("stats", "rebuild", "--org", owner);
      besideRebuild.push(await measureLoad(plan, service));
      await rebuilding;
      const importing = service.command("import", "events", "--org", owner, file);
      besideImport.push(await measureLoad(plan, service));
      await importing;
    }
    for (const result of [...alone, ...besideRebuild, ...besideImport]) requireStatus(result, 204);
    const floor = pickMiddle(alone);
    const rows = [
      { what: "events alone", ...floor },
      { what: "events beside a rebuild", ...pickMiddle(besideRebuild) },
      { what: "events beside an import", ...pickMiddle(besideImport) },
    ].map(({ what, middle, spread }) => ({ what, ratio: middle.rate / floor.middle.rate, middle, spread }));
    printTable(
      rows.map(({ what, ratio, middle, spread }) => ({
        ...{ connections: CONNECTIONS, what, ...toLoadCells(middle) },
        ...{ spread, ratio: ratio.toFixed(2) },
      })),
    );
    return [
      ...rows.slice(1).map(({ what, ratio }) => ({
        what: `${what}, against alone`,
        measured: `${ratio.toFixed(2)} ×`,
        bar: `≥ ${BESIDE_BAR.toFixed(2)} ×`,
        isReached: ratio >= BESIDE_BAR,
      })),
      {
        what: "imported events per second",
        measured: round(importRate),
        bar: `≥ ${IMPORT_BAR.toLocaleString("en")}`,
        isReached: importRate >= IMPORT_BAR,
      },
    ];
  } finally {
    await service.stop();
  }
}

async function loadHistory(service: Service): Promise<{ owner: OrganizationId; widgetId: WidgetId }> {
  const database = await openEmbeddedDatabase({ dataDir: service.dataDir, notice: () => undefined });
  const pool = openPool({ url: database.url, size: 3, log: createLog("silent") });
  try {
    return await makeHistory(openPatientDb(pool), pool, HISTORY_EVENTS);
  } finally {
    await pool.end();
    await database.release();
  }
}

/** Three events per visit, in the order of time, over the last year. */
function writeImport(service: Service, { widgetId, n }: { widgetId: WidgetId; n: number }): string {
  const file = join(service.dataDir, `import-${n}.ndjson`);
  const startMs = Date.now() - 365 * DAY_MS;
  const lines = Array.from({ length: IMPORTED_EVENTS }, (_, index) => {
    const visit = Math.floor(index / STEPS.length);
    const at = new Date(
      startMs + (visit * 364 * DAY_MS) / (IMPORTED_EVENTS / STEPS.length) + (index % STEPS.length) * 1000,
    );
    const visitId = `${String(n).padStart(8, "0")}-0000-4000-8000-${String(visit).padStart(12, "0")}`;
    return JSON.stringify({ widgetId, visitId, step: STEPS[index % STEPS.length], at: at.toISOString() });
  });
  writeFileSync(file, lines.join("\n"));
  return file;
}
