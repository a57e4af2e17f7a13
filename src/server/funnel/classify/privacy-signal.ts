import type { IncomingHttpHeaders } from "node:http";
import { CLICK_ID_NAMES, type RawAttribution } from "#contract/attribution.ts";

const IDENTIFIERS = [...CLICK_ID_NAMES, "gaClientId", "fbp", "fbc"] as const;
const ADDRESSES = ["landingPage", "currentPage", "referrer"] as const;

/**
 * What may be kept about a visitor whose browser sends Global Privacy Control or Do Not Track: nothing that
 * distinguishes one click or one browser from another. The loader already leaves it out; this applies the same rule to
 * callers without the loader.
 */
export function honourPrivacySignal(headers: IncomingHttpHeaders, raw: RawAttribution): RawAttribution {
  if (headers["sec-gpc"] !== "1" && headers["dnt"] !== "1") return raw;
  const kept = { ...raw };
  for (const name of IDENTIFIERS) delete kept[name];
  for (const name of ADDRESSES) if (kept[name] !== undefined) kept[name] = withCampaignOnly(kept[name]);
  return kept;
}

/** Addresses contain click ids too. */
function withCampaignOnly(address: string): string {
  const url = URL.parse(address);
  if (url === null) return "";
  // Set once: deleting parameters one by one takes quadratic time.
  url.search = new URLSearchParams([...url.searchParams].filter(([name]) => name.startsWith("utm_"))).toString();
  url.hash = "";
  return url.href;
}
