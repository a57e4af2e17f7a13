import { randomUUID } from "node:crypto";
import { DAY_MS } from "#contract/durations.ts";

// A visitor of the booking frame, over HTTP.

export type FreeTime = { serviceId: string; start: string; answers: { questionId: string; answer: string }[] };

type ConfigService = { id: string; questions: { id: string; options?: string[] }[] };

const AHEAD_DAYS = 14;

/** The last free time of the first service, with an answer to each of its questions. The first may soon be too close to book. */
export async function findFreeTime(base: string, widgetId: string, answer = "an answer"): Promise<FreeTime> {
  const ask = async (path: string) => (await fetch(`${base}/embed-api/${widgetId}${path}`)).json();
  const { services } = (await ask("/config")) as { services: ConfigService[] };
  const [service] = services;
  if (!service) throw new Error("The widget has no service");
  const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const range = `from=${toDay(Date.now())}&to=${toDay(Date.now() + AHEAD_DAYS * DAY_MS)}`;
  const { slots } = (await ask(`/slots?service=${service.id}&${range}`)) as { slots: { start: string }[] };
  const slot = slots.at(-1);
  if (!slot) throw new Error("The service has no free time");
  const answers = service.questions.map(({ id, options }) => ({ questionId: id, answer: options?.[0] ?? answer }));
  return { serviceId: service.id, start: slot.start, answers };
}

export type Visitor = { name: string; email: string; phone?: string; notes?: string };

export async function bookThrough(
  base: string,
  widgetId: string,
  wish: { time: FreeTime; customer: Visitor; key?: string },
): Promise<Response> {
  return await fetch(`${base}/embed-api/${widgetId}/bookings`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": wish.key ?? randomUUID() },
    body: JSON.stringify({
      visitId: randomUUID(),
      timeZone: "Europe/Berlin",
      customer: wish.customer,
      ...wish.time,
    }),
  });
}
