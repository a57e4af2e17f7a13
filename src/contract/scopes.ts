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
