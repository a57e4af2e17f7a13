import type { RawAttribution } from "#contract/attribution.ts";

/** On the direct page no loader is there to say where the visitor came from: its own address does. */
const PARAMETERS = {
  utm_source: "utmSource",
  utm_medium: "utmMedium",
  utm_campaign: "utmCampaign",
  utm_term: "utmTerm",
  utm_content: "utmContent",
  gclid: "gclid",
  gbraid: "gbraid",
  wbraid: "wbraid",
  fbclid: "fbclid",
  msclkid: "msclkid",
  li_fat_id: "liFatId",
  ttclid: "ttclid",
  gad_source: "gadSource",
  gad_campaignid: "gadCampaignid",
} as const satisfies Record<string, keyof RawAttribution>;

const VALUE_LENGTH_MAX = 300;

export function readPageAttribution(page: {
  address: string;
  referrer: string;
  /** Global Privacy Control or Do Not Track: then nothing that tells one person from another. */
  isPrivate: boolean;
}): RawAttribution {
  const url = new URL(page.address);
  const attribution: RawAttribution = {};
  const kept = new URLSearchParams();
  for (const [parameter, name] of Object.entries(PARAMETERS)) {
    const value = url.searchParams.get(parameter);
    // Over-long values are dropped: half a click id would be a wrong one.
    if (!value || value.length > VALUE_LENGTH_MAX || value.includes("@")) continue;
    if (page.isPrivate && !/^(utm|gad)_/.test(parameter)) continue;
    attribution[name] = value;
    kept.set(parameter, value);
  }
  const query = kept.size > 0 ? `?${kept}` : "";
  attribution.landingPage = url.origin + url.pathname + query;
  attribution.currentPage = url.origin + url.pathname;
  if (/^https?:/.test(page.referrer) && URL.canParse(page.referrer)) {
    const referrer = new URL(page.referrer);
    if (referrer.origin !== url.origin) attribution.referrer = referrer.origin + referrer.pathname;
  }
  return attribution;
}
