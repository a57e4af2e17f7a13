import { hash } from "node:crypto";
import { DAY_MS } from "#contract/durations.ts";
import type { WidgetId } from "#contract/ids.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { Random } from "../../lib/secrets/random.ts";

// How much of something a widget gets per day (UTC), from one network and in total, counted in memory by each process. It
// limits what strangers can make us store. IP addresses are never kept: counts are found by a hash with a random salt
// that is forgotten at the end of the day.

const COUNTS_KEPT = 100_000;
const SALT_BYTES = 16;
const HASH_LENGTH = 22;

export type VisitOrigin = { readonly widgetId: WidgetId; readonly network: string };

/** One that was charged in advance. */
export type Charge = { readonly counts: readonly Count[] };
type Count = { used: number };

const FREE: Charge = { counts: [] };

export class DayBudget {
  readonly #perNetwork: number;
  readonly #perWidget: number;
  readonly #random: Random;
  #day = -1;
  #salt = "";
  #networks = new RecentMap<string, Count>(COUNTS_KEPT);
  #widgets = new RecentMap<WidgetId, Count>(COUNTS_KEPT);

  /** With 0 per network, nothing is limited. */
  constructor({ perNetwork, perWidget }: { perNetwork: number; perWidget: number }, random: Random) {
    this.#perNetwork = perNetwork;
    this.#perWidget = perWidget;
    this.#random = random;
  }

  /** Charges for one that may be new. Null if the day's budget is used up. */
  charge({ widgetId, network }: VisitOrigin, now: Date): Charge | null {
    if (this.#perNetwork === 0) return FREE;
    this.#startDay(now);
    const name = hash("sha256", `${this.#salt} ${widgetId} ${network}`, "base64url").slice(0, HASH_LENGTH);
    const counts = [findCount(this.#networks, name), findCount(this.#widgets, widgetId)] as const;
    const [ofNetwork, ofWidget] = counts;
    if (ofNetwork.used >= this.#perNetwork || ofWidget.used >= this.#perWidget) return null;
    for (const count of counts) count.used += 1;
    return { counts };
  }

  /** It turned out to be known, or was not recorded. */
  refund({ counts }: Charge): void {
    for (const count of counts) count.used -= 1;
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
  const count = { used: 0 };
  counts.set(key, count);
  return count;
}
