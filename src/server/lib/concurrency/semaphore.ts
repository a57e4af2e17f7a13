/** Runs at most `max` pieces of work at a time, and one of each key. Keys take turns, each in the order of arrival. */
export class Semaphore {
  readonly #max: number;
  readonly #running = new Set<string | symbol>();
  /** The next key to have its turn comes first. */
  readonly #waiting = new Map<string | symbol, (() => void)[]>();

  constructor(max: number) {
    this.#max = max;
  }

  async run<Result>(key: string | symbol, work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((start) => {
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), start]);
      this.#startNext();
    });
    try {
      return await work();
    } finally {
      this.#running.delete(key);
      this.#startNext();
    }
  }

  #startNext(): void {
    const next = this.#waiting.entries().find(([key]) => !this.#running.has(key));
    if (!next || this.#running.size >= this.#max) return;
    const [key, [start, ...others]] = next;
    this.#waiting.delete(key);
    if (others.length > 0) this.#waiting.set(key, others);
    this.#running.add(key);
    start?.();
  }
}
