import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";

// Keys that this process has stored and marked as used today, so that nearly every batch sends none. They are forgotten the
// next day: a key in use gets a fresh mark each day, which prevents its deletion (delete-visits.ts).

/** Above this number, everything is forgotten, and each key is sent once more. */
const KEYS_MAX = 200_000;

export class KnownKeys {
  #day = 0;
  #count = 0;
  #keys = new Map<OrganizationId, Set<number>>();

  /** Null if none are known. */
  find(owner: OrganizationId, now: Date): ReadonlySet<number> | null {
    return toDayNumber(now) === this.#day ? (this.#keys.get(owner) ?? null) : null;
  }

  /** Call after the commit. */
  add(owner: OrganizationId, id: number, now: Date): void {
    const day = toDayNumber(now);
    if (day !== this.#day || this.#count > KEYS_MAX) {
      this.#keys = new Map();
      this.#count = 0;
      this.#day = day;
    }
    const known = this.#keys.get(owner) ?? new Set();
    this.#keys.set(owner, known);
    if (known.has(id)) return;
    known.add(id);
    this.#count += 1;
  }
}

/** In UTC, like the column used_on. */
function toDayNumber(now: Date): number {
  return Math.floor(now.getTime() / DAY_MS);
}
