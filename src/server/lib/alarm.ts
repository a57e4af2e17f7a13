/** A wait that can be cut short. A `wake` while nobody waits ends the next wait immediately, so none is lost. */
export class Alarm {
  #isRung = false;
  #end: (() => void) | null = null;
  #soon: NodeJS.Timeout | null = null;

  wake(): void {
    this.#isRung = true;
    this.#end?.();
  }

  /** Wakes within this time; calls in between are combined. */
  wakeWithin(limitMs: number): void {
    this.#soon ??= setTimeout(() => this.wake(), limitMs);
  }

  /** Waits until woken, at most this long. */
  async wait(limitMs: number): Promise<void> {
    if (!this.#isRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limitMs);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#end = null;
    }
    this.#isRung = false;
    if (this.#soon) clearTimeout(this.#soon);
    this.#soon = null;
  }
}
