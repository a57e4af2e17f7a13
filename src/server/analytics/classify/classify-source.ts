import { CLICK_ID_FIELDS, type RawAttribution } from "#contract/analytics/attribution.ts";
import type { ClickIdField } from "#contract/analytics/attribution-fields.ts";
import { type Channel, NOT_SET } from "#contract/analytics/dimensions.ts";
import { AI_MEDIUM, DIRECT_SOURCE, NO_MEDIUM, type Tags, toChannel } from "./channel-rules.ts";
import { isSpamReferrer, isUnwantedReferrer, parseOwnHost, parseReferrer, type Referrer, toSite } from "./referrer.ts";
import { findByApp, findByHost, findByName } from "./source-lookup.ts";
import { PAID_CLICK_IDS, type SourceCategory } from "./source-tables.ts";
import { parseLowerCaseTag, parseTag } from "./tag.ts";

// Where a visit came from, in four steps whose rules are numbered by their letter: (A) clean the tags, (B) drop referrers that
// say nothing, (C) name source, medium and campaign, (D) derive the channel from those three. Paid evidence that is not a tag
// (click ids, a source called "fb-ads") becomes the medium `cpc` in C, so that D needs nothing else and imports can use it too.
// Only the presence of click ids is used: their values never appear in the result.

export type Classification = Tags & { readonly channel: Channel };

export type SiteHosts = {
  /** The page that embeds the widget. Referrers on the same site, including sub-domains, are self-referrals. */
  readonly pageHosts: readonly string[];
  /** The organization's other hosts (other widgets, its booking page, our own BASE_URL). Matched whole. */
  readonly ownHosts: readonly string[];
};

// Everything the rules read. classify-visit.ts caches results by these fields, so a rule that reads another field must list it
// here.
export const TAG_FIELDS = ["utmSource", "utmMedium", "utmCampaign"] as const;
export const ADDRESS_FIELDS = ["referrer", "landingPage", "currentPage"] as const;
/** Browsers and mail programs strip gclid from a Google ad, but not these. Only their presence counts. */
export const GOOGLE_AD_FIELDS = ["gadSource", "gadCampaignid"] as const;

type RawTouch = Pick<
  RawAttribution,
  (typeof TAG_FIELDS | typeof ADDRESS_FIELDS | typeof GOOGLE_AD_FIELDS)[number] | ClickIdField
>;

type NamedSource = { readonly source: string; readonly category: SourceCategory | null };

type Evidence = {
  readonly utmSource: (NamedSource & { readonly isPaid: boolean }) | null;
  readonly utmMedium: string | null;
  readonly utmCampaign: string | null;
  /** The network whose paid click id the link carried. */
  readonly paidClick: string | null;
  readonly hasFbclid: boolean;
  readonly referrer: NamedSource | null;
};

/** Real click ids have 20 or more characters; a test value ("abc") must not empty every tag that contains it. */
export const CLICK_ID_MIN_LENGTH = 16;

/** The click ids of the touch that are long enough to be real. */
export function listClickIds(touch: RawAttribution): string[] {
  return CLICK_ID_FIELDS.flatMap((field) => touch[field] ?? []).filter((id) => id.length >= CLICK_ID_MIN_LENGTH);
}

/** Tracking templates such as `utm_campaign={gclid}` exist, so any text may contain one of the touch's click ids. */
export function toClickIdTest(touch: Pick<RawAttribution, ClickIdField>): (text: string) => boolean {
  const clickIds = CLICK_ID_FIELDS.flatMap((field) => parseTag(touch[field])?.toLowerCase() ?? []);
  const secrets = clickIds
    .filter((id) => id.length >= CLICK_ID_MIN_LENGTH)
    // Their beginning is enough: long tags are cut.
    .map((id) => id.slice(0, CLICK_ID_MIN_LENGTH));
  return (text) => secrets.some((secret) => text.toLowerCase().includes(secret));
}

