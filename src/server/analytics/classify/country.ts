import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { BlockList, isIP } from "node:net";
import { fileURLToPath } from "node:url";
import { Reader } from "mmdb-lib";

// The visitor's two-letter country, or "" if unknown. The IP address is used only here: it is not stored, not logged,
// and not part of any error.

export type FindCountry = (request: { readonly ip: string; readonly headers: IncomingHttpHeaders }) => string;

const DATABASE = "@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb";

/** Addresses that don't exist on the public internet. The database has countries for some of them. */
const NOWHERE = new BlockList();
for (const network of [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"],
  ...["::/127", "fc00::/7", "fe80::/10", "ff00::/8", "2001:db8::/32"],
]) {
  const [address = "", bits] = network.split("/");
  NOWHERE.addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** From the header that a proxy sets, if configured; otherwise from the bundled database (8 MB of memory). */
export function createFindCountry(config: { countryHeader: string | null }): FindCountry {
  const { countryHeader } = config;
  if (countryHeader !== null) return ({ headers }) => parseCountry(headers[countryHeader]);
  const reader = new Reader(readFileSync(fileURLToPath(import.meta.resolve(DATABASE))));
  return ({ ip }) => {
    const address = ip.startsWith("::ffff:") ? ip.slice(7) : ip;
    // Behind a proxy, the address is text from a header and may be invalid.
    const version = isIP(address);
    if (version === 0 || NOWHERE.check(address, version === 4 ? "ipv4" : "ipv6")) return "";
    // The reader's types describe MaxMind's own files; this one has a single field.
    return parseCountry((reader.get(address) as { country_code?: string } | null)?.country_code);
  };
}

/** "" for anything that is no country, such as XX (unknown) and T1 (Tor), which Cloudflare sends. */
export function parseCountry(text: string | string[] | undefined): string {
  if (typeof text !== "string") return "";
  const country = text.trim().toUpperCase();
  return isCountry(country) ? country : "";
}

/** Codes that have a name but are no country: unknown (CloudFront and others send it) and two for testing translations. */
const NO_COUNTRIES = new Set(["ZZ", "XA", "XB"]);

const NAMES = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** Whether the text is the two-letter code of a country, in upper case. */
export function isCountry(text: string): boolean {
  return /^[A-Z]{2}$/.test(text) && !NO_COUNTRIES.has(text) && NAMES.of(text) !== undefined;
}
