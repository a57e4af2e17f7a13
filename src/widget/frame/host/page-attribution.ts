import type { RawAttribution } from "#contract/attribution.ts";
import { EMAIL_IN_TEXT } from "#contract/email-in-text.ts";

/** The direct page has no loader, so its own address says where the visitor came from. */
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
const ADDRESS_LENGTH_MAX = 1_000;

export function readPageAttribution(page: {
  address: string;
  referrer: string;
  /** With Global Privacy Control or Do Not Track, nothing that identifies a person is kept. */
  isPrivate: boolean;
}): RawAttribution {
  const url = new URL(page.address);
  const attribution: RawAttribution = {};
  const kept = new URLSearchParams();
  // Tags may contain them too: tracking templates such as `utm_campaign={gclid}` exist.
  const clickIds = Object.keys(PARAMETERS)
    .filter((parameter) => !/^(utm|gad)_/.test(parameter))
    .flatMap((parameter) => url.searchParams.get(parameter) || []);
  for (const [parameter, name] of Object.entries(PARAMETERS)) {
    const value = url.searchParams.get(parameter);
    // Values that are too long are dropped, because a truncated click id would be wrong.
    if (!value || value.length > VALUE_LENGTH_MAX || EMAIL_IN_TEXT.test(value)) continue;
    if (page.isPrivate && clickIds.some((id) => value.includes(id))) continue;
    attribution[name] = value;
    kept.set(parameter, value);
  }
  const place = url.origin + url.pathname;
  const whole = kept.size > 0 ? `${place}?${kept}` : place;
  attribution.landingPage = whole.length > ADDRESS_LENGTH_MAX ? place : whole;
  attribution.currentPage = place;
  if (/^https?:/.test(page.referrer) && URL.canParse(page.referrer)) {
    const referrer = new URL(page.referrer);
    if (referrer.origin !== url.origin)
      attribution.referrer = referrer.origin + (EMAIL_IN_TEXT.test(referrer.pathname) ? "/" : referrer.pathname);
  }
  return attribution;
}
