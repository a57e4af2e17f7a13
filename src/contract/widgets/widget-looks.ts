// A widget's appearance and allowed domains. Without schemas, because the booking frame uses it too.

export const ALLOWED_DOMAINS_MAX = 50;
const DOMAIN_LENGTH_MAX = 253;

/** `#rrggbb` in lower case; null for anything else. */
export function parseAccentColor(text: string): string | null {
  return /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : null;
}

/** A host as in a Content-Security-Policy; `*.` matches subdomains. Null for all else: the result is put into a header. */
export function parseAllowedDomain(text: string): string | null {
  const match = /^(\*\.)?([^\s/:*?#@,;'"\\%[\]]+)(:[0-9]{1,5})?$/.exec(text.trim());
  if (!match) return null;
  const [, wildcard = "", name = "", port = ""] = match;
  if (!URL.canParse(`https://${name}${port}`)) return null;
  // As browsers write it: lower case, other scripts in punycode.
  const { hostname } = new URL(`https://${name}`);
  const isName = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(hostname) && !hostname.includes("..");
  return isName && hostname.length <= DOMAIN_LENGTH_MAX ? wildcard + hostname + port : null;
}

export const CORNER_RADIUS_MAX = 24;
export const HOUR_CYCLES = ["h12", "h23"] as const;
export type HourCycle = (typeof HOUR_CYCLES)[number];

/** As many characters as fit on a narrow phone. */
export const BUTTON_LABEL_LENGTH_MAX = 40;

/** Instead of a font's name: the font of the page that embeds the widget. */
export const PAGE_FONT = "inherit";

/** The name of one font, without quotes; null for anything else, because the result becomes part of a style. */
export function parseFontFamily(text: string): string | null {
  const name = text.trim().replace(/^["']|["']$/g, "");
  return /^[\p{L}\p{N}][\p{L}\p{N} _-]{0,59}$/u.test(name) ? name : null;
}
