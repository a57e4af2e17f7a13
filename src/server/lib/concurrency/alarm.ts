/** A wait that can be cut short. A `wake` while nobody waits ends the next wait immediately, so none is lost. */
export class Alarm {
  #isRung = false;
  #end: (() => void) | null = null;
  #soon: { readonly timer: NodeJS.Timeout; readonly atMs: number } | null = null;

  wake(): void {
    this.#isRung = true;
    this.#end?.();
  }

  /** Wakes within this time. Of several calls the one that ends first counts. */
  wakeWithin(limitMs: number): void {
    if (limitMs <= 0) {
      this.wake();
      return;
    }
    const atMs = performance.now() + limitMs;
    if (this.#soon && this.#soon.atMs <= atMs) return;
    clearTimeout(this.#soon?.timer);
    this.#soon = { timer: setTimeout(() => this.wake(), limitMs), atMs };
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
    clearTimeout(this.#soon?.timer);
    this.#soon = null;
  }
}
