import type { IncomingHttpHeaders } from "node:http";
import { IDENTIFIER_FIELDS, RawAttribution } from "#contract/analytics/attribution.ts";
import { EMAIL_IN_TEXT } from "#contract/analytics/attribution-fields.ts";
import { ADDRESS_FIELDS, TAG_FIELDS, toClickIdTest } from "./classify-source.ts";
import { redactAddress } from "./page.ts";
import { parseTag } from "./tag.ts";

/** Maximum length of a text; longer ones are truncated. Longer than any address that browsers and servers handle. */
export const ATTRIBUTION_TEXT_MAX = 2_048;
export const TOUCHES_MAX = 1_000_000;

const IDENTIFIERS: ReadonlySet<string> = new Set(IDENTIFIER_FIELDS);
const NAMES = Object.keys(RawAttribution.properties) as readonly (keyof RawAttribution)[];

/**
 * The usable part of the attribution that a browser sent. It can never fail an event or a booking: unknown fields and
 * fields of the wrong type are ignored, texts are truncated, over-long identifiers are dropped, and landingPage must be
 * a web address.
 */
export function readAttribution(value: unknown): RawAttribution {
  if (typeof value !== "object" || value === null) return {};
  const sent = value as Readonly<Record<string, unknown>>;
  const read: { -readonly [Name in keyof RawAttribution]: RawAttribution[Name] } = {};
  for (const name of NAMES) {
    const member = sent[name];
    if (name === "touches") {
      const touches = readTouches(member);
      if (touches !== null) read.touches = touches;
    } else if (typeof member === "string") {
      // Campaign names are truncated, identifiers are not: half an identifier would be wrong.
      if (member.length > ATTRIBUTION_TEXT_MAX && IDENTIFIERS.has(name)) continue;
      const text = toCleanText(member);
      if (text !== "" && (name !== "landingPage" || isWebAddress(text))) read[name] = text;
    }
  }
  return read;
}

/** Nothing that PostgreSQL cannot store. */
function toCleanText(text: string): string {
  const cut = text.length > ATTRIBUTION_TEXT_MAX ? text.slice(0, ATTRIBUTION_TEXT_MAX) : text;
  return cut.includes("\0") || !cut.isWellFormed() ? cut.replaceAll("\0", "").toWellFormed() : cut;
}

function readTouches(value: unknown): number | null {
  if (typeof value !== "number" || !(value >= 0)) return null;
  return Math.min(Math.floor(value), TOUCHES_MAX);
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

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

const addressFields: ReadonlySet<string> = new Set(ADDRESS_FIELDS);

/** For attribution that is stored with a booking. Events store neither these addresses nor the tags as they were sent. */
export function redactAttribution(raw: RawAttribution): RawAttribution {
  const kept = Object.entries(raw).flatMap(([name, value]) => {
    if (typeof value !== "string") return [[name, value]];
    if (addressFields.has(name)) return [[name, redactAddress(value)]];
    return EMAIL_IN_TEXT.test(value) ? [] : [[name, value]];
  });
  return Object.fromEntries(kept);
}
