// How a widget looks, and on whose pages it may be shown. Free of schemas: the booking frame uses it too.

export const ALLOWED_DOMAINS_MAX = 50;
const DOMAIN_LENGTH_MAX = 253;

/** `#rrggbb`, in lower case; null for anything else. */
export function parseAccentColor(text: string): string | null {
  return /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : null;
}

/**
 * A host name as a Content-Security-Policy writes it, with a port where one is given; `*.` in front stands for every name
 * below. Null for anything else: what comes through here is put into a header.
 */
export function parseAllowedDomain(text: string): string | null {
  const match = /^(\*\.)?([^\s/:*?#@,;'"\\%[\]]+)(:[0-9]{1,5})?$/.exec(text.trim());
  if (!match) return null;
  const [, wildcard = "", name = "", port = ""] = match;
  if (!URL.canParse(`https://${name}${port}`)) return null;
  // The browser's own form: lower case, other alphabets in punycode.
  const { hostname } = new URL(`https://${name}`);
  const isName = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(hostname) && !hostname.includes("..");
  return isName && hostname.length <= DOMAIN_LENGTH_MAX ? wildcard + hostname + port : null;
}
