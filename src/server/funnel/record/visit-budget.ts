import { hash } from "node:crypto";
import { DAY_MS } from "#contract/durations.ts";
import type { WidgetId } from "#contract/ids.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { Random } from "../../lib/secrets/random.ts";

// How many new visits a widget gets per day, from one network and in total, counted in memory by each process. It
// limits what strangers can make us store. IP addresses are never kept: counts are found by a hash with a random salt
// that is forgotten at the end of the day.

/** Multiplied by the requests one address may send per minute (RATE_LIMIT_EVENTS_PER_MINUTE). */
export const NETWORK_BUDGET_FACTOR = 5;
export const WIDGET_BUDGET_FACTOR = 100;

const COUNTS_KEPT = 100_000;
const SALT_BYTES = 16;
const HASH_LENGTH = 22;

type Place = { widgetId: WidgetId; network: string };

/** A new visit that was charged in advance. */
type Charge = { readonly counts: readonly Count[] };
type Count = { visits: number };

const FREE: Charge = { counts: [] };

export class VisitBudget {
  readonly #perNetwork: number;
  readonly #perWidget: number;
  readonly #random: Random;
  #day = -1;
  #salt = "";
  #networks = new RecentMap<string, Count>(COUNTS_KEPT);
  #widgets = new RecentMap<WidgetId, Count>(COUNTS_KEPT);

  /** 0: no budget. */
  constructor(requestsPerMinute: number, random: Random) {
    this.#perNetwork = requestsPerMinute * NETWORK_BUDGET_FACTOR;
    this.#perWidget = requestsPerMinute * WIDGET_BUDGET_FACTOR;
    this.#random = random;
  }

  /** Charges for a visit that may be new. Null if the day's budget (UTC) is used up. */
  charge({ widgetId, network }: Place, now: Date): Charge | null {
    if (this.#perNetwork === 0) return FREE;
    this.#startDay(now);
    const name = hash("sha256", `${this.#salt} ${widgetId} ${network}`, "base64url").slice(0, HASH_LENGTH);
    const counts = [findCount(this.#networks, name), findCount(this.#widgets, widgetId)] as const;
    const [ofNetwork, ofWidget] = counts;
    if (ofNetwork.visits >= this.#perNetwork || ofWidget.visits >= this.#perWidget) return null;
    for (const count of counts) count.visits += 1;
    return { counts };
  }

  /** The visit turned out to be known, or was not recorded. */
  refund({ counts }: Charge): void {
    for (const count of counts) count.visits -= 1;
  }

  #startDay(now: Date): void {
    const day = Math.floor(now.getTime() / DAY_MS);
    if (day === this.#day) return;
    this.#day = day;
    this.#salt = this.#random.bytes(SALT_BYTES).toString("hex");
    this.#networks = new RecentMap(COUNTS_KEPT);
    this.#widgets = new RecentMap(COUNTS_KEPT);
  }
}

function findCount<Key>(counts: RecentMap<Key, Count>, key: Key): Count {
  const known = counts.get(key);
  if (known) return known;
  const count = { visits: 0 };
  counts.set(key, count);
  return count;
}
