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

/** The place of a key that no recorded visit has yet, and how many touches that are under way use it. */
type Place = { readonly kind: CappedKind; readonly id: number; touches: number };

/** The known distinct keys of one organization's local day. */
export class DayKeys {
  /** Keys that got a place here since the counters were last read, even if they lost it again. */
  newKeys = 0;
  readonly #known: Readonly<Record<CappedKind, Set<number>>> = {
    source: new Set(),
    campaign: new Set(),
    page: new Set(),
  };
  /** By key. All of them are known too. */
  readonly #claimed = new Map<number, Place>();
  readonly #keysMax: number;

  constructor(keysMax = KEYS_PER_DAY_MAX) {
    this.#keysMax = keysMax;
  }

  get hasRoom(): boolean {
    return CAPPED_KINDS.some((kind) => this.#known[kind].size < this.#keysMax);
  }

  /** Keys already in the counters stay, however many there are. */
  learn(keys: Iterable<{ kind: CappedKind; key: number }>): void {
    for (const { kind, key } of keys) {
      if (!FREE_KEYS[kind].has(key)) this.#known[kind].add(key);
      this.#claimed.delete(key);
    }
    this.newKeys = 0;
  }

  /** Whether all keys of the visit have a place for good. */
  holds(visit: VisitFacts): boolean {
    return CAPPED_KINDS.every((kind) => {
      const id = toKeyId(kind, toKey(kind, visit));
      return this.#has(kind, id) && !this.#claimed.has(id);
    });
  }

  /** The visit as it may be recorded; new keys get a place for good while there are any left. */
  limit<Visit extends VisitFacts>(visit: Visit): Visit {
    const claim = this.claim(visit);
    this.keep(claim.places);
    return claim.visit;
  }

  /** The same for a visit that may turn out not to be new. Then `release` the places, otherwise `keep` them. */
  claim<Visit extends VisitFacts>(visit: Visit): { visit: Visit; places: readonly Place[] } {
    const places: Place[] = [];
    const [keepsSource, keepsCampaign, keepsPage] = [
      this.#claim("source", visit, places),
      this.#claim("campaign", visit, places),
      this.#claim("page", visit, places),
    ];
    if (keepsSource && keepsCampaign && keepsPage) return { visit, places };
    const limited = {
      ...visit,
      source: keepsSource ? visit.source : OTHER,
      medium: keepsSource ? visit.medium : OTHER,
      campaign: keepsCampaign ? visit.campaign : OTHER,
      page: keepsPage ? visit.page : OTHER,
    };
    return { visit: limited, places };
  }

  keep(places: readonly Place[]): void {
    for (const { id } of places) this.#claimed.delete(id);
  }

  /** Other touches that use the same place may still be recorded, or have been. */
  release(places: readonly Place[]): void {
    for (const place of places) {
      place.touches -= 1;
      if (place.touches > 0 || this.#claimed.get(place.id) !== place) continue;
      this.#claimed.delete(place.id);
      this.#known[place.kind].delete(place.id);
    }
  }

  #has(kind: CappedKind, id: number): boolean {
    return this.#known[kind].has(id) || FREE_KEYS[kind].has(id);
  }

  #claim(kind: CappedKind, visit: VisitFacts, places: Place[]): boolean {
    const id = toKeyId(kind, toKey(kind, visit));
    let place = this.#claimed.get(id);
    if (!place) {
      if (this.#has(kind, id)) return true;
      if (this.#known[kind].size >= this.#keysMax) return false;
      place = { kind, id, touches: 0 };
      this.#known[kind].add(id);
      this.#claimed.set(id, place);
      this.newKeys += 1;
    }
    place.touches += 1;
    places.push(place);
    return true;
  }
}
