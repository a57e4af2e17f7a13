// Natural batching: items that arrive while a batch is being worked on form the next batch, which starts as soon as the
// current one ends. A single item waits for nobody; under load batches grow by themselves, and the work per item shrinks.

export type BatcherLimits = {
  /** Items in one batch. */
  readonly batchMax: number;
  /** Items waiting or being worked on; more are turned away. */
  readonly itemsMax: number;
  /** Batches being worked on at a time. */
  readonly atOnce: number;
  /** How long to wait for an item, counted from the first one of its batch. */
  readonly waitMs: number;
};

/** `late`: the outcome is unknown. The work may be done, or still running. */
type Batched<Result> = { kind: "done"; result: Result } | { kind: "full" } | { kind: "late" };

/**
 * A failure is a value here, never a rejected promise: when every item of a batch is late, nobody awaits the outcome,
 * and an unhandled rejection would be reported as a bug.
 */
type Outcome<Result> =
  | { kind: "done"; results: readonly Result[] }
  | { kind: "failed"; error: unknown }
  | { kind: "late" };

type Batch<Item, Result> = {
  readonly items: Item[];
  readonly outcome: Promise<Outcome<Result>>;
  /** The first call counts. */
  settle(outcome: Outcome<Result>): void;
};

export class Batcher<Item, Result> {
  readonly #limits: BatcherLimits;
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #waiting: Batch<Item, Result>[] = [];
  #itemCount = 0;
  #underWay = 0;
  #isStartPlanned = false;
  #onIdle: (() => void) | null = null;

  /** `run` returns one result per item, in order. If it throws, every item of the batch fails with its error. */
  constructor(limits: BatcherLimits, run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#limits = limits;
    this.#run = run;
  }

  /** Items waiting or being worked on. */
  get itemCount(): number {
    return this.#itemCount;
  }

  async submit(item: Item): Promise<Batched<Result>> {
    if (this.#itemCount >= this.#limits.itemsMax) return { kind: "full" };
    this.#itemCount += 1;
    const batch = this.#openBatch();
    const index = batch.items.push(item) - 1;
    this.#planStart();
    const outcome = await batch.outcome;
    switch (outcome.kind) {
      case "done":
        // `run` promised a result for each.
        return { kind: "done", result: outcome.results[index] as Result };
      case "failed":
        throw outcome.error;
      case "late":
        return outcome;
      default:
        return outcome satisfies never;
    }
  }

  /** Resolves when nothing is waiting or being worked on. */
  async idle(): Promise<void> {
    if (this.#itemCount > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #openBatch(): Batch<Item, Result> {
    const last = this.#waiting.at(-1);
    if (last && last.items.length < this.#limits.batchMax) return last;
    const { promise, resolve } = Promise.withResolvers<Outcome<Result>>();
    const batch: Batch<Item, Result> = {
      items: [],
      outcome: promise,
      settle(outcome) {
        clearTimeout(timer);
        resolve(outcome);
      },
    };
    const timer = setTimeout(() => this.#giveUp(batch), this.#limits.waitMs);
    this.#waiting.push(batch);
    return batch;
  }

  /** Deferred, so that other requests in the same turn of the event loop can join. */
  #planStart(): void {
    if (this.#isStartPlanned || this.#underWay >= this.#limits.atOnce) return;
    this.#isStartPlanned = true;
    setImmediate(() => {
      this.#isStartPlanned = false;
      while (this.#underWay < this.#limits.atOnce && this.#waiting.length > 0) void this.#startNext();
    });
  }

  async #startNext(): Promise<void> {
    const batch = this.#waiting.shift();
    if (!batch) return;
    this.#underWay += 1;
    try {
      batch.settle({ kind: "done", results: await this.#run(batch.items) });
    } catch (error) {
      batch.settle({ kind: "failed", error });
    }
    this.#underWay -= 1;
    this.#forget(batch);
    if (this.#waiting.length > 0) this.#planStart();
  }

  /** A running batch keeps its place: it may hold a connection, and starting another would take a second one. */
  #giveUp(batch: Batch<Item, Result>): void {
    batch.settle({ kind: "late" });
    const position = this.#waiting.indexOf(batch);
    if (position === -1) return;
    this.#waiting.splice(position, 1);
    this.#forget(batch);
  }

  #forget(batch: Batch<Item, Result>): void {
    this.#itemCount -= batch.items.length;
    if (this.#itemCount === 0) this.#onIdle?.();
  }
}
