import { EMAIL_IN_TEXT } from "#contract/analytics/attribution-fields.ts";

// Campaign tags come from strangers' links. The result is safe to store and compare: well-formed text without control
// characters, in NFC, with single spaces, cut to a length. The loader has already decoded percent-encoding and "+"
// (URLSearchParams), so nothing is decoded here: "50%25 off" is a literal name.

export const TAG_MAX_CODE_POINTS = 100;

/** The rest is ignored, so a hostile text costs no more than a long ordinary one. */
export const RAW_MAX_CODE_UNITS = 2048;

/** Most tags are already clean and skip cleanText. */
const CLEAN_ASCII = /^[!-~]+(?: [!-~]+)*$/;

const ABSENT_WORDS = new Set(["", "null", "undefined", "(not set)"]);

const WEB_ADDRESS = /^https?:\/\//i;

/** The tag in its original case, or null if the link had none. */
export function parseTag(raw: string | undefined): string | null {
  if (raw === undefined) return null;
  const text = withoutQuery(cleanText(raw));
  // Some newsletters put the reader's own address into their links.
  if (ABSENT_WORDS.has(text.toLowerCase()) || isUnexpandedMacro(text) || EMAIL_IN_TEXT.test(text)) return null;
  return cutToCodePoints(text);
}

/** A URL used as a name may contain a query, and with it anything. */
function withoutQuery(text: string): string {
  return WEB_ADDRESS.test(text) ? text.replace(/[?#].*$/s, "") : text;
}

/** Cut again after lower-casing, because a few letters become two ("İ"). */
export function parseLowerCaseTag(raw: string | undefined): string | null {
  const tag = parseTag(raw);
  return tag === null ? null : cutToCodePoints(tag.toLowerCase().normalize("NFC"));
}

function cleanText(raw: string): string {
  const start = raw.slice(0, RAW_MAX_CODE_UNITS);
  if (CLEAN_ASCII.test(start)) return start;
  return (
    start
      .toWellFormed()
      .replace(/\s/g, " ")
      // Control characters, and invisible ones that could make two campaigns look equal or reverse a line. The joiners U+200C
      // and U+200D stay: emoji and Persian need them.
      .replace(/[\p{Cc}\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069]/gu, "")
      .replace(/ +/g, " ")
      .trim()
      .normalize("NFC")
  );
}

/**
 * True if an ad tool did not fill in its placeholder: {{campaign.name}}, {keyword}, ${CAMPAIGN}, %7Bcampaignid%7D,
 * {campaignid}_{adgroupid}, [campaign], %%CAMPAIGN%%, __CAMPAIGN_NAME__. A tag with other words around it is kept.
 */
function isUnexpandedMacro(text: string): boolean {
  if (!/[{[%_]/.test(text)) return false;
  const plain = text
    .replace(/%(?:25)*7b/gi, "{")
    .replace(/%(?:25)*7d/gi, "}")
    .replace(/%(?:25)*5b/gi, "[")
    .replace(/%(?:25)*5d/gi, "]");
  // For {{name}} this leaves the outer braces, which aren't words either; `\{+` would take quadratic time on "{{{{".
  const rest = plain.replace(/\{[^{}]*\}/g, "");
  if (rest !== plain && !/[\p{L}\p{N}]/u.test(rest)) return true;
  return /^(?:\[[^[\]]*\]|%%[^%]*%%|__[A-Z0-9_]+__)$/.test(plain);
}

function cutToCodePoints(text: string): string {
  // A code point has one or two code units, so a short text needs no counting, and a long one only at its start.
  if (text.length <= TAG_MAX_CODE_POINTS) return text;
  const codePoints = [...text.slice(0, 2 * TAG_MAX_CODE_POINTS)];
  return codePoints.slice(0, TAG_MAX_CODE_POINTS).join("").trimEnd();
}
