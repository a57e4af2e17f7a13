type Waiting = { readonly key: string; readonly start: () => void };

/** Runs at most `max` pieces of work at a time, and one of each key; the others wait in the order of their arrival. */
export class FewAtOnce {
  readonly #max: number;
  readonly #running = new Set<string>();
  #waiting: Waiting[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    await new Promise<void>((start) => {
      this.#waiting.push({ key, start });
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
    const next = this.#waiting.find(({ key }) => !this.#running.has(key));
    if (!next || this.#running.size >= this.#max) return;
    this.#waiting = this.#waiting.filter((each) => each !== next);
    this.#running.add(next.key);
    next.start();
  }
}
