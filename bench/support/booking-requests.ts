import { randomUUID } from "node:crypto";
import { DAY_MS } from "#contract/durations.ts";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import { toRequest, UUID } from "./load.ts";

const SERVICE = "consultation";

/** Booking requests are sent in numbers that no visitor reaches. */
export const NO_BOOKING_LIMITS = {
  RATE_LIMIT_BOOKINGS_PER_MINUTE: "0",
  RATE_LIMIT_WIDGET_BOOKINGS_PER_MINUTE: "0",
  RATE_LIMIT_SLOTS_PER_MINUTE: "0",
  RATE_LIMIT_WIDGET_SLOTS_PER_MINUTE: "0",
};

/** The available times of a widget's sandbox. `ranges` are days from now; one request may ask for 31. */
export async function listSlots(
  port: number,
  widget: string,
  ranges: readonly (readonly [number, number])[],
): Promise<FreeSlot[]> {
  const slots: FreeSlot[] = [];
  for (const days of ranges) {
    const [from, to] = days.map((day) => new Date(Date.now() + day * DAY_MS).toISOString());
    const address = `http://127.0.0.1:${port}/embed-api/${widget}/slots`;
    const response = await fetch(`${address}?service=${SERVICE}&from=${from}&to=${to}`);
    if (!response.ok) throw new Error(`The slots answered ${response.status}: ${await response.text()}`);
    slots.push(...((await response.json()) as { slots: FreeSlot[] }).slots);
  }
  return slots;
}

function toBody(visitId: string, { start }: FreeSlot): string {
  return JSON.stringify({
    visitId,
    serviceId: SERVICE,
    start,
    timeZone: "Europe/Berlin",
    customer: { name: "Mara Quell", email: "mara.quell@example.com", phone: "+49 30 5550100", notes: null },
    attribution: { utmSource: "google", utmMedium: "cpc", utmCampaign: "autumn", referrer: "https://www.google.com/" },
  });
}

export function toBookingRequest(widget: string, slot: FreeSlot): string {
  return toRequest({
    method: "POST",
    path: `/embed-api/${widget}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": UUID },
    body: toBody(UUID, slot),
  });
}

/** Books over HTTP. Resolves with the reference and the time of the response. */
export async function bookOverHttp(
  port: number,
  widget: string,
  slot: FreeSlot,
): Promise<{ reference: string; committedAt: number }> {
  const reply = await fetch(`http://127.0.0.1:${port}/embed-api/${widget}/bookings`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
    body: toBody(randomUUID(), slot),
  });
  const committedAt = performance.timeOrigin + performance.now();
  if (reply.status !== 201) throw new Error(`The booking answered ${reply.status}: ${await reply.text()}`);
  const { reference } = (await reply.json()) as { reference: string };
  return { reference, committedAt };
}
