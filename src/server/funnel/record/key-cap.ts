import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { Batcher, type BatcherLimits } from "../../lib/batcher.ts";
import type { OutageLog } from "../../lib/outage-log.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { type KeyRow, listKeysOfToday } from "../collect/queries.ts";
import { type DayKey, DayKeys } from "./day-keys.ts";
import type { VisitClass } from "./touch.ts";

// The limit of distinct keys a day (day-keys.ts) for what is being collected: today's keys of each organization, remembered,
// and read from the counters again as other processes add theirs.

/** After so many new keys the database is asked again. Each process can be this far off, no more. */
const NEW_KEYS_PER_LOOK = 50;
const LOOK_LIMITS: BatcherLimits = { batchMax: 500, itemsMax: 10_000, atOnce: 1, waitMs: 5_000 };

const ORGANIZATIONS_KEPT = 5_000;
/** When all keys together are longer, everything is forgotten and read again as needed. */
const CHARACTERS_MAX = 8_000_000;

type Today = { keys: DayKeys; endsAtMs: number };
type Look = { owner: OrganizationId; now: Date };

export class KeyCap {
  readonly #outages: OutageLog;
  readonly #keysMax: number | undefined;
  readonly #looks: Batcher<Look, DayKeys>;
  #organizations = new RecentMap<OrganizationId, Today>(ORGANIZATIONS_KEPT);
  #characters = 0;

  constructor(deps: { db: Db; outages: OutageLog; keysMax?: number }) {
    this.#outages = deps.outages;
    this.#keysMax = deps.keysMax;
    this.#looks = new Batcher(LOOK_LIMITS, (looks) => this.#readKeys(deps.db, looks));
  }

  /** The class as it may be recorded now. */
  async apply(
    owner: OrganizationId,
    visit: VisitClass,
    now: Date,
  ): Promise<VisitClass | "queue_full" | "database_unavailable"> {
    let keys = this.#findToday(owner, now)?.keys;
    if (keys?.holds(visit)) return visit;

    if (!keys || (keys.newKeys >= NEW_KEYS_PER_LOOK && keys.hasRoom)) {
      const looked = await this.#look({ owner, now });
      if (typeof looked === "string") return looked;
      keys = looked;
    }
    const before = keys.characters;
    const limited = keys.limit(visit);
    this.#characters += keys.characters - before;
    return limited;
  }

  #findToday(owner: OrganizationId, now: Date): Today | null {
    const today = this.#organizations.get(owner);
    return today && today.endsAtMs > now.getTime() ? today : null;
  }

  async #look(look: Look): Promise<DayKeys | "queue_full" | "database_unavailable"> {
    const batched = await this.#looks.submit(look).catch((error: unknown) => {
      this.#outages.failed(error);
      return null;
    });
    if (batched?.kind === "full") return "queue_full";
    return batched?.kind === "done" ? batched.result : "database_unavailable";
  }

  async #readKeys(db: Db, looks: readonly Look[]): Promise<DayKeys[]> {
    const now = new Date(Math.max(...looks.map((look) => look.now.getTime())));
    const owners = [...new Set(looks.map((look) => look.owner))];
    const rows = Map.groupBy(await listKeysOfToday(db, owners, now), (row) => row.organization_id);
    if (this.#characters > CHARACTERS_MAX) this.#forgetAll();
    const found = new Map(owners.map((owner) => [owner, this.#remember({ owner, now }, rows.get(owner) ?? [])]));
    // Every look's owner was asked for.
    return looks.map((look) => found.get(look.owner) as DayKeys);
  }

  #remember({ owner, now }: Look, rows: readonly KeyRow[]): DayKeys {
    // What was kept here and is not committed yet counts as well.
    const keys = this.#findToday(owner, now)?.keys ?? new DayKeys(this.#keysMax);
    const before = keys.characters;
    keys.learn(rows.filter((row): row is KeyRow & DayKey => row.kind !== null && row.key !== null));
    this.#characters += keys.characters - before;
    // A midnight that the clocks pass twice can lie behind us already; then a look a minute is enough.
    const endsAtMs = Math.max(rows[0]?.ends_at.getTime() ?? 0, now.getTime() + MINUTE_MS);
    this.#organizations.set(owner, { keys, endsAtMs });
    return keys;
  }

  #forgetAll(): void {
    this.#organizations = new RecentMap(ORGANIZATIONS_KEPT);
    this.#characters = 0;
  }
}
