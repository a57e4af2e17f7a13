import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import { DAY_MS } from "#contract/durations.ts";
import { DESKTOP, eventsBody } from "../test/support/funnel/collect.ts";
import type { World } from "./world.ts";

// Browsers, visitors who book and polling clients, each talking to any of the web processes. Unacknowledged requests are sent
// again, as the booking frame and the client library do, so once the load has settled everything it sent is acknowledged.

const BROWSERS = 12;
const BOOKERS = 3;
const READERS = 2;
const STEPS = FUNNEL_STEPS.slice(0, 5);
/** Longer than any response may take, so that slow responses are measured instead of given up. */
const REQUEST_LIMIT_MS = 60_000;
const RETRY_MS = 100;
const LAG_TICK_MS = 20;
/** A booking whose outcome was lost with a process or the database is settled after about a minute. Until then its repetitions get 503. */
const REST_LIMIT_MS = 120_000;
const THINKING_MS = { browser: 30, booker: 400, reader: 60 };
const BOOKING_TRIES_MAX = 40;
const READ_PATHS = ["/api/v1/bookings?limit=5", "/api/v1/widgets", "/api/v1/analytics?days=7"];

type Received = { status: number; body: string };

/** A response from a web process, or none within the limit (status 0). */
export type TimedResponse = {
  /** Method and path, without ids and query. */
  readonly route: string;
  readonly web: string;
  /** The widget books in a scheduling system. */
  readonly isExternal: boolean;
  readonly status: number;
  readonly tookMs: number;
  /** How late this process's own timers were meanwhile: the machine's load, not the service's fault. */
  readonly lagMs: number;
};

/** Faster responses are not kept. */
const SLOW_MS = 1_000;
export type SentVisit = { visitId: string; widget: string; steps: string[] };

/** Adds up how late this process's timers are. */
class LagMeter {
  totalMs = 0;
  #dueAt = performance.now() + LAG_TICK_MS;
  readonly #timer = setInterval(() => {
    const now = performance.now();
    this.totalMs += Math.max(0, now - this.#dueAt);
    this.#dueAt = now + LAG_TICK_MS;
  }, LAG_TICK_MS);

  close(): void {
    clearInterval(this.#timer);
  }
}

type LoadWorld = Pick<World, "webs" | "apiKey" | "eventWidgets" | "bookingWidgets"> & {
  readonly externalWidget: World["externalWidget"] | null;
};

export class Load {
  /** Every started visit, with every acknowledged step. */
  readonly visits: SentVisit[] = [];
  /** References answered with 201. */
  readonly booked = new Set<string>();
  /** Responses that no fault excuses. */
  readonly wrongResponses: string[] = [];
  readonly counts = { events: 0, bookings: 0, refusedBookings: 0, reads: 0, unavailable: 0 };
  /** Responses that took a second or more. */
  readonly slowResponses: TimedResponse[] = [];
  readonly #world: LoadWorld;
  readonly #agent = new Agent({ connections: 64, pipelining: 1 });
  readonly #lag = new LagMeter();
  #isRunning = false;
  #hasGivenUp = false;
  #workers: Promise<void>[] = [];

  constructor(world: LoadWorld) {
    this.#world = world;
  }