/** Rules C1 to C12, read from the top; the first match wins. The campaign is utm_campaign in all of them. */
const SOURCE_RULES: readonly ((evidence: Evidence) => { source: string; medium: string } | null)[] = [
  // C1: a tagged source beats click ids and the referrer; without a medium, C1b finds one.
  (e) => e.utmSource && { source: e.utmSource.source, medium: e.utmMedium ?? impliedMedium(e) },
  // C2 to C5: an untagged ad.
  (e) => (e.paidClick === null ? null : { source: e.paidClick, medium: e.utmMedium ?? "cpc" }),
  // C6: tagged, but without a source.
  (e) =>
    e.utmMedium === null && e.utmCampaign === null
      ? null
      : { source: e.referrer?.source ?? NOT_SET, medium: e.utmMedium ?? NOT_SET },
  // C7: fbclid alone is not paid.
  (e) =>
    e.hasFbclid ? { source: e.referrer?.source === "instagram" ? "instagram" : "facebook", medium: "referral" } : null,
  // C8 to C11: the referrer alone.
  (e) => (e.referrer?.category === "ai" ? { source: e.referrer.source, medium: AI_MEDIUM } : null),
  (e) => (e.referrer?.category === "search" ? { source: e.referrer.source, medium: "organic" } : null),
  (e) => (e.referrer?.category === "email" ? { source: e.referrer.source, medium: "email" } : null),
  (e) => e.referrer && { source: e.referrer.source, medium: "referral" },
];

/** C12: nothing is known. */
const DIRECT = { source: DIRECT_SOURCE, medium: NO_MEDIUM };

export function classifySource(touch: RawTouch, site: SiteHosts): Classification {
  const evidence = gatherEvidence(touch, site);
  const tags = { ...nameSource(evidence), campaign: evidence.utmCampaign };
  return { ...tags, channel: toChannel(tags) };
}

/** True if the FunnelEvent must be dropped. A booking is kept whatever its referrer; classifySource ignores such a host. */
export function hasSpamReferrer(touch: Pick<RawAttribution, "referrer">): boolean {
  const referrer = parseReferrer(touch.referrer);
  return referrer !== null && isSpamReferrer(referrer);
}

export function toSourceKey(tags: Pick<Tags, "source" | "medium">): string {
  return `${tags.source} / ${tags.medium}`;
}

export function toCampaignKey(campaign: string | null): string {
  return campaign ?? NOT_SET;
}

function nameSource(evidence: Evidence): { source: string; medium: string } {
  for (const rule of SOURCE_RULES) {
    const found = rule(evidence);
    if (found) return found;
  }
  return DIRECT;
}

function gatherEvidence(touch: RawTouch, site: SiteHosts): Evidence {
  const hasClickId = (field: ClickIdField) => parseTag(touch[field]) !== null;
  const containsClickId = toClickIdTest(touch);
  const withoutClickIds = (tag: string | null) => (tag !== null && containsClickId(tag) ? null : tag);

  const hasGoogleAd = GOOGLE_AD_FIELDS.some((field) => parseTag(touch[field]) !== null);
  const utmSource = withoutClickIds(parseLowerCaseTag(touch.utmSource));
  const referrer = withoutNoise(parseReferrer(touch.referrer), touch, site);
  return {
    utmSource: utmSource === null ? null : nameTag(utmSource),
    utmMedium: withoutClickIds(parseLowerCaseTag(touch.utmMedium)),
    utmCampaign: withoutClickIds(parseTag(touch.utmCampaign)),
    paidClick: PAID_CLICK_IDS.find((paid) => paid.fields.some(hasClickId))?.source ?? (hasGoogleAd ? "google" : null),
    hasFbclid: hasClickId("fbclid"),
    referrer: referrer === null || withoutClickIds(referrer.host) === null ? null : nameReferrer(referrer),
  };
}

/** C1b: the medium of a tagged source without one. */
function impliedMedium(e: Evidence): string {
  if (e.paidClick !== null || e.utmSource?.isPaid) return "cpc";
  return e.utmSource?.category === "ai" ? AI_MEDIUM : NOT_SET;
}

/** Step B. The landing page may be on a different site of the same customer than the widget's page. */
function withoutNoise(referrer: Referrer | null, touch: RawTouch, site: SiteHosts): Referrer | null {
  if (referrer === null || isUnwantedReferrer(referrer) || isSpamReferrer(referrer)) return null;
  if (referrer.kind === "app") return referrer;
  const pages = [...site.pageHosts, touch.landingPage, touch.currentPage].map(parseOwnHost);
  const ownSite = toSite(referrer.host);
  const isOwn =
    pages.some((page) => page !== null && toSite(page) === ownSite) ||
    site.ownHosts.some((own) => parseOwnHost(own) === referrer.host);
  return isOwn ? null : referrer;
}

function nameTag(utmSource: string): NamedSource & { isPaid: boolean } {
  const found = findByName(utmSource);
  if (!found) return { source: utmSource, category: null, isPaid: false };
  return { source: found.known.source, category: found.known.category, isPaid: found.isPaid };
}

function nameReferrer(referrer: Referrer): NamedSource {
  // Some apps say android-app:// before the host of their website.
  const known = (referrer.kind === "app" ? findByApp(referrer.host) : null) ?? findByHost(referrer.host);
  return known ?? { source: referrer.host, category: null };
}
