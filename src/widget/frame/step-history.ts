import type { FlowStep } from "./flow.ts";

// Back and Forward inside the booking. Each step forward adds an entry to the frame's own history, which is part of the
// tab's, so Back goes one step back and the host page keeps its address and state.
//
// | entry | in the page, or a page of its own | in a popup          |
// | 0     | the first step                    | the popup is closed |
// | 1     | the second step                   | the first step      |
//
// Our own Back button changes the current entry and does not move, because entries of the host page or a second widget may
// lie between ours. When the browser later reaches an entry that no longer leads to an earlier step, it is skipped. One
// press of Back is therefore one step, and leaves the booking at the first step.

/** `at` counts our entries; `step` is null until one is shown. */
type Entry = { readonly at: number; readonly step: FlowStep | null };

type Move = { readonly step: FlowStep; readonly isBack: boolean };

/** How long a browser may take to reach an entry. */
const ARRIVAL_LIMIT_MS = 1_000;

export class StepHistory {
  readonly #history: History | null;
  readonly #first: number;
  readonly #onClosed: () => void;
  #move: (move: Move) => boolean = () => false;
  #entry: Entry = { at: 0, step: null };
  #shown: { step: FlowStep | null; depth: number } = { step: null, depth: 0 };
  #last = 0;
  /** How many of the tab's entries come before ours; NaN if unknown. */
  #before = Number.NaN;
  #awaited: { readonly at: number; readonly arrival: Promise<void>; arrive(): void } | null = null;

  /** Without a history, Back leaves the booking from any step. */
  constructor(options: { history: History | null; isPopup: boolean; onClosed: () => void }) {
    this.#history = options.history;
    this.#first = options.isPopup && options.history ? 1 : 0;
    this.#onClosed = options.onClosed;
    // The entries survive a reload.
    this.#last = parseEntry(this.#history?.state)?.at ?? 0;
    this.#replace({ at: this.#last, step: null });
    if (this.#last < this.#first) this.#push(null);
    window.addEventListener("popstate", ({ state }) => {
      const entry = parseEntry(state);
      if (entry) this.#arrive(entry);
    });
  }

  /** Called when the visitor sees a step; `depth` counts the steps before it. */
  show(step: FlowStep, depth: number): void {
    const isFurther = this.#shown.step !== null && depth > this.#shown.depth;
    this.#shown = { step, depth };
    if (step === this.#entry.step) return;
    if (isFurther) this.#push(step);
    else this.#replace({ ...this.#entry, step });
  }

  /** `move` returns whether the visitor got there. */
  listen(move: (move: Move) => boolean): () => void {
    this.#move = move;
    return () => {
      this.#move = () => false;
    };
  }

  /** Discards the steps: Back leads to none of them, even from a page that the host page opens next. */
  async rewind(): Promise<void> {
    await this.#rewindTo(this.#first);
  }

  async close(): Promise<void> {
    // This comes first: a removed frame can no longer move, and the host page may add entries of its own when it is told.
    await this.#rewindTo(0);
    this.#onClosed();
  }

  #arrive(entry: Entry): void {
    const isBack = entry.at < this.#entry.at;
    this.#entry = entry;
    if (entry.at === this.#awaited?.at) {
      this.#awaited.arrive();
      this.#awaited = null;
    } else if (entry.at < this.#first) {
      this.#onClosed();
    } else if (!entry.step || !this.#move({ step: entry.step, isBack })) {
      if (isBack) this.#history?.back();
      else this.#replace({ ...entry, step: this.#shown.step });
    }
  }

  /** Does not move if other entries may lie between ours. */
  async #rewindTo(at: number): Promise<void> {
    // A second request while moving is ignored.
    if (this.#awaited) await this.#awaited.arrival;
    const delta = at - this.#entry.at;
    if (this.#awaited || delta >= 0 || this.#history?.length !== this.#before + this.#last) return;
    let arrive = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrive = resolve;
      setTimeout(resolve, ARRIVAL_LIMIT_MS);
    });
    this.#awaited = { at, arrival, arrive };
    this.#history.go(delta);
    await arrival;
  }

  #push(step: FlowStep | null): void {
    this.#entry = { at: this.#entry.at + 1, step };
    this.#last = this.#entry.at;
    this.#history?.pushState({ svc: this.#entry }, "");
    const before = (this.#history?.length ?? 0) - this.#last;
    this.#before = this.#last === 1 || before === this.#before ? before : Number.NaN;
  }

  #replace(entry: Entry): void {
    this.#entry = entry;
    this.#history?.replaceState({ svc: entry }, "");
  }
}

/** Null for a page that has just been opened. */
function parseEntry(state: unknown): Entry | null {
  const { svc } = (state ?? {}) as { svc?: Partial<Entry> };
  return typeof svc?.at === "number" ? { at: svc.at, step: svc.step ?? null } : null;
}