  start(): void {
    this.#isRunning = true;
    const times = (count: number, work: (n: number) => Promise<void>) =>
      Array.from({ length: count }, async (_, n) => {
        while (this.#isRunning) await work(n);
      });
    this.#workers = [
      ...times(BROWSERS, (n) => this.#browse(n)),
      ...times(BOOKERS, () => this.#book()),
      ...times(READERS, () => this.#read()),
    ];
  }

  /** Resolves to true when every request is acknowledged or finally refused, and to false when that takes too long. */
  async rest(): Promise<boolean> {
    this.#isRunning = false;
    const isAtRest = await Promise.race([
      Promise.all(this.#workers).then(() => true),
      sleep(REST_LIMIT_MS, false, { ref: false }),
    ]);
    this.#hasGivenUp = !isAtRest;
    return isAtRest;
  }

  async close(): Promise<void> {
    this.#lag.close();
    await this.#agent.destroy();
  }

  async #browse(n: number): Promise<void> {
    const { eventWidgets } = this.#world;
    const visit: SentVisit = { visitId: randomUUID(), widget: eventWidgets[n % eventWidgets.length] ?? "", steps: [] };
    this.visits.push(visit);
    for (const step of STEPS.slice(0, 1 + (this.visits.length % STEPS.length))) {
      const body = JSON.stringify(eventsBody({ visitId: visit.visitId, events: [{ step }] }));
      const headers = { "content-type": "text/plain", "user-agent": DESKTOP };
      for (;;) {
        const response = await this.#ask(`/embed-api/${visit.widget}/events`, { method: "POST", headers, body });
        if (response?.status === 204) break;
        if (this.#hasGivenUp) return;
        this.#note("POST events", response, [503]);
        await sleep(RETRY_MS);
      }
      visit.steps.push(step);
      this.counts.events++;
      if (!this.#isRunning) return;
      await sleep(THINKING_MS.browser);
    }
  }

  async #book(): Promise<void> {
    await sleep(THINKING_MS.booker);
    const widget = this.#pick(this.#world.bookingWidgets);
    const time = await this.#findTime(widget);
    if (time === null) return;
    const body = JSON.stringify({
      visitId: randomUUID(),
      timeZone: "Europe/Berlin",
      customer: { name: "Mara Quell", email: `${randomUUID()}@example.com` },
      ...time,
    });
    const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
    for (let tries = 1; tries <= BOOKING_TRIES_MAX; tries++) {
      const response = await this.#ask(`/embed-api/${widget}/bookings`, { method: "POST", headers, body });
      if (response?.status === 201) {
        this.booked.add(JSON.parse(response.body).reference);
        this.counts.bookings++;
        return;
      }
      if (response?.status === 409 && response.body.includes("slot_taken")) break;
      // Without this, the outcome is still open, and the same key gets it later.
      if (response?.body.includes('"isSettled":true')) break;
      this.#note("POST bookings", response, [409, 503]);
      if (response && response.status < 500 && response.status !== 409) break;
      await sleep(RETRY_MS);
    }
    this.counts.refusedBookings++;
  }

  async #findTime(widget: string): Promise<object | null> {
    const config = await this.#ask(`/embed-api/${widget}/config`);
    this.#note("GET config", config, [200, 503]);
    if (config?.status !== 200) return null;
    const services = JSON.parse(config.body).services as {
      id: string;
      questions: { id: string; options?: string[] }[];
    }[];
    // Questions can require numbers, addresses or choices, which this load doesn't cover.
    const service = services.find(({ questions }) => questions.length === 0) ?? services[0];
    if (!service) return null;
    const from = Date.now() + (1 + Math.floor(Math.random() * 40)) * DAY_MS;
    const range = `from=${new Date(from).toISOString()}&to=${new Date(from + 5 * DAY_MS).toISOString()}`;
    const response = await this.#ask(`/embed-api/${widget}/slots?service=${service.id}&${range}`);
    this.#note("GET slots", response, [200, 503]);
    if (response?.status !== 200) return null;
    const slots = JSON.parse(response.body).slots as { start: string }[];
    if (slots.length === 0) return null;
    const answers = service.questions.map(({ id, options }) => ({
      questionId: id,
      answer: options?.[0] ?? "an answer",
    }));
    return { serviceId: service.id, start: this.#pick(slots).start, answers };
  }

  async #read(): Promise<void> {
    const path = this.#pick(READ_PATHS);
    const response = await this.#ask(path, { headers: { authorization: `Bearer ${this.#world.apiKey}` } });
    this.#note(`GET ${path}`, response, [200, 503]);
    this.counts.reads++;
    await sleep(THINKING_MS.reader);
  }

  /** Null without a response: the process was killed, stopped, or is starting. */
  async #ask(path: string, options: Parameters<typeof request>[1] = {}): Promise<Received | null> {
    const { externalWidget, webs } = this.#world;
    const { url, name } = this.#pick(webs);
    const startedAt = performance.now();
    const lagBefore = this.#lag.totalMs;
    const time = (status: number) => {
      const tookMs = performance.now() - startedAt;
      if (tookMs < SLOW_MS) return;
      const route = `${options.method ?? "GET"} ${path.replace(/\?.*/, "").replace(/\/w_\w+/, "/{widget}")}`;
      const isExternal = externalWidget !== null && path.includes(externalWidget);
      this.slowResponses.push({ route, web: name, isExternal, status, tookMs, lagMs: this.#lag.totalMs - lagBefore });
    };
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    try {
      const { statusCode, body } = await request(url + path, { dispatcher: this.#agent, signal, ...options });
      const received = { status: statusCode, body: await body.text() };
      time(statusCode);
      return received;
    } catch {
      if (signal.aborted) time(0);
      return null;
    }
  }

  #note(route: string, response: Received | null, expected: readonly number[]): void {
    if (response?.status === 503) this.counts.unavailable++;
    if (response && !expected.includes(response.status))
      this.wrongResponses.push(`${route}: ${response.status} ${response.body.slice(0, 120)}`);
  }

  #pick<T>(items: readonly T[]): T {
    // Not from the seeded generator: what the load does depends on timing anyway.
    return items[Math.floor(Math.random() * items.length)] as T;
  }
}
