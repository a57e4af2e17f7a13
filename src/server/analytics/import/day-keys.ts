import { type CappedKey, listUnknownKeys, toOther } from "../record/capped-keys.ts";
import type { VisitFacts } from "../record/touch.ts";

/** Per kind. */
const KEYS_PER_DAY_MAX = 1_000;

/** The distinct keys of the visits on one day (UTC) of an import. The same file must give the same keys each time. */
export class DayKeys {
  readonly #known = { source: new Set<number>(), campaign: new Set<number>(), page: new Set<number>() };

  /** Keys of visits that are already recorded; they stay, however many there are. */
  constructor(keys: Iterable<CappedKey>) {
    for (const { kind, id } of keys) this.#known[kind].add(id);
  }

  /** The visit as it may be recorded; new keys get a place while there are any left. */
  limit<Visit extends VisitFacts>(visit: Visit): Visit {
    const refused = listUnknownKeys(visit, (kind, id) => this.#known[kind].has(id)).filter(({ kind, id }) => {
      if (this.#known[kind].size >= KEYS_PER_DAY_MAX) return true;
      this.#known[kind].add(id);
      return false;
    });
    return toOther(visit, refused);
  }
}
