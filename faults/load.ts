import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { DAY_MS } from "#contract/durations.ts";
import { FUNNEL_STEPS } from "#contract/steps.ts";
import { DESKTOP, eventsBody } from "../test/support/collect.ts";
import type { World } from "./world.ts";

// Browsers, visitors who book and systems that pull, each with any of the web processes. What was not acknowledged is sent again,
// as the booking frame and the client library do; so when the load has come to rest, everything it sent is acknowledged.

const BROWSERS = 12;
const BOOKERS = 3;
const READERS = 2;
const STEPS = FUNNEL_STEPS.slice(0, 5);
const REQUEST_LIMIT_MS = 12_000;
const RETRY_MS = 100;
const REST_LIMIT_MS = 60_000;
const THINKING_MS = { browser: 30, booker: 400, reader: 60 };
const BOOKING_TRIES_MAX = 40;
const READ_PATHS = ["/api/v1/bookings?limit=5", "/api/v1/widgets", "/api/v1/analytics?days=7"];

type Answered = { status: number; body: string };
export type SentVisit = { visitId: string; widget: string; steps: string[] };

export class Load {
  /** Every visit that was begun, with every step that was acknowledged. */
  readonly visits: SentVisit[] = [];
  /** References that were answered 201. */
  readonly booked = new Set<string>();
  /** Answers that no fault excuses. */
  readonly wrongAnswers: string[] = [];
  readonly counts = { events: 0, bookings: 0, refusedBookings: 0, reads: 0, unavailable: 0 };
  slowestMs = 0;
  readonly #world: World;
  readonly #agent = new Agent({ connections: 64, pipelining: 1 });
  #isRunning = false;
  #hasGivenUp = false;
  #workers: Promise<void>[] = [];

  constructor(world: World) {
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

  /** Resolves when everything under way is acknowledged, or refused for good; then true. False when that takes too long. */
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
        const answer = await this.#ask(`/embed-api/${visit.widget}/events`, { method: "POST", headers, body });
        if (answer?.status === 204) break;
        if (this.#hasGivenUp) return;
        this.#note("POST events", answer, [503]);
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
      const answer = await this.#ask(`/embed-api/${widget}/bookings`, { method: "POST", headers, body });
      if (answer?.status === 201) {
        this.booked.add(JSON.parse(answer.body).reference);
        this.counts.bookings++;
        return;
      }
      if (answer?.status === 409 && answer.body.includes("slot_taken")) break;
      // 503 with this code is the scheduling system's last word for this key.
      if (answer?.body.includes("scheduler_unavailable")) break;
      this.#note("POST bookings", answer, [409, 503]);
      if (answer && answer.status < 500 && answer.status !== 409) break;
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
    // Questions can want numbers, addresses or choices; that is not what this load is about.
    const service = services.find(({ questions }) => questions.length === 0) ?? services[0];
    if (!service) return null;
    const from = Date.now() + (1 + Math.floor(Math.random() * 40)) * DAY_MS;
    const range = `from=${new Date(from).toISOString()}&to=${new Date(from + 5 * DAY_MS).toISOString()}`;
    const answer = await this.#ask(`/embed-api/${widget}/slots?service=${service.id}&${range}`);
    this.#note("GET slots", answer, [200, 503]);
    if (answer?.status !== 200) return null;
    const slots = JSON.parse(answer.body).slots as { start: string }[];
    if (slots.length === 0) return null;
    const answers = service.questions.map(({ id, options }) => ({
      questionId: id,
      answer: options?.[0] ?? "an answer",
    }));
    return { serviceId: service.id, start: this.#pick(slots).start, answers };
  }

  async #read(): Promise<void> {
    const path = this.#pick(READ_PATHS);
    const answer = await this.#ask(path, { headers: { authorization: `Bearer ${this.#world.apiKey}` } });
    this.#note(`GET ${path}`, answer, [200, 503]);
    this.counts.reads++;
    await sleep(THINKING_MS.reader);
  }

  /** Null where no answer came: the process was killed, stopped, or is starting. */
  async #ask(path: string, options: Parameters<typeof request>[1] = {}): Promise<Answered | null> {
    const { url } = this.#pick(this.#world.webs);
    const startedAt = performance.now();
    try {
      const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
      const { statusCode, body } = await request(url + path, { dispatcher: this.#agent, signal, ...options });
      const answered = { status: statusCode, body: await body.text() };
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt);
      return answered;
    } catch {
      return null;
    }
  }

  #note(route: string, answer: Answered | null, expected: readonly number[]): void {
    if (answer?.status === 503) this.counts.unavailable++;
    if (answer && !expected.includes(answer.status))
      this.wrongAnswers.push(`${route}: ${answer.status} ${answer.body.slice(0, 120)}`);
  }

  #pick<T>(items: readonly T[]): T {
    // Not the seeded choice: what the load does depends on timing anyway.
    return items[Math.floor(Math.random() * items.length)] as T;
  }
}
