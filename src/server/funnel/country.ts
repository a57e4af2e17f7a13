import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { fileURLToPath } from "node:url";
import { Reader } from "mmdb-lib";

// The visitor's country, two letters, or "" where it is not known. An address is looked up here and goes nowhere else: it
// is not kept, not logged, and not part of any error.

export type FindCountry = (request: { readonly ip: string; readonly headers: IncomingHttpHeaders }) => string;

/** What edges send for "no country": unknown (Cloudflare), Tor, unknown (CloudFront and others). */
const NO_COUNTRIES = new Set(["XX", "T1", "ZZ"]);

const DATABASE = "@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb";

/** By the header that a proxy before us sets, where there is one; else by the database that npm brought (8 MB of memory). */
export function createFindCountry(config: { countryHeader: string | null }): FindCountry {
  const { countryHeader } = config;
  if (countryHeader !== null) return ({ headers }) => parseCountry(headers[countryHeader]);
  const reader = new Reader(readFileSync(fileURLToPath(import.meta.resolve(DATABASE))));
  return ({ ip }) => {
    const address = ip.startsWith("::ffff:") ? ip.slice(7) : ip;
    // Behind a proxy the address is a text that somebody sent.
    if (isIP(address) === 0) return "";
    // The reader's types are those of MaxMind's own files; this one has a single member.
    return parseCountry((reader.get(address) as { country_code?: string } | null)?.country_code);
  };
}

export function parseCountry(text: string | string[] | undefined): string {
  if (typeof text !== "string") return "";
  const country = text.trim().toUpperCase();
  return /^[A-Z]{2}$/.test(country) && !NO_COUNTRIES.has(country) ? country : "";
}
