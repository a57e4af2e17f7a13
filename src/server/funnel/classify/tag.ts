// Campaign tags come from strangers' links. What leaves here is safe to store and to compare: well-formed text without
// control characters, in NFC, with single spaces, cut to a length. The loader has decoded percent-encoding and "+"
// (URLSearchParams), so nothing is decoded here: "50%25 off" is a name and not a riddle.

export const TAG_MAX_CODE_POINTS = 100;

/** The rest is ignored, so a hostile length costs no more than a long honest one. */
export const RAW_MAX_CODE_UNITS = 2048;

/** Most tags are already clean and skip cleanText. */
const CLEAN_ASCII = /^[!-~]+(?: [!-~]+)*$/;

const ABSENT_WORDS = new Set(["", "null", "undefined", "(not set)"]);

/** Some newsletters put the reader's own address into their links. */
const EMAIL_ADDRESS = /[^\s@]@[^\s@.]+\.[^\s@]/;
const WEB_ADDRESS = /^https?:\/\//i;

/** The tag with its case kept, or null when the link did not carry one. */
export function parseTag(raw: string | undefined): string | null {
  if (raw === undefined) return null;
  const text = cleanText(raw);
  if (ABSENT_WORDS.has(text.toLowerCase()) || isUnexpandedMacro(text) || EMAIL_ADDRESS.test(text)) return null;
  return cutToCodePoints(withoutQuery(text));
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
      // Control characters, and the invisible ones that could make two equal-looking campaigns or turn a line around.
      // The joiners U+200C and U+200D stay: emoji and Persian are spelled with them.
      .replace(/[\p{Cc}\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069]/gu, "")
      .replace(/ +/g, " ")
      .trim()
      .normalize("NFC")
  );
}

/**
 * An advertising tool did not fill in its placeholder: {{campaign.name}}, {keyword}, ${CAMPAIGN}, %7Bcampaignid%7D,
 * {campaignid}_{adgroupid}, [campaign], %%CAMPAIGN%%, __CAMPAIGN_NAME__. With other words around it a tag is kept.
 */
function isUnexpandedMacro(text: string): boolean {
  if (!/[{[%_]/.test(text)) return false;
  const plain = text
    .replace(/%(?:25)*7b/gi, "{")
    .replace(/%(?:25)*7d/gi, "}")
    .replace(/%(?:25)*5b/gi, "[")
    .replace(/%(?:25)*5d/gi, "]");
  // Of {{name}} this leaves the outer braces, which are no words either; `\{+` would cost quadratic time on "{{{{".
  const rest = plain.replace(/\{[^{}]*\}/g, "");
  if (rest !== plain && !/[\p{L}\p{N}]/u.test(rest)) return true;
  return /^(?:\[[^[\]]*\]|%%[^%]*%%|__[A-Z0-9_]+__)$/.test(plain);
}

function cutToCodePoints(text: string): string {
  // A code point has one or two code units: a short text need not be counted, and of a long one only the start.
  if (text.length <= TAG_MAX_CODE_POINTS) return text;
  const codePoints = [...text.slice(0, 2 * TAG_MAX_CODE_POINTS)];
  return codePoints.slice(0, TAG_MAX_CODE_POINTS).join("").trimEnd();
}
