import { dotSuffixes, hasHostShape, isHostIn } from "./source-lookup.ts";
import {
  SECOND_LEVEL_LABELS,
  SECOND_LEVEL_LABELS_BY_COUNTRY,
  SHARED_HOST_SUFFIXES,
  SPAM_REFERRER_HOSTS,
  UNWANTED_REFERRER_HOSTS,
} from "./source-tables.ts";
import { RAW_MAX_CODE_UNITS } from "./tag.ts";

/** Where a link was followed: a web host (lower case, punycode, without `www.` and port) or an Android package id. */
export type Referrer = { readonly kind: "web" | "app"; readonly host: string };

const unwantedHosts = new Set(UNWANTED_REFERRER_HOSTS);
const spamHosts = new Set(SPAM_REFERRER_HOSTS);
const sharedSuffixes = new Set(SHARED_HOST_SUFFIXES);
const secondLevelLabels = new Set(SECOND_LEVEL_LABELS);

/** Null for anything that can't be on the public web: other schemes, IP addresses, localhost, nonsense. */
export function parseReferrer(text: string | undefined): Referrer | null {
  const url = URL.parse((text ?? "").slice(0, RAW_MAX_CODE_UNITS));
  if (url?.protocol === "android-app:") {
    const host = url.hostname.toLowerCase();
    return hasHostShape(host) ? { kind: "app", host } : null;
  }
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return null;
  const host = toPublicHost(url.hostname);
  return host === null ? null : { kind: "web", host };
}

/** A customer's host, origin or whole URL; null if it has no public host. */
export function parseOwnHost(text: string | undefined): string | null {
  const start = (text ?? "").slice(0, RAW_MAX_CODE_UNITS);
  const url = URL.parse(start.includes("://") ? start : `https://${start}`);
  return url ? toPublicHost(url.hostname) : null;
}

/** The visitor only passed through it (sign-in, payment), so this referrer says nothing. */
export function isUnwantedReferrer(referrer: Referrer): boolean {
  return referrer.kind === "web" && isHostIn(referrer.host, unwantedHosts);
}

/** Rule B: collection drops the whole FunnelEvent and counts the reason. */
export function isSpamReferrer(referrer: Referrer): boolean {
  return referrer.kind === "web" && isHostIn(referrer.host, spamHosts);
}

/**
 * The approximate registrable domain: shop.example.co.uk -> example.co.uk. Two short tables instead of the public-suffix list, which
 * every installation would have to keep up to date. A missing suffix makes a site too wide, never too narrow: a visit between
 * neighbours is Direct instead of Referral, and a site is never listed as its own source.
 */
export function toSite(host: string): string {
  const suffixes = [...dotSuffixes(host)];
  const shared = suffixes.findIndex((suffix) => sharedSuffixes.has(suffix));
  if (shared !== -1) return suffixes[Math.max(0, shared - 1)] ?? host;
  const labels = host.split(".");
  const country = labels.at(-1) ?? "";
  const secondLevel = labels.at(-2) ?? "";
  const isTwoLabelSuffix =
    country.length === 2 &&
    (secondLevelLabels.has(secondLevel) || (SECOND_LEVEL_LABELS_BY_COUNTRY[country]?.includes(secondLevel) ?? false));
  return labels.slice(isTwoLabelSuffix ? -3 : -2).join(".");
}

function toPublicHost(hostname: string): string | null {
  const host = hostname.replace(/\.$/, "").replace(/^www\.(?=[^.]+\.)/, "");
  if (!hasHostShape(host)) return null;
  // URL writes every form of an IPv4 address as dotted digits; no top-level domain is all digits, localhost or local.
  return /\.(?:\d+|localhost|local)$/.test(host) ? null : host;
}
