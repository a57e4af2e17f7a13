/** What a key may be used for. A key has at least one scope. */
export const KEY_SCOPES = ["analytics", "bookings", "bookings.anonymous", "manage"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Keys made before there were scopes have these, and so do new ones unless told otherwise. */
export const KEY_SCOPES_DEFAULT: readonly KeyScope[] = ["analytics", "bookings"];

export const SCOPE_WORDS: Readonly<Record<KeyScope, string>> = {
  analytics: "Read views, funnel and breakdowns. No bookings.",
  bookings: "Read stored bookings with customers’ contact details, notes and answers.",
  "bookings.anonymous": "Read stored bookings without anything about the customer.",
  manage: "Do what an admin can: widgets, webhooks, deliveries, keys, connections and settings.",
};

/** Networks that a key may be used from. None means all. */
export const KEY_NETWORKS_MAX = 20;

const IPV4 = "(?:(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const GROUP = "[0-9A-Fa-f]{1,4}";
/** With `::` for zeros between groups, before them, or after them. */
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  ...[1, 2, 3, 4, 5, 6].map((count) => `(?:${GROUP}:){1,${count}}(?::${GROUP}){1,${7 - count}}`),
  `:(?::${GROUP}){1,7}`,
  `(?:${GROUP}:){1,7}:`,
  `::(?:[Ff]{4}:)?${IPV4}`,
  "::",
].join("|");
/** A network in CIDR notation; an address alone is a network of one. */
export const NETWORK_PATTERN = `^\\s*(?:${IPV4}(?:/(?:3[0-2]|[12]?\\d))?|(?:${IPV6})(?:/(?:12[0-8]|1[01]\\d|[1-9]?\\d))?)\\s*$`;
