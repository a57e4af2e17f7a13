import type { FreeSlot } from "#contract/book.ts";
import { DAY_MS } from "#contract/durations.ts";
import { type Bar, judgeMemory } from "./support/bars.ts";
import { toRequest, UUID } from "./support/load.ts";
import { measureLoad, requireStatus, toLoadCells } from "./support/measured-load.ts";
import { type Service, startService } from "./support/service.ts";
import { printTable } from "./support/table.ts";

// Stored bookings over HTTP: the whole booking flow with the sandbox as scheduling system, answered after commit. Every request
// books another free time, so the bench ends before they run out.

/** Each with one widget. */
const ORGANIZATIONS = 8;
const CONNECTIONS = 16;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 8_000;
const SERVICE = "consultation";
/** Days from now that are asked for; one request may ask for 31. */
const SLOT_RANGES = [
  [0, 29],
  [29, 58],
] as const;

const SETTINGS = {
  RATE_LIMIT_BOOKINGS_PER_MINUTE: "0",
  RATE_LIMIT_WIDGET_BOOKINGS_PER_MINUTE: "0",
  RATE_LIMIT_SLOTS_PER_MINUTE: "0",
  RATE_LIMIT_WIDGET_SLOTS_PER_MINUTE: "0",
};

export async function run(): Promise<Bar[]> {
  const service = await startService(SETTINGS);
  try {
    const requests = await makeBookingRequests(service);
    const plan = {
      port: service.port,
      connections: CONNECTIONS,
      requests,
      warmUpMs: WARM_UP_MS,
      measureMs: MEASURE_MS,
    };
    const result = await measureLoad(plan, service);
    requireStatus(result, 201);
    printTable([{ connections: CONNECTIONS, what: "stored bookings", ...toLoadCells(result) }]);
    return [judgeMemory(result.residentMb)];
  } finally {
    await service.stop();
  }
}

/** One request per free time; the organizations take turns. */
async function makeBookingRequests(service: Service): Promise<string[]> {
  const bySlot: string[][] = [];
  for (let n = 1; n <= ORGANIZATIONS; n++) {
    const owner = await service.command("org", "create", "--name", `Bench ${n}`, "--time-zone", "Europe/Berlin");
    const words = ["widget", "create", "--org", String(owner["id"]), "--name", "Bench", "--collect-data", "on"];
    const widget = String((await service.command(...words))["id"]);
    for (const [index, slot] of (await listSlots(service, widget)).entries()) {
      bySlot[index] ??= [];
      bySlot[index].push(toBookingRequest(widget, slot));
    }
  }
  return bySlot.flat();
}

async function listSlots(service: Service, widget: string): Promise<FreeSlot[]> {
  const slots: FreeSlot[] = [];
  for (const days of SLOT_RANGES) {
    const [from, to] = days.map((day) => new Date(Date.now() + day * DAY_MS).toISOString());
    const address = `http://127.0.0.1:${service.port}/embed-api/${widget}/slots`;
    const answer = await fetch(`${address}?service=${SERVICE}&from=${from}&to=${to}`);
    if (!answer.ok) throw new Error(`The slots answered ${answer.status}: ${await answer.text()}`);
    slots.push(...((await answer.json()) as { slots: FreeSlot[] }).slots);
  }
  return slots;
}

function toBookingRequest(widget: string, { start }: FreeSlot): string {
  const body = {
    visitId: UUID,
    serviceId: SERVICE,
    start,
    timeZone: "Europe/Berlin",
    customer: { name: "Mara Quell", email: "mara.quell@example.com", phone: "+49 30 5550100", notes: null },
    attribution: { utmSource: "google", utmMedium: "cpc", utmCampaign: "autumn", referrer: "https://www.google.com/" },
  };
  return toRequest({
    method: "POST",
    path: `/embed-api/${widget}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": UUID },
    body: JSON.stringify(body),
  });
}
