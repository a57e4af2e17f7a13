import { hash } from "node:crypto";
import { RecentMap } from "../lib/recent-map.ts";
import { BookingQuota } from "./calendly/booking-quota.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "./concurrency-limit.ts";
import type { CalendlyParts, MicrosoftBookingsParts } from "./connections/connection-settings.ts";

// Limits that a scheduling system sets per account. All uses of an account in this process share them: widgets, background
// tasks, tests and checks of the connection, and several connections with the same account. Other processes count
// separately; if together they exceed the limit, the system answers 429.

const ACCOUNTS_MAX = 10_000;
/** Graph's limit per application and mailbox (learn.microsoft.com/graph/throttling-limits, Outlook service). */
const GRAPH_REQUESTS_AT_ONCE_MAX = 4;

export class AccountLimits {
  readonly #mailboxes = new RecentMap<string, ConcurrencyLimit>(ACCOUNTS_MAX);
  readonly #calendlyUsers = new RecentMap<string, BookingQuota>(ACCOUNTS_MAX);

  /** A booking business is a mailbox. */
  ofMailbox({ settings }: MicrosoftBookingsParts): ConcurrencyLimit {
    const key = `${settings.graphUrl} ${settings.clientId} ${settings.businessId.toLowerCase()}`;
    return findOrAdd(this.#mailboxes, key, () => createConcurrencyLimit(GRAPH_REQUESTS_AT_ONCE_MAX));
  }

  /** Calendly counts by user. Two tokens of one user are counted separately. */
  ofCalendlyUser({ settings, credentials }: CalendlyParts): BookingQuota {
    const key = hash("sha256", `${settings.apiUrl} ${settings.plan} ${credentials.token}`);
    return findOrAdd(this.#calendlyUsers, key, () => new BookingQuota(settings.plan));
  }
}

function findOrAdd<Value>(map: RecentMap<string, Value>, key: string, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
