import { CLICK_ID_FIELDS, type RawAttribution } from "#contract/analytics/attribution.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { VisitClass } from "../record/hit.ts";
import {
  ADDRESS_FIELDS,
  CLICK_ID_MIN_LENGTH,
  classifySource,
  GOOGLE_AD_FIELDS,
  hasSpamReferrer,
  TAG_FIELDS,
  toCampaignKey,
} from "./classify-source.ts";
import { parseTag } from "./tag.ts";

// Most visits of a day arrive in a few ways, so results are cached. The cache key contains only what the result depends
// on: the tags, the hosts, and which click ids were present. So neither click ids nor queries are kept here.

type Visit = { readonly raw: RawAttribution; readonly page: string; readonly ownHosts: readonly string[] };

type ClassifiedVisit = VisitClass & { readonly isSpam: boolean };

const VISITS_KEPT = 5_000;
/** Strangers choose these texts, and must not fill the memory with long ones. */
const CACHED_LENGTH_MAX = 1_000;
const PLAIN_WORD = /^[!-~]+$/;
const PLAIN_TEXT = /^[ -~]*$/;
/** Replaces a value whose presence is all that counts. Short, so that no tag appears to contain it. */
const PRESENT = "1";

const FIELDS = [...TAG_FIELDS, ...ADDRESS_FIELDS, ...GOOGLE_AD_FIELDS, ...CLICK_ID_FIELDS] as const;

export class VisitClassifier {
  readonly #classified = new RecentMap<string, ClassifiedVisit>(VISITS_KEPT);

  classify({ raw, page, ownHosts }: Visit): ClassifiedVisit {
    const input = toInput(raw);
    // A tag that contains a click id is rare, and its result depends on that click id.
    if (input === null) return classify({ raw, page, ownHosts });
    const visit = { raw: input, page: cutToHost(page), ownHosts };
    const key = toKey(visit);
    if (key === null) return classify(visit);
    const known = this.#classified.get(key);
    if (known) return known;
    const classified = classify(visit);
    this.#classified.set(key, classified);
    return classified;
  }
}

function classify({ raw, page, ownHosts }: Visit): ClassifiedVisit {
  const { source, medium, campaign, channel } = classifySource(raw, { pageHosts: [page], ownHosts });
  return { source, medium, campaign: toCampaignKey(campaign), channel, isSpam: hasSpamReferrer(raw) };
}

/** Null if a tag may contain a click id. */
function toInput(raw: RawAttribution): RawAttribution | null {
  const input: Record<string, string> = {};
  for (const field of TAG_FIELDS) {
    const tag = raw[field];
    if (tag !== undefined) input[field] = tag;
  }
  for (const field of ADDRESS_FIELDS) {
    const address = raw[field];
    if (address !== undefined) input[field] = cutToHost(address);
  }
  for (const field of CLICK_ID_FIELDS) {
    const clickId = raw[field];
    if (clickId === undefined || parseTag(clickId) === null) continue;
    if (mayContain(input, clickId)) return null;
    input[field] = PRESENT;
  }
  for (const field of GOOGLE_AD_FIELDS) if (parseTag(raw[field]) !== null) input[field] = PRESENT;
  return input;
}

/** Also true when in doubt: the rules clean some texts before they compare them. */
function mayContain(input: Readonly<Record<string, string>>, clickId: string): boolean {
  if (!PLAIN_WORD.test(clickId)) return true;
  const needle = clickId.slice(0, CLICK_ID_MIN_LENGTH).toLowerCase();
  return Object.values(input).some((text) => !PLAIN_TEXT.test(text) || text.toLowerCase().includes(needle));
}

/** Scheme and host of an address as it was sent. Truncating never turns an invalid URL into a valid one. */
export function cutToHost(address: string): string {
  const slash = address.indexOf("/");
  const start = slash > 0 && address.startsWith("://", slash - 1) ? slash + 2 : 0;
  for (let i = start; i < address.length; i++) {
    const letter = address.charCodeAt(i);
    // / ? # \
    if (letter === 47 || letter === 63 || letter === 35 || letter === 92) return address.slice(0, i);
  }
  return address;
}

/** Each text follows its length, so that one text can't be mistaken for two. Null if the visit's texts are too long to cache. */
function toKey({ raw, page, ownHosts }: Visit): string | null {
  let key = `${page.length} ${page}`;
  for (const field of FIELDS) {
    const text = raw[field];
    key += text === undefined ? "-" : `${text.length} ${text}`;
  }
  if (key.length > CACHED_LENGTH_MAX) return null;
  for (const own of ownHosts) key += `${own.length} ${own}`;
  return key;
}
