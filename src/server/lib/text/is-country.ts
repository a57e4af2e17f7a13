/** Codes that have a name but are no country: unknown (CloudFront and others send it) and two for testing translations. */
const NO_COUNTRIES = new Set(["ZZ", "XA", "XB"]);

const NAMES = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** Whether the text is the two-letter code of a country, in upper case. */
export function isCountry(text: string): boolean {
  return /^[A-Z]{2}$/.test(text) && !NO_COUNTRIES.has(text) && NAMES.of(text) !== undefined;
}
