/** Runs at most `max` pieces of work at a time; the others wait in the order of their arrival. */
export class FewAtOnce {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#free = max;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
