import type { RawAttribution } from "#contract/analytics/attribution.ts";
import type { BrowserStep } from "#contract/analytics/steps.ts";
import type { CollectRequest } from "#contract/widgets/embed-api.ts";
import type { VisitKeeper } from "./visit.ts";

// Sends the visit's steps to the server, each once and in order, without delaying the visitor. A step that could not be
// sent is retried after a pause; steps still waiting when the page closes are sent as a beacon.

/** Sends the steps; `later` means that a retry may help. */
export type SendSteps = (body: string) => Promise<"done" | "later">;

const TRIES_MAX = 6;
const FIRST_WAIT_MS = 1_000;
/** Steps in quick succession are sent together. */
const GATHER_MS = 50;

type FunnelOptions = {
  readonly visit: VisitKeeper;
  readonly attribution: () => RawAttribution;
  readonly page: () => string | undefined;
  readonly send: SendSteps;
  readonly wait: (ms: number) => Promise<void>;
  readonly onStep: (step: BrowserStep) => void;
};

export class Funnel {
  readonly #options: FunnelOptions;
  #waiting: { visitId: string; step: BrowserStep }[] = [];
  readonly #unseen: BrowserStep[] = [];
  #isSending = false;

  constructor(options: FunnelOptions) {
    this.#options = options;
  }

  /** No step counts before the visitor has seen the widget: the page may preselect a service in a frame far below. */
  record(step: BrowserStep): void {
    const { visit } = this.#options;
    if (step !== "widget_viewed" && !visit.has("widget_viewed")) {
      this.#unseen.push(step);
      return;
    }
    for (const each of [step, ...this.#unseen.splice(0)]) this.#take(each);
    void this.#run();
  }

  #take(step: BrowserStep): void {
    const { visit, onStep } = this.#options;
    if (!visit.take(step)) return;
    this.#waiting.push({ visitId: visit.id, step });
    onStep(step);
  }

  /** Takes the steps that have not been sent, for a last try while the page closes. */
  takeWaiting(): string[] {
    const bodies: string[] = [];
    while (this.#waiting.length > 0) bodies.push(JSON.stringify(this.#toBody(this.#takeOneVisit())));
    return bodies;
  }

  /** Retries a limited number of times. Steps still waiting then go with the next step, or when the page closes. */
  async #run(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    await this.#options.wait(GATHER_MS);
    let tries = 0;
    while (this.#waiting.length > 0 && tries < TRIES_MAX) {
      const steps = this.#takeOneVisit();
      if ((await this.#options.send(JSON.stringify(this.#toBody(steps)))) === "done") {
        tries = 0;
        continue;
      }
      this.#waiting.unshift(...steps);
      tries += 1;
      if (tries < TRIES_MAX) await this.#options.wait(FIRST_WAIT_MS * 2 ** (tries - 1));
    }
    this.#isSending = false;
  }

  #takeOneVisit(): { visitId: string; step: BrowserStep }[] {
    const visitId = this.#waiting[0]?.visitId;
    const steps = this.#waiting.filter((waiting) => waiting.visitId === visitId);
    this.#waiting = this.#waiting.filter((waiting) => waiting.visitId !== visitId);
    return steps;
  }

  #toBody(steps: { visitId: string; step: BrowserStep }[]): CollectRequest {
    const page = this.#options.page();
    return {
      visitId: steps[0]?.visitId ?? "",
      ...(page === undefined ? {} : { page }),
      attribution: this.#options.attribution(),
      events: steps.map(({ step }) => ({ step })),
    };
  }
}
