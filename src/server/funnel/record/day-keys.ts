import { DIRECT_SOURCE, NO_MEDIUM, NOT_SET } from "../classify/channel-rules.ts";
import { toSourceKey } from "../classify/classify-source.ts";
import type { VisitClass } from "./touch.ts";

// Anybody can make up campaigns. So that a flood of them fills neither tables nor answers, an organization gets a limited
// number of distinct keys a local day; what comes after that is recorded as "(other)". The replacement happens before
// recording, because the events are the truth that counters are rebuilt from.

const OTHER = "(other)";
/** Of source / medium pairs, and again of campaigns. */
export const KEYS_PER_DAY_MAX = 1_000;

type Kind = "source" | "campaign";

export type DayKey = { kind: Kind; key: string };

/** Traffic without a tag is nobody's invention, and (other) is ours: neither takes a place. */
const FREE_KEYS: Readonly<Record<Kind, ReadonlySet<string>>> = {
  source: new Set([
    toSourceKey({ source: DIRECT_SOURCE, medium: NO_MEDIUM }),
    toSourceKey({ source: OTHER, medium: OTHER }),
  ]),
  campaign: new Set([NOT_SET, OTHER]),
};

/** The distinct keys of one organization's local day, as far as they are known here. */
export class DayKeys {
  /** Of all keys together. */
  characters = 0;
  /** Keys that were given a place here since the counters were last read. */
  newKeys = 0;
  readonly #known: Readonly<Record<Kind, Set<string>>> = { source: new Set(), campaign: new Set() };
  readonly #keysMax: number;

  constructor(keysMax = KEYS_PER_DAY_MAX) {
    this.#keysMax = keysMax;
  }

  get hasRoom(): boolean {
    return this.#known.source.size < this.#keysMax || this.#known.campaign.size < this.#keysMax;
  }

  /** What the counters have: those keys have their place, however many they are. */
  learn(keys: Iterable<DayKey>): void {
    for (const { kind, key } of keys) if (!this.#has(kind, key)) this.#add(kind, key);
    this.newKeys = 0;
  }

  holds(visit: VisitClass): boolean {
    return this.#has("source", toSourceKey(visit)) && this.#has("campaign", visit.campaign);
  }

  /** The class as it may be recorded; what is new gets a place while there is one. */
  limit(visit: VisitClass): VisitClass {
    const keepsSource = this.#keep("source", toSourceKey(visit));
    const keepsCampaign = this.#keep("campaign", visit.campaign);
    return {
      source: keepsSource ? visit.source : OTHER,
      medium: keepsSource ? visit.medium : OTHER,
      campaign: keepsCampaign ? visit.campaign : OTHER,
      channel: visit.channel,
    };
  }

  #has(kind: Kind, key: string): boolean {
    return this.#known[kind].has(key) || FREE_KEYS[kind].has(key);
  }

  #keep(kind: Kind, key: string): boolean {
    if (this.#has(kind, key)) return true;
    if (this.#known[kind].size >= this.#keysMax) return false;
    this.#add(kind, key);
    this.newKeys += 1;
    return true;
  }

  #add(kind: Kind, key: string): void {
    this.#known[kind].add(key);
    this.characters += key.length;
  }
}
