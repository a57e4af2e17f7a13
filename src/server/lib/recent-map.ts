/**
 * A Map that keeps recently used entries: at least `capacity`, at most twice as many. Entries live in two generations; when the
 * young one is full it becomes the old one, and entries not used since are forgotten. Finding a young entry changes nothing, so
 * it costs no more than in a Map.
 */
export class RecentMap<Key, Value> {
  readonly #capacity: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#capacity && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
