import { hash } from "node:crypto";
import { MINUTE_MS } from "#contract/durations.ts";
import type { CalendlyPlan } from "#contract/scheduling.ts";
import { Semaphore } from "../lib/concurrency/semaphore.ts";
import { RecentMap } from "../lib/recent-map.ts";
import type { Clock } from "../lib/time/clock.ts";
import { HiddenQuestions } from "./calcom/hidden-questions.ts";
import { BookingQuota } from "./calendly/booking-quota.ts";
import type {
  CalcomParts,
  CalendlyParts,
  ConnectionParts,
  MicrosoftBookingsParts,
} from "./connections/connection-settings.ts";
import { RequestBudget } from "./request-budget.ts";

// Limits that a scheduling system sets per account. All uses of an account in this process share them: widgets, background
// tasks, tests and checks of the connection, and several connections with the same account. Other processes count
// separately; if together they exceed the limit, the system answers 429.

const ACCOUNTS_MAX = 10_000;
/** Graph's limit per application and mailbox (learn.microsoft.com/graph/throttling-limits, Outlook service). */
const GRAPH_REQUESTS_AT_ONCE_MAX = 4;
const GRAPH_REQUESTS = { requests: 10_000, windowMs: 10 * MINUTE_MS };
/** Cal.com's default; its replies say what applies to a key. */
const CALCOM_REQUESTS = { requests: 120, windowMs: MINUTE_MS };
/** Per user and minute (developer.calendly.com, rate limits). */
const CALENDLY_REQUESTS: Readonly<Record<CalendlyPlan, number>> = { trial: 50, paid: 500, enterprise: 500 };

export class AccountLimits {
  readonly #clock: Clock;
  readonly #budgets = new RecentMap<string, RequestBudget>(ACCOUNTS_MAX);
  readonly #hiddenQuestions = new RecentMap<string, HiddenQuestions>(ACCOUNTS_MAX);
  readonly #mailboxes = new RecentMap<string, ConcurrencyLimit>(ACCOUNTS_MAX);
  readonly #calendlyUsers = new RecentMap<string, BookingQuota>(ACCOUNTS_MAX);

  /** The clock isn't that of a connection's check, which stands still. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  budgetOf(parts: ConnectionParts): RequestBudget {
    switch (parts.kind) {
      case "microsoft-bookings":
        return findOrAdd(this.#budgets, toMailboxKey(parts), () => new RequestBudget(this.#clock, GRAPH_REQUESTS));
      case "calcom":
        return findOrAdd(this.#budgets, toCalcomKey(parts), () => new RequestBudget(this.#clock, CALCOM_REQUESTS));
      case "calendly": {
        const limit = { requests: CALENDLY_REQUESTS[parts.settings.plan], windowMs: MINUTE_MS };
        return findOrAdd(this.#budgets, toCalendlyKey(parts), () => new RequestBudget(this.#clock, limit));
      }
      default:
        return parts satisfies never;
    }
  }

  /** The limit allows reading event types one by one only now and then. */
  hiddenQuestionsOf(parts: CalcomParts): HiddenQuestions {
    return findOrAdd(this.#hiddenQuestions, toCalcomKey(parts), () => new HiddenQuestions());
  }

  /** A booking business is a mailbox. */
  ofMailbox(parts: MicrosoftBookingsParts): ConcurrencyLimit {
    const key = toMailboxKey(parts);
    return findOrAdd(this.#mailboxes, key, () => createConcurrencyLimit(GRAPH_REQUESTS_AT_ONCE_MAX));
  }

  /** Calendly counts by user. Two tokens of one user are counted separately. */
  ofCalendlyUser(parts: CalendlyParts): BookingQuota {
    return findOrAdd(
      this.#calendlyUsers,
      toCalendlyKey(parts),
      () => new BookingQuota(this.#clock, parts.settings.plan),
    );
  }
}

function toMailboxKey({ settings }: MicrosoftBookingsParts): string {
  return `${settings.graphUrl} ${settings.clientId} ${settings.businessId.toLowerCase()}`;
}

function toCalcomKey({ settings, credentials }: CalcomParts): string {
  return hash("sha256", `${settings.apiUrl} ${credentials.apiKey}`);
}

function toCalendlyKey({ settings, credentials }: CalendlyParts): string {
  return hash("sha256", `${settings.apiUrl} ${settings.plan} ${credentials.token}`);
}

function findOrAdd<Value>(map: RecentMap<string, Value>, key: string, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

/** Runs a task as soon as fewer than the allowed number are running. Null when the signal was aborted before that. */
type ConcurrencyLimit = <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T | null>;

export function createConcurrencyLimit(atOnceMax: number): ConcurrencyLimit {
  const turns = new Semaphore(atOnceMax);
  return async (task, signal) => {
    if (signal.aborted) return null;
    const gone = Promise.withResolvers<null>();
    const leave = (): void => gone.resolve(null);
    signal.addEventListener("abort", leave, { once: true });
    const done = turns.run(Symbol("task"), async () => {
      signal.removeEventListener("abort", leave);
      return signal.aborted ? null : await task();
    });
    return await Promise.race([done, gone.promise]);
  };
}
