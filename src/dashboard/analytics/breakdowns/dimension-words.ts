import { type Dimension, NOT_SET } from "#contract/analytics/dimensions.ts";
import * as keyNames from "#contract/app/report-words.ts";
import { createCountryNames, isCountryCode } from "#contract/app/report-words.ts";

type Words = {
  readonly title: string;
  readonly name: string;
  readonly description: string;
};

export const DIMENSION_WORDS: Readonly<Record<Dimension, Words>> = {
  channel: { title: "Channels", name: "Channel", description: "How visitors found you." },
  source: { title: "Sources", name: "Source / medium", description: "Where visitors came from: source and medium." },
  campaign: { title: "Campaigns", name: "Campaign", description: "Taken from utm_campaign in your links." },
  page: { title: "Pages", name: "Page", description: "Where visitors opened the widget." },
  device: { title: "Devices", name: "Device", description: "Phone, tablet or computer." },
  country: { title: "Countries", name: "Country", description: "Where visitors are. IP addresses are never stored." },
  widget: { title: "Widgets", name: "Widget", description: "Which widgets visitors used." },
  service: { title: "Services", name: "Service", description: "What visitors booked." },
};

const countryNames = createCountryNames();
/** The language of the countries' names, in which the server searches and sorts them. */
export const NAMES_LANGUAGE = countryNames.resolvedOptions().locale;

/** A key as people read it. `widgetNames` gives names by id. */
export function toKeyName(dimension: Dimension, key: string, widgetNames: ReadonlyMap<string, string>): string {
  return dimension === "widget" ? (widgetNames.get(key) ?? key) : keyNames.toKeyName(dimension, key, countryNames);
}

/** The site of all these pages, such as https://www.example.com; null if there are several. */
export function findSharedSite(pages: readonly string[]): string | null {
  const sites = new Set(pages.filter((page) => page !== NOT_SET).map((page) => page.split("/", 3).join("/")));
  const [site] = sites;
  return sites.size === 1 && site !== undefined ? site : null;
}

const FLAG_A = 0x1f1e6;

/** The flag of a two-letter country code, as an emoji. */
export function toFlag(country: string): string {
  if (!isCountryCode(country)) return "";
  return String.fromCodePoint(...[...country].map((letter) => FLAG_A + letter.charCodeAt(0) - 65));
}
