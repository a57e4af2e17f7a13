import { NOT_SET } from "#contract/analytics/dimensions.ts";
import { DIRECT_SOURCE, NO_MEDIUM } from "../classify/channel-rules.ts";
import { toSourceKey } from "../classify/classify-source.ts";
import type { VisitFacts } from "./hit.ts";
import { toKey, toKeyId } from "./key-id.ts";

// Anyone can invent sources, campaigns and pages. To keep floods of them out of tables and responses, a day has a limited number
// of new ones; the rest is recorded as "(other)".

const OTHER = "(other)";

export const CAPPED_KINDS = ["source", "campaign", "page"] as const;
export type CappedKind = (typeof CAPPED_KINDS)[number];

export type CappedKey = { readonly kind: CappedKind; readonly id: number };

/** The number of "(other)" among the keys of each kind. */
export const OTHER_IDS: Readonly<Record<CappedKind, number>> = {
  source: toKeyId("source", toSourceKey({ source: OTHER, medium: OTHER })),
  campaign: toKeyId("campaign", OTHER),
  page: toKeyId("page", OTHER),
};

/** Strangers can't invent untagged traffic or (other), so these are never limited. */
const FREE_KEYS: Readonly<Record<CappedKind, ReadonlySet<number>>> = {
  source: new Set([toKeyId("source", toSourceKey({ source: DIRECT_SOURCE, medium: NO_MEDIUM })), OTHER_IDS.source]),
  campaign: new Set([toKeyId("campaign", NOT_SET), OTHER_IDS.campaign]),
  page: new Set([toKeyId("page", ""), OTHER_IDS.page]),
};

/** The visit's keys that a stranger could have invented and that are not known. */
export function listUnknownKeys(visit: VisitFacts, isKnown: (kind: CappedKind, id: number) => boolean): CappedKey[] {
  const unknown: CappedKey[] = [];
  for (const kind of CAPPED_KINDS) {
    const id = toKeyId(kind, toKey(kind, visit));
    if (!FREE_KEYS[kind].has(id) && !isKnown(kind, id)) unknown.push({ kind, id });
  }
  return unknown;
}

/** The visit, with the better keys where its own are "(other)". */
export function replaceOther<Visit extends VisitFacts>(visit: Visit, better: VisitFacts): Visit {
  return {
    ...visit,
    ...(visit.source === OTHER && visit.medium === OTHER ? { source: better.source, medium: better.medium } : {}),
    ...(visit.campaign === OTHER ? { campaign: better.campaign } : {}),
    ...(visit.page === OTHER ? { page: better.page } : {}),
  };
}

/** The visit with "(other)" for these keys. */
export function toOther<Visit extends VisitFacts>(visit: Visit, keys: readonly CappedKey[]): Visit {
  if (keys.length === 0) return visit;
  const kinds = new Set(keys.map(({ kind }) => kind));
  return {
    ...visit,
    ...(kinds.has("source") ? { source: OTHER, medium: OTHER } : {}),
    ...(kinds.has("campaign") ? { campaign: OTHER } : {}),
    ...(kinds.has("page") ? { page: OTHER } : {}),
  };
}
