import type { IncomingHttpHeaders } from "node:http";
import type { RawAttribution } from "#contract/attribution.ts";
import { IDENTIFIER_FIELDS } from "#contract/identifier-fields.ts";
import { ADDRESS_FIELDS, TAG_FIELDS, toClickIdTest } from "./classify-source.ts";
import { parseTag } from "./tag.ts";

const TAGS = [...TAG_FIELDS, "utmTerm", "utmContent"] as const;

/**
 * What may be kept about a visitor whose browser sends Global Privacy Control or Do Not Track: nothing that
 * distinguishes one click or one browser from another. The loader already leaves it out; this applies the same rule to
 * callers without the loader.
 */
export function honourPrivacySignal(headers: IncomingHttpHeaders, raw: RawAttribution): RawAttribution {
  if (headers["sec-gpc"] !== "1" && headers["dnt"] !== "1") return raw;
  const kept = { ...raw };
  const containsClickId = toClickIdTest(raw);
  for (const name of IDENTIFIER_FIELDS) delete kept[name];
  for (const name of TAGS) {
    const tag = kept[name];
    if (tag !== undefined && (containsClickId(tag) || containsClickId(parseTag(tag) ?? ""))) delete kept[name];
  }
  for (const name of ADDRESS_FIELDS)
    if (kept[name] !== undefined) kept[name] = withCampaignOnly(kept[name], containsClickId);
  return kept;
}

/** Addresses contain click ids too. */
function withCampaignOnly(address: string, containsClickId: (text: string) => boolean): string {
  const url = URL.parse(address);
  if (url === null || containsClickId(url.host)) return "";
  if (containsClickId(url.pathname)) url.pathname = "";
  const kept = [...url.searchParams].filter(([name, value]) => name.startsWith("utm_") && !containsClickId(value));
  // Set once: deleting parameters one by one takes quadratic time.
  url.search = new URLSearchParams(kept).toString();
  url.hash = "";
  return url.href;
}
