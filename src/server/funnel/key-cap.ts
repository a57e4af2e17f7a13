import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { Batcher, type BatcherLimits } from "../lib/batcher.ts";
import type { OutageLog } from "../lib/outage-log.ts";
import { RecentMap } from "../lib/recent-map.ts";
import { DIRECT_SOURCE, NO_MEDIUM, NOT_SET } from "./channel-rules.ts";
import { toSourceKey } from "./classify-source.ts";
import { type KeyRow, listKeysOfToday } from "./collect-queries.ts";
import type { VisitClass } from "./touch.ts";

// Anybody can make up campaigns. So that a flood of them fills neither tables nor answers, an organization gets a limited
// number of distinct keys a local day; what comes after that is recorded as "(other)". The replacement happens before
// recording, because the events are the truth that counters are rebuilt from.

export const OTHER = "(other)";
/** Of source / medium pairs, and again of campaigns. */
export const KEYS_PER_DAY_MAX = 1_000;

type Kind = "source" | "campaign";

/** Traffic without a tag is nobody's invention, and (other) is ours: neither takes a place. */
const FREE_KEYS: Readonly<Record<Kind, ReadonlySet<string>>> = {
  source: new Set([
    toSourceKey({ source: DIRECT_SOURCE, medium: NO_MEDIUM }),
    toSourceKey({ source: OTHER, medium: OTHER }),
  ]),
  campaign: new Set([NOT_SET, OTHER]),
};

/** After so many new keys the database is asked again: other processes add theirs. Each can be this far off, no more. */
const NEW_KEYS_PER_LOOK = 50;
const LOOK_LIMITS: BatcherLimits = { batchMax: 500, itemsMax: 10_000, atOnce: 1, waitMs: 5_000 };

const ORGANIZATIONS_KEPT = 5_000;
/** When all keys together are longer, everything is forgotten and read again as needed. */
const CHARACTERS_MAX = 8_000_000;
const MINUTE_MS = 60_000;

type Known = Record<Kind, Set<string>> & { endsAtMs: number; newKeys: number };
type Look = { owner: OrganizationId; now: Date };

export class KeyCap {
  readonly #outages: OutageLog;
  readonly #keysMax: number;
  readonly #looks: Batcher<Look, Known>;
  #organizations = new RecentMap<OrganizationId, Known>(ORGANIZATIONS_KEPT);
  #characters = 0;

  constructor(deps: { db: Db; outages: OutageLog; keysMax?: number }) {
    this.#outages = deps.outages;
    this.#keysMax = deps.keysMax ?? KEYS_PER_DAY_MAX;
    this.#looks = new Batcher(LOOK_LIMITS, (looks) => this.#readKeys(deps.db, looks));
  }

  /** The class as it may be recorded now. */
  async apply(
    owner: OrganizationId,
    visit: VisitClass,
    now: Date,
  ): Promise<VisitClass | "queue_full" | "database_unavailable"> {
    const sourceKey = toSourceKey(visit);
    let known: Known | undefined = this.#organizations.get(owner);
    const isKnownToday = known !== undefined && known.endsAtMs > now.getTime();
    if (isKnownToday && known && isKept(known, "source", sourceKey) && isKept(known, "campaign", visit.campaign))
      return visit;

    if (!isKnownToday || !known || (known.newKeys >= NEW_KEYS_PER_LOOK && this.#hasRoom(known))) {
      const looked = await this.#look({ owner, now });
      if (typeof looked === "string") return looked;
      known = looked;
    }
    const keepsSource = this.#keep(known, "source", sourceKey);
    const keepsCampaign = this.#keep(known, "campaign", visit.campaign);
    return {
      source: keepsSource ? visit.source : OTHER,
      medium: keepsSource ? visit.medium : OTHER,
      campaign: keepsCampaign ? visit.campaign : OTHER,
      channel: visit.channel,
    };
  }

  #hasRoom(known: Known): boolean {
    return known.source.size < this.#keysMax || known.campaign.size < this.#keysMax;
  }

  #keep(known: Known, kind: Kind, key: string): boolean {
    if (isKept(known, kind, key)) return true;
    if (known[kind].size >= this.#keysMax) return false;
    known[kind].add(key);
    known.newKeys += 1;
    this.#characters += key.length;
    return true;
  }

  async #look(look: Look): Promise<Known | "queue_full" | "database_unavailable"> {
    const batched = await this.#looks.submit(look).catch((error: unknown) => {
      this.#outages.failed(error);
      return null;
    });
    if (batched?.kind === "full") return "queue_full";
    return batched?.kind === "done" ? batched.result : "database_unavailable";
  }

  async #readKeys(db: Db, looks: readonly Look[]): Promise<Known[]> {
    const now = new Date(Math.max(...looks.map((look) => look.now.getTime())));
    const owners = [...new Set(looks.map((look) => look.owner))];
    const rows = Map.groupBy(await listKeysOfToday(db, owners, now), (row) => row.organization_id);
    if (this.#characters > CHARACTERS_MAX) this.#forgetAll();
    const found = new Map(owners.map((owner) => [owner, this.#remember({ owner, now }, rows.get(owner) ?? [])]));
    // Every look's owner was asked for.
    return looks.map((look) => found.get(look.owner) as Known);
  }

  #remember({ owner, now }: Look, rows: readonly KeyRow[]): Known {
    const before = this.#organizations.get(owner);
    // What was kept here and is not committed yet counts as well.
    const same = before !== undefined && before.endsAtMs > now.getTime() ? before : null;
    const known: Known = {
      source: new Set(same?.source),
      campaign: new Set(same?.campaign),
      // A midnight that the clocks pass twice can lie behind us already; then a look a minute is enough.
      endsAtMs: Math.max(rows[0]?.ends_at.getTime() ?? 0, now.getTime() + MINUTE_MS),
      newKeys: 0,
    };
    for (const { kind, key } of rows) {
      if (kind === null || key === null || isKept(known, kind, key)) continue;
      known[kind].add(key);
      this.#characters += key.length;
    }
    this.#organizations.set(owner, known);
    return known;
  }

  #forgetAll(): void {
    this.#organizations = new RecentMap(ORGANIZATIONS_KEPT);
    this.#characters = 0;
  }
}

function isKept(known: Known, kind: Kind, key: string): boolean {
  return known[kind].has(key) || FREE_KEYS[kind].has(key);
}
