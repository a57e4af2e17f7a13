import { type Device, type Dimension, NOT_SET } from "../analytics/dimensions.ts";

// The names that people read instead of keys. The dashboard shows them, and the server searches and sorts by them.

const DEVICE_NAMES: Readonly<Record<string, string>> = {
  mobile: "Phone",
  tablet: "Tablet",
  desktop: "Computer",
  other: "Other",
} satisfies Record<Device, string>;

export const UNKNOWN_NAMES: Readonly<Partial<Record<Dimension, string>>> = {
  campaign: "No campaign",
  page: "Unknown page",
  device: "Unknown device",
  country: "Unknown country",
  service: "Unknown service",
};

/** `language` is that of the countries' names; by default, it is the runtime's. Throws RangeError if it can't be a language. */
export function createCountryNames(language?: string): Intl.DisplayNames {
  return new Intl.DisplayNames(language, { type: "region", fallback: "code" });
}

/** A key as people read it. Widgets are not known here. */
export function toKeyName(dimension: Dimension, key: string, countryNames: Intl.DisplayNames): string {
  if (key === NOT_SET) return UNKNOWN_NAMES[dimension] ?? key;
  switch (dimension) {
    case "country":
      // A filter in the address may be anything, and `of` throws for what can't be a code.
      return isCountryCode(key) ? (countryNames.of(key) ?? key) : key;
    case "device":
      return DEVICE_NAMES[key] ?? key;
    case "page":
      return key.replace(/^https?:\/\/(www\.)?/, "").replace(/\/$/, "");
    default:
      return key;
  }
}

export function isCountryCode(text: string): boolean {
  return /^[A-Z]{2}$/.test(text);
}

/** Why a report has no comparison: data begins after the earlier period, or during it. */
export function describeMissingComparison(previous: { to: string } | null, dataSince: string | null): string {
  const isPartial = previous !== null && dataSince !== null && previous.to >= dataSince;
  return isPartial ? "Not enough earlier data" : "No earlier data";
}
