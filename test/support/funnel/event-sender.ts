import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import { DESKTOP, eventsBody } from "./collect.ts";

// A crowd of browsers: each visit takes its steps one after the other, one request per step, repeated until it is answered 204,
// as the booking frame does.

export type SentVisit = { visitId: string; widget: string; steps: string[] };

export type EventSender = {
  /** Every started visit, with every step ever sent. */
  readonly visits: SentVisit[];
  /** "visit step" of every event answered 204. */
  readonly acknowledged: Set<string>;
  /** Number of responses by status; `failed` had none. */
  readonly statuses: Map<number | "failed", number>;
  /** Where to send from now on. */
  port: number;
  /** Sends until the promise settles; then every browser finishes its request, whatever the result. */
  sendWhile(busy: Promise<unknown>): Promise<void>;
  /** Sends every event once more, in any order, until all are answered 204. */
  replay(): Promise<void>;
};

const BROWSERS = 32;
const STEPS = FUNNEL_STEPS.slice(0, 5);
const PAUSE_MS = 20;

export function createEventSender(widgets: readonly string[], port: number): EventSender {
  const agent = new Agent({ connections: BROWSERS, pipelining: 1, headersTimeout: 30_000 });
  const sender: EventSender = {
    visits: [],
    acknowledged: new Set(),
    statuses: new Map(),
    port,
    async sendWhile(busy) {
      let isBusy = true;
      const ended = busy.finally(() => {
        isBusy = false;
      });
      const browse = async (n: number) => {
        while (isBusy) {
          const visit = beginVisit(sender, widgets[n % widgets.length] ?? "");
          // From one step to all of them.
          for (const step of STEPS.slice(0, 1 + (sender.visits.length % STEPS.length))) {
            visit.steps.push(step);
            while (isBusy && !(await send(sender, agent, visit, step))) await sleep(PAUSE_MS);
          }
        }
      };
      await Promise.all([ended, ...Array.from({ length: BROWSERS }, (_, n) => browse(n))]);
    },
    async replay() {
      const events = sender.visits.flatMap((visit) => visit.steps.map((step) => ({ visit, step })));
      events.sort(() => Math.random() - 0.5);
      const resend = async () => {
        for (let event = events.pop(); event; event = events.pop())
          while (!(await send(sender, agent, event.visit, event.step))) await sleep(PAUSE_MS);
      };
      await Promise.all(Array.from({ length: BROWSERS }, resend));
    },
  };
  return sender;
}

function beginVisit(sender: EventSender, widget: string): SentVisit {
  const visit = { visitId: randomUUID(), widget, steps: [] };
  sender.visits.push(visit);
  return visit;
}

async function send(sender: EventSender, agent: Agent, visit: SentVisit, step: string): Promise<boolean> {
  const status = await post(sender, agent, visit, step).catch(() => "failed" as const);
  sender.statuses.set(status, (sender.statuses.get(status) ?? 0) + 1);
  if (status === 204) sender.acknowledged.add(`${visit.visitId} ${step}`);
  return status === 204;
}

async function post(sender: EventSender, agent: Agent, visit: SentVisit, step: string): Promise<number> {
  const { statusCode, body } = await request(`http://127.0.0.1:${sender.port}/embed-api/${visit.widget}/events`, {
    dispatcher: agent,
    method: "POST",
    headers: { "content-type": "text/plain;charset=UTF-8", "user-agent": DESKTOP },
    body: JSON.stringify(eventsBody({ visitId: visit.visitId, events: [{ step }] })),
  });
  await body.dump();
  return statusCode;
}
