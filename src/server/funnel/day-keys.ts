import { DIRECT_SOURCE, NO_MEDIUM, NOT_SET } from "./channel-rules.ts";
import { toSourceKey } from "./classify-source.ts";
import { KEYS_PER_DAY_MAX, OTHER } from "./key-cap.ts";
import type { VisitClass } from "./touch.ts";

type CappedKind = "source" | "campaign";

export type DayKey = { kind: CappedKind; key: string };

/** Traffic without a tag, and what is beyond the limit, always have their place. */
const ALWAYS_KEPT: Readonly<Record<CappedKind, readonly string[]>> = {
  source: [toSourceKey({ source: DIRECT_SOURCE, medium: NO_MEDIUM }), toSourceKey({ source: OTHER, medium: OTHER })],
  campaign: [NOT_SET, OTHER],
};

/** The distinct sources and campaigns of one organization's local day; those beyond the limit become "(other)". */
export class DayKeys {
  readonly #known: Readonly<Record<CappedKind, Set<string>>> = { source: new Set(), campaign: new Set() };
  readonly #keysMax: number;

  constructor(known: Iterable<DayKey>, keysMax = KEYS_PER_DAY_MAX) {
    this.#keysMax = keysMax;
    for (const { kind, key } of known) if (!ALWAYS_KEPT[kind].includes(key)) this.#known[kind].add(key);
  }

  limit(visit: VisitClass): VisitClass {
    const keepsSource = this.#keeps("source", toSourceKey(visit));
    const keepsCampaign = this.#keeps("campaign", visit.campaign);
    return {
      source: keepsSource ? visit.source : OTHER,
      medium: keepsSource ? visit.medium : OTHER,
      campaign: keepsCampaign ? visit.campaign : OTHER,
      channel: visit.channel,
    };
  }

  #keeps(kind: CappedKind, key: string): boolean {
    const known = this.#known[kind];
    if (known.has(key) || ALWAYS_KEPT[kind].includes(key)) return true;
    if (known.size >= this.#keysMax) return false;
    known.add(key);
    return true;
  }
}
