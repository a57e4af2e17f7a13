import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { type Bar, judgeMemory, printTable, round } from "./support/bars.ts";
import { makeEventRequests } from "./support/event-requests.ts";
import { makeHistory } from "./support/funnel-history.ts";
import type { LoadPlan } from "./support/load.ts";
import { type MeasuredLoad, measureLoad, pickMiddle, requireStatus, toLoadCells } from "./support/measured-load.ts";
import { type Service, startService } from "./support/service.ts";

// Collecting funnel events while an operator's command or a change of time zone works on another organization, in turn with
// collecting alone. Also shows how fast events are imported without other load.

const BESIDE_BAR = 0.7;
const IMPORT_BAR = 25_000;

const CONNECTIONS = 64;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 5_000;
const REPETITIONS = 3;
/** The commands must last longer than a measurement. */
const HISTORY_EVENTS = 1_000_000;
/** The history of an organization that loses nearly all of it; each repetition has its own. */
const EXPIRED_EVENTS = 300_000;
const ZONES = ["Asia/Tokyo", "America/Lima", "Asia/Kathmandu"];
const IMPORTED_EVENTS = 300_000;
const STEPS = ["widget_viewed", "service_selected", "date_selected"];

export async function run(): Promise<Bar[]> {
  const service = await startService({ RATE_LIMIT_EVENTS_PER_MINUTE: "10000000" });
  try {
    const requests = await makeEventRequests(service);
    // Retention begins with the oldest organizations, and these have visits to delete.
    const expired: OrganizationId[] = [];
    for (let n = 0; n < REPETITIONS; n++) expired.push((await makeHistory(service, EXPIRED_EVENTS)).owner);
    const { owner, widgetId, key } = await makeHistory(service, HISTORY_EVENTS);
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
    console.log(`${round(importRate)} imported events per second`);

    const works: readonly Work[] = [
      { what: "a rebuild", start: () => service.command("stats", "rebuild", "--org", owner) },
      { what: "an import", start: (n) => service.command("import", "events", "--org", owner, files[n] as string) },
      { what: "a retention run", start: (n) => expire(service, expired[n] as OrganizationId) },
      {
        what: "a change of time zone and its reports",
        start: (n, isMeasured) => changeZone(service, { owner, key, zone: ZONES[n] as string, isMeasured }),
      },
    ];
    const alone: MeasuredLoad[] = [];
    const beside = works.map((): MeasuredLoad[] => []);
    for (let n = 0; n < REPETITIONS; n++) {
      alone.push(await measureLoad(plan, service));
      printMeasured("alone", alone);
      for (const [i, work] of works.entries()) {
        beside[i]?.push(await measureBeside(plan, service, work, n));
        printMeasured(`beside ${work.what}`, beside[i]);
      }
    }
    const results = [...alone, ...beside.flat()];
    for (const result of results) requireStatus(result, 204);
    const floor = pickMiddle(alone);
    const rows = [
      { what: "events alone", ...floor },
      ...works.map(({ what }, i) => ({ what: `events beside ${what}`, ...pickMiddle(beside[i] ?? []) })),
    ].map(({ what, middle, spread }) => ({ what, ratio: middle.rate / floor.middle.rate, middle, spread }));
    printTable(
      rows.map(({ what, ratio, middle, spread }) => ({
        ...{ connections: CONNECTIONS, what, ...toLoadCells(middle) },
        ...{ spread, ratio: ratio.toFixed(2) },
      })),
    );
    const besideBars = rows.slice(1).map(({ what, ratio }) => toBesideBar(what, ratio));
    const residentMb = Math.max(...results.map((result) => result.residentMb));
    return [...besideBars, toImportBar(importRate), judgeMemory(residentMb)];
  } finally {
    await service.stop();
  }
}

function toBesideBar(what: string, ratio: number): Bar {
  return {
    what: `${what}, against alone`,
    measured: `${ratio.toFixed(2)} ×`,
    bar: `≥ ${BESIDE_BAR.toFixed(2)} ×`,
    isReached: ratio >= BESIDE_BAR,
  };
}

function toImportBar(importRate: number): Bar {
  return {
    what: "imported events per second",
    measured: round(importRate),
    bar: `≥ ${IMPORT_BAR.toLocaleString("en")}`,
    isReached: importRate >= IMPORT_BAR,
  };
}

/** `isMeasured` says whether the measurement is over: work without an end of its own ends then. */
type Work = { what: string; start: (repetition: number, isMeasured: () => boolean) => Promise<unknown> };

/** Says so if the work was over before the measurement. */
async function measureBeside(
  plan: LoadPlan,
  service: Service,
  { what, start }: Work,
  repetition: number,
): Promise<MeasuredLoad> {
  let isOver = false;
  let isMeasured = false;
  const ending = start(repetition, () => isMeasured).then(() => {
    isOver = true;
  });
  const measured = await measureLoad(plan, service);
  isMeasured = true;
  if (isOver) console.log(`The measurement beside ${what} lasted longer than the work.`);
  await ending;
  return measured;
}

/** Each result at once: a whole run takes many minutes, and a stopped one should have told something. */
function printMeasured(what: string, measured: readonly MeasuredLoad[] = []): void {
  console.log(`${round(measured.at(-1)?.rate ?? 0)} events per second ${what}`);
}

/** On the Free plan, all but the last 30 days expire. */
async function expire(service: Service, owner: OrganizationId): Promise<void> {
  await service.command("org", "set", owner, "--plan", "free");
  await service.command("retention", "run");
}

/** One report over two years after the other in the new zone, during the measurement. */
async function changeZone(
  service: Service,
  { owner, key, zone, isMeasured }: { owner: OrganizationId; key: string; zone: string; isMeasured: () => boolean },
): Promise<void> {
  await service.command("org", "set", owner, "--time-zone", zone);
  const address = `http://127.0.0.1:${service.port}/api/v1/analytics?days=730`;
  while (!isMeasured()) await (await fetch(address, { headers: { authorization: `Bearer ${key}` } })).text();
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
