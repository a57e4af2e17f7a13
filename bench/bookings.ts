import { type Bar, judgeMemory, printTable } from "./support/bars.ts";
import { listSlots, NO_BOOKING_LIMITS, toBookingRequest } from "./support/booking-requests.ts";
import { measureLoad, requireStatus, toLoadCells } from "./support/measured-load.ts";
import { type Service, startService } from "./support/service.ts";

// Stored bookings over HTTP: the whole booking flow with the sandbox as scheduling system, answered after commit. Every request
// books another free time, so the bench ends before they run out.

/** Each with one widget. */
const ORGANIZATIONS = 8;
const CONNECTIONS = 16;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 8_000;
/** Days from now that are asked for; one request may ask for 31. */
const SLOT_RANGES = [
  [0, 29],
  [29, 58],
] as const;

export async function run(): Promise<Bar[]> {
  const service = await startService(NO_BOOKING_LIMITS);
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
    for (const [index, slot] of (await listSlots(service.port, widget, SLOT_RANGES)).entries()) {
      bySlot[index] ??= [];
      bySlot[index].push(toBookingRequest(widget, slot));
    }
  }
  return bySlot.flat();
}
