import type { IncomingHttpHeaders } from "node:http";
import { CLICK_ID_NAMES, type RawAttribution } from "#contract/attribution.ts";

const IDENTIFIERS = [...CLICK_ID_NAMES, "gaClientId", "fbp", "fbc"] as const;
const ADDRESSES = ["landingPage", "currentPage", "referrer"] as const;

/**
 * What may be kept of a visitor whose browser says Global Privacy Control or Do Not Track: nothing that tells one click or
 * one browser from another. The loader leaves it out by itself; whoever calls without the loader is held to the same.
 */
export function honourPrivacySignal(headers: IncomingHttpHeaders, raw: RawAttribution): RawAttribution {
  if (headers["sec-gpc"] !== "1" && headers["dnt"] !== "1") return raw;
  const kept = { ...raw };
  for (const name of IDENTIFIERS) delete kept[name];
  for (const name of ADDRESSES) if (kept[name] !== undefined) kept[name] = withCampaignOnly(kept[name]);
  return kept;
}

/** Click ids stand in the addresses too. */
function withCampaignOnly(address: string): string {
  const url = URL.parse(address);
  if (url === null) return "";
  // Set once: deleting parameters one by one takes quadratic time.
  url.search = new URLSearchParams([...url.searchParams].filter(([name]) => name.startsWith("utm_"))).toString();
  url.hash = "";
  return url.href;
}
