import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";

// Keys that were stored and marked as used today by a recording of this process, so that nearly every batch sends none. What
// was learned on one day is forgotten on the next: a key that is in use keeps its mark fresh, which keeps it from being
// deleted (recount/retention.ts).

/** Above this number, everything is forgotten, and each key is sent once more. */
const KEYS_MAX = 200_000;

export class KnownKeys {
  #day = 0;
  #count = 0;
  #keys = new Map<OrganizationId, Set<number>>();

  /** Null where none is known. */
  find(owner: OrganizationId, now: Date): ReadonlySet<number> | null {
    return toDayNumber(now) === this.#day ? (this.#keys.get(owner) ?? null) : null;
  }

  /** After the commit. */
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

/** Of UTC, as the column used_on. */
function toDayNumber(now: Date): number {
  return Math.floor(now.getTime() / DAY_MS);
}
