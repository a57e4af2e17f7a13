import { setTimeout as sleep } from "node:timers/promises";
import { listTakenSteps } from "../test/support/funnel/collect.ts";
import type { Load } from "./load.ts";
import { countReached, readCounts } from "./reports.ts";
import type { World } from "./world.ts";

// What must hold once the load has settled, seen from outside: from the read API, the webhook receiver and the database itself.

/** Time for a dead worker's lease, the task that finds it, and retries. */
const DELIVERY_LIMIT_MS = 90_000;
/** A booking whose transaction failed is tried again every second. */
const STORED_LIMIT_MS = 15_000;
const RECOVERY_LIMIT_MS = 20_000;
const POLL_MS = 100;

type Checked = { faults: string[]; recoveredMs: number; deliveredMs: number };

export async function untilRecovered({ webs, workers }: World): Promise<number> {
  const startedAt = performance.now();
  await Promise.all([...webs, ...workers].map((service) => service.untilReady(RECOVERY_LIMIT_MS)));
  return performance.now() - startedAt;
}

export async function checkWorld(world: World, load: Load): Promise<Omit<Checked, "recoveredMs">> {
  const faults = [...load.wrongResponses.splice(0)];
  for (const service of [...world.webs, ...world.workers]) faults.push(...service.unexpectedExits.splice(0));
  const stored = await untilEvery(load.booked, STORED_LIMIT_MS, () => listStored(world));
  faults.push(...describe("acknowledged but missing from the read API", stored.missing));
  const startedAt = performance.now();
  const delivered = await untilEvery(new Set(await listStored(world)), DELIVERY_LIMIT_MS, async () => [
    ...world.receiver.taken.keys(),
  ]);
  faults.push(...describe("stored but never delivered", delivered.missing));
  const deliveredMs = performance.now() - startedAt;
  faults.push(...(await checkEvents(world, load)), ...(await checkReports(world, load)));
  faults.push(...checkScheduler(world));
  return { faults, deliveredMs };
}

/** Polls until every one of them is there, up to the time limit. */
async function untilEvery(
  wanted: ReadonlySet<string>,
  limitMs: number,
  list: () => Promise<readonly string[]>,
): Promise<{ missing: string[] }> {
  const startedAt = performance.now();
  for (;;) {
    const missing = [...wanted.difference(new Set(await list()))];
    if (missing.length === 0 || performance.now() - startedAt > limitMs) return { missing };
    await sleep(POLL_MS);
  }
}

let known: { references: string[]; newest: string | null } = { references: [], newest: null };

/** Like a polling client, fetches only what is new since the last call. */
async function listStored({ webs, apiKey }: World): Promise<string[]> {
  for (;;) {
    const since = known.newest === null ? "" : `&since=${encodeURIComponent(known.newest)}`;
    const response = await fetch(`${webs[0]?.url}/api/v1/bookings?limit=500${since}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    if (response.status !== 200) {
      await response.arrayBuffer();
      await sleep(POLL_MS);
      continue;
    }
    const { data } = (await response.json()) as { data: { reference: string; createdAt: string }[] };
    const references = new Set([...known.references, ...data.map(({ reference }) => reference)]);
    const newest =
      [known.newest, ...data.map(({ createdAt }) => createdAt)]
        .filter((at) => at !== null)
        .sort()
        .at(-1) ?? null;
    const isNew = references.size > known.references.length;
    known = { references: [...references], newest };
    if (!isNew) return known.references;
  }
}

async function checkEvents(world: World, load: Load): Promise<string[]> {
  const widgets = new Set<string>(world.eventWidgets);
  const recorded = (await listTakenSteps(world.db))
    .filter(({ widget_id }) => widgets.has(widget_id))
    .map(({ visit_id, step }) => `${visit_id} ${step}`);
  const sent = new Set(load.visits.flatMap(({ visitId, steps }) => steps.map((step) => `${visitId} ${step}`)));
  const twice = recorded.length - new Set(recorded).size;
  return [
    ...describe("acknowledged but not recorded", [...sent.difference(new Set(recorded))]),
    ...describe("recorded but never sent", [...new Set(recorded).difference(sent)]),
    ...(twice > 0 ? [`${twice} steps recorded twice`] : []),
  ];
}

async function checkReports({ db, eventWidgets, bookingWidgets }: World, load: Load): Promise<string[]> {
  const { reached } = await readCounts(db, eventWidgets);
  const sent = countReached(load.visits);
  const { bookings } = await readCounts(db, bookingWidgets);
  const stored = (await db.selectFrom("bookings").select("reference").execute()).length;
  return [
    ...(String(reached) === String(sent) ? [] : [`visits counted ${reached}, sent ${sent}`]),
    ...(bookings === stored ? [] : [`bookings counted ${bookings}, stored ${stored}`]),
  ];
}

/** The scheduling system was called once per reference, and no slot is booked twice. */
function checkScheduler({ calcom }: World): string[] {
  const references = calcom.bookings.map(({ metadata }) => JSON.stringify(metadata));
  const twice = references.length - new Set(references).size;
  return [...(twice > 0 ? [`${twice} appointments made twice`] : []), ...calcom.faults.splice(0)];
}

function describe(what: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${items.length} ${what}: ${items.slice(0, 3).join(", ")}`];
}
