import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { offerHelp } from "../src/server/lib/offer-help.ts";
import { checkWorld, untilRecovered } from "./check.ts";
import { runClusterFaults } from "./cluster.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { Load, type TimedResponse } from "./load.ts";
import { SeededRandom } from "./random.ts";
import { openWorld, type World } from "./world.ts";

// `npm run faults -- --rounds N --seed S [--only "part of a fault's name"]`: each round causes one fault in real processes
// under load. Afterwards nothing acknowledged may be missing or counted twice. The exit code is 1 if anything was wrong.
// `--cluster DIR` causes the faults of a Citus cluster instead (cluster.ts).

offerHelp(`npm run faults -- [--rounds N] [--seed S] [--only TEXT] [--cluster DIR] [--logs DIR]

Breaks real processes under load, and checks that nothing acknowledged is lost or counted twice.

  --rounds N       default 20
  --seed S         the order of the faults; default 1
  --only TEXT      faults with this in their name
  --cluster DIR    the faults of a Citus cluster, whose programs are in this folder
  --logs DIR       where the processes' logs go`);

const LOAD_BEFORE_MS = 700;
/** The database counts as silent after 3 s; the rest is for a busy machine. */
const RESPONSE_LIMIT_MS = 6_000;
const MEMORY_GROWTH_MAX_MB = 120;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    cluster: { type: "string" },
    logs: { type: "string", default: join(import.meta.dirname, "../node_modules/.cache/faults") },
  },
});
if (values.cluster !== undefined)
  process.exit((await runClusterFaults({ bin: values.cluster, logs: values.logs, only: values.only })) > 0 ? 1 : 0);
const rounds = Number(values.rounds);
const random = new SeededRandom(Number(values.seed));
const faults = FAULTS.filter(({ name }) => name.includes(values.only));

type Tally = {
  rounds: number;
  recoveredMs: number[];
  deliveredMs: number[];
  slowResponses: TimedResponse[];
  wrong: string[];
};
const newTally = (): Tally => ({ rounds: 0, recoveredMs: [], deliveredMs: [], slowResponses: [], wrong: [] });
const tallies = new Map<string, Tally>();
let isStopping = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    isStopping = true;
  });

const world = await openWorld(values.logs);
const load = new Load(world);
try {
  const memoryBefore = await warmUp();
  for (let round = 1; round <= rounds && !isStopping; round++) await playRound(round);
  printTable(memoryBefore);
} finally {
  await load.rest();
  await load.close();
  await world.close();
}
process.exit(wrongCount() > 0 ? 1 : 0);

async function warmUp(): Promise<number> {
  load.start();
  await sleep(5_000);
  await load.rest();
  await checkWorld(world, load);
  return readMemoryMb(world);
}

async function playRound(round: number): Promise<void> {
  const fault = random.pick(faults);
  const tally = tallies.get(fault.name) ?? newTally();
  tallies.set(fault.name, tally);
  tally.rounds++;
  load.start();
  await sleep(LOAD_BEFORE_MS);
  let happened = "";
  let recoveredMs = Number.NaN;
  const wrong: string[] = [];
  try {
    happened = await fault.happen(world, random);
    recoveredMs = await untilRecovered(world);
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
  }
  if (!(await load.rest())) wrong.push("requests are not answered any more");
  const { faults: found, deliveredMs } = await checkWorld(world, load);
  const slowResponses = load.slowResponses.splice(0);
  wrong.push(...found, ...judgeResponses(slowResponses, fault));
  tally.slowResponses.push(...slowResponses);
  tally.recoveredMs.push(recoveredMs);
  tally.deliveredMs.push(deliveredMs);
  tally.wrong.push(...wrong.map((what) => `round ${round}: ${what}`));
  const slowest = findSlowest(slowResponses);
  const verdict = wrong.length === 0 ? "ok" : `WRONG: ${wrong.join("; ")}`;
  console.log(
    `${round}/${rounds} ${fault.name} (${happened}): ready after ${Math.round(recoveredMs)} ms, delivered after ${Math.round(deliveredMs)} ms, slowest response ${slowest === null ? "below 1 s" : describeResponse(slowest)}, ${verdict}`,
  );
}

function readMemoryMb({ webs, workers }: World): number {
  return Math.max(...[...webs, ...workers].map((service) => service.readMemoryMb()));
}

function wrongCount(): number {
  return [...tallies.values()].reduce((sum, { wrong }) => sum + wrong.length, 0);
}

function toSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function printTable(memoryBeforeMb: number): void {
  console.log(
    "\n| fault | rounds | survived | ready again, slowest | delivered, slowest | slowest response |\n|---|---|---|---|---|---|",
  );
  for (const [name, { rounds: count, recoveredMs, deliveredMs, slowResponses, wrong }] of [...tallies].sort()) {
    const failed = new Set(wrong.map((what) => what.split(":")[0])).size;
    const slowest = (times: readonly number[]) => toSeconds(Math.max(...times));
    const response = findSlowest(slowResponses);
    console.log(
      `| ${name} | ${count} | ${count - failed} | ${slowest(recoveredMs)} | ${slowest(deliveredMs)} | ${response === null ? "below 1 s" : `${toSeconds(response.tookMs)}, ${response.route}`} |`,
    );
  }
  const { events, bookings, refusedBookings, reads, unavailable } = load.counts;
  console.log(
    `\n${events} events and ${bookings} bookings acknowledged, ${refusedBookings} bookings refused, ${reads} reads, ${unavailable} 503 responses.`,
  );
  const memoryMb = readMemoryMb(world);
  console.log(`Largest process: ${Math.round(memoryBeforeMb)} MB at first, ${Math.round(memoryMb)} MB at the end.`);
  if (memoryMb - memoryBeforeMb > MEMORY_GROWTH_MAX_MB)
    tallies.set("memory", { ...newTally(), wrong: [`memory: grew to ${memoryMb} MB`] });
  for (const { wrong } of tallies.values()) for (const what of wrong) console.log(what);
}

function findSlowest(responses: readonly TimedResponse[]): TimedResponse | null {
  return responses.toSorted((a, b) => b.tookMs - a.tookMs)[0] ?? null;
}

/**
 * One sentence for each response that took too long: a visitor gets one within seconds, even if it is only a 503. Time that the fault itself
 * takes, such as a suspended process, and the machine's own load don't count.
 */
function judgeResponses(responses: readonly TimedResponse[], fault: Pick<Fault, "excuseMs">): string[] {
  return responses
    .filter((response) => response.tookMs - response.lagMs > RESPONSE_LIMIT_MS + (fault.excuseMs?.(response) ?? 0))
    .map((response) => `too slow: ${describeResponse(response)}`);
}

function describeResponse({ route, isExternal, status, tookMs, lagMs }: TimedResponse): string {
  const outcome = status === 0 ? "no response" : String(status);
  return `${route}${isExternal ? " (external)" : ""} ${outcome} after ${(tookMs / 1000).toFixed(1)} s (machine late by ${(lagMs / 1000).toFixed(1)} s)`;
}
