import { NOT_SET } from "#contract/dimensions.ts";
import { DIRECT_SOURCE, NO_MEDIUM } from "../classify/channel-rules.ts";
import { toSourceKey } from "../classify/classify-source.ts";
import { toKey, toKeyId } from "./key-id.ts";
import type { VisitFacts } from "./touch.ts";

// Anyone can invent campaigns and pages. To keep floods of them out of tables and responses, an organization gets a limited
// number of distinct keys per local day; later ones are recorded as "(other)".

const OTHER = "(other)";

export const CAPPED_KINDS = ["source", "campaign", "page"] as const;
type CappedKind = (typeof CAPPED_KINDS)[number];

/** Per kind. */
export const KEYS_PER_DAY_MAX = 1_000;

/** Strangers can't invent untagged traffic or (other), so these don't count. */
const FREE_KEYS: Readonly<Record<CappedKind, ReadonlySet<number>>> = {
  source: new Set(
    [
      { source: DIRECT_SOURCE, medium: NO_MEDIUM },
      { source: OTHER, medium: OTHER },
    ].map((tags) => toKeyId("source", toSourceKey(tags))),
  ),
  campaign: new Set([NOT_SET, OTHER].map((key) => toKeyId("campaign", key))),
  page: new Set(["", OTHER].map((key) => toKeyId("page", key))),
};

/** The known distinct keys of one organization's local day. */
export class DayKeys {
  /** Keys that got a place here since the counters were last read. */
  newKeys = 0;
  readonly #known: Readonly<Record<CappedKind, Set<number>>> = {
    source: new Set(),
    campaign: new Set(),
    page: new Set(),
  };
  readonly #keysMax: number;

  constructor(keysMax = KEYS_PER_DAY_MAX) {
    this.#keysMax = keysMax;
  }

  get hasRoom(): boolean {
    return CAPPED_KINDS.some((kind) => this.#known[kind].size < this.#keysMax);
  }

  /** Keys already in the counters stay, however many there are. */
  learn(keys: Iterable<{ kind: CappedKind; key: number }>): void {
    for (const { kind, key } of keys) if (!FREE_KEYS[kind].has(key)) this.#known[kind].add(key);
    this.newKeys = 0;
  }

  holds(visit: VisitFacts): boolean {
    return CAPPED_KINDS.every((kind) => this.#has(kind, toKeyId(kind, toKey(kind, visit))));
  }

  /** The visit as it may be recorded; new keys get a place while there are any left. */
  limit<Visit extends VisitFacts>(visit: Visit): Visit {
    const [keepsSource, keepsCampaign, keepsPage] = [
      this.#keep("source", visit),
      this.#keep("campaign", visit),
      this.#keep("page", visit),
    ];
    if (keepsSource && keepsCampaign && keepsPage) return visit;
    return {
      ...visit,
      source: keepsSource ? visit.source : OTHER,
      medium: keepsSource ? visit.medium : OTHER,
      campaign: keepsCampaign ? visit.campaign : OTHER,
      page: keepsPage ? visit.page : OTHER,
    };
  }

  #has(kind: CappedKind, id: number): boolean {
    return this.#known[kind].has(id) || FREE_KEYS[kind].has(id);
  }

  #keep(kind: CappedKind, visit: VisitFacts): boolean {
    const id = toKeyId(kind, toKey(kind, visit));
    if (this.#has(kind, id)) return true;
    if (this.#known[kind].size >= this.#keysMax) return false;
    this.#known[kind].add(id);
    this.newKeys += 1;
    return true;
  }
}
