import type { FlowStep } from "./flow.ts";

// The browser's Back and Forward inside the booking. Each step forward adds an entry to the frame's own history, which is a part
// of the tab's: Back goes one step back, and the address and state of the host page stay as they are.
//
// | entry | in the page, or a page of its own | in a popup          |
// | 0     | the first step                    | the popup is closed |
// | 1     | the second step                   | the first step      |
//
// Our own way back changes the entry that is there and moves along none: others may lie between ours, of the host page or of a
// second widget. What thereby leads to no earlier step is passed over when the browser gets there, so that one Back is one
// step, and at the first step the way out.

/** `at` counts our entries; `step` is null before there is one to show. */
type Entry = { readonly at: number; readonly step: FlowStep | null };

type Move = { readonly step: FlowStep; readonly isBack: boolean };

/** How long a browser may take to arrive at an entry. */
const ARRIVAL_LIMIT_MS = 1_000;

export class StepHistory {
  readonly #history: History | null;
  readonly #first: number;
  readonly #onClosed: () => void;
  #move: (move: Move) => boolean = () => false;
  #entry: Entry = { at: 0, step: null };
  #shown: { step: FlowStep | null; depth: number } = { step: null, depth: 0 };
  #last = 0;
  /** How many of the tab's entries come before ours; NaN when that cannot be told. */
  #before = Number.NaN;
  #awaited: { readonly at: number; readonly arrival: Promise<void>; arrive(): void } | null = null;

  /** Without a history, Back leaves from every step. */
  constructor(options: { history: History | null; isPopup: boolean; onClosed: () => void }) {
    this.#history = options.history;
    this.#first = options.isPopup && options.history ? 1 : 0;
    this.#onClosed = options.onClosed;
    // After a reload the entries are still there.
    this.#last = parseEntry(this.#history?.state)?.at ?? 0;
    this.#replace({ at: this.#last, step: null });
    if (this.#last < this.#first) this.#push(null);
    window.addEventListener("popstate", ({ state }) => {
      const entry = parseEntry(state);
      if (entry) this.#arrive(entry);
    });
  }

  /** The visitor sees this step; `depth` counts those before it. */
  show(step: FlowStep, depth: number): void {
    const isFurther = this.#shown.step !== null && depth > this.#shown.depth;
    this.#shown = { step, depth };
    if (step === this.#entry.step) return;
    if (isFurther) this.#push(step);
    else this.#replace({ ...this.#entry, step });
  }

  /** `move` says whether the visitor got there. */
  listen(move: (move: Move) => boolean): () => void {
    this.#move = move;
    return () => {
      this.#move = () => false;
    };
  }

  /** Leaves the steps behind: Back leads to none of them, not even from a page that the host page goes on to. */
  async rewind(): Promise<void> {
    await this.#rewindTo(this.#first);
  }

  async close(): Promise<void> {
    // First: a frame that is gone moves no longer, and what the host page adds to its history on hearing of it is not ours.
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

  /** Stays where it is when others' entries may lie between. */
  async #rewindTo(at: number): Promise<void> {
    // Whoever asks twice wants to go once.
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

/** Null for a page that was just opened. */
function parseEntry(state: unknown): Entry | null {
  const { svc } = (state ?? {}) as { svc?: Partial<Entry> };
  return typeof svc?.at === "number" ? { at: svc.at, step: svc.step ?? null } : null;
}
