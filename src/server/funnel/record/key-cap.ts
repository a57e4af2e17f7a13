import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { Batcher, type BatcherLimits } from "../../lib/concurrency/batcher.ts";
import type { Log } from "../../lib/log/log.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { findDayEnd, readZoneRules } from "../../lib/time/zone-rules.ts";
import { CAPPED_KINDS, DayKeys } from "./day-keys.ts";
import { toKindNumber } from "./key-id.ts";
import { type KeyRow, listKeysOfToday } from "./key-queries.ts";
import type { VisitFacts } from "./touch.ts";

// The limit on distinct keys per day (day-keys.ts) for live visits: each organization's keys for today, kept in memory and read
// from the counters again as other processes add theirs.

/**
 * After this many new keys, those of other processes are read again. Until then, each process may exceed the limit by about
 * this many, and by more if many visits with new keys arrive at once.
 */
const NEW_KEYS_PER_LOOK = 50;
const LOOK_LIMITS: BatcherLimits = { batchMax: 500, itemsMax: 10_000, atOnce: 1, waitMs: 5_000 };

const ORGANIZATIONS_KEPT = 5_000;

type Today = { keys: DayKeys; endsAtMs: number };
type Look = { owner: OrganizationId; now: Date };

/** `settle` must be called when the visit was recorded or not: only new visits keep the places of their new keys. */
type Capped<Visit> = { visit: Visit; settle(isNewVisit: boolean): void };
type Unavailable = "queue_full" | "database_unavailable";

export class KeyCap {
  readonly #outages: OutageLog;
  readonly #keysMax: number | undefined;
  readonly #looks: Batcher<Look, DayKeys>;
  readonly #organizations = new RecentMap<OrganizationId, Today>(ORGANIZATIONS_KEPT);

  constructor(deps: { db: Db; log: Log }, keysMax?: number) {
    this.#outages = new OutageLog(deps.log, { failed: "key_cap.interrupted", resumed: "key_cap.resumed" });
    this.#keysMax = keysMax;
    this.#looks = new Batcher(LOOK_LIMITS, (looks) => this.#readKeys(deps.db, looks));
  }

  /** The visit as it may be recorded now. */
  async apply<Visit extends VisitFacts>(
    owner: OrganizationId,
    visit: Visit,
    now: Date,
  ): Promise<Capped<Visit> | Unavailable> {
    const keys = this.#findToday(owner, now)?.keys;
    if (keys?.holds(visit)) return { visit, settle: settleNothing };
    if (keys && (keys.newKeys < NEW_KEYS_PER_LOOK || !keys.hasRoom)) return claim(keys, visit);
    const looked = await this.#look({ owner, now });
    return typeof looked === "string" ? looked : claim(looked, visit);
  }

  /** The same for recordings that must not fail: while today's keys can't be read, unknown ones become (other). */
  async applyForBooking<Visit extends VisitFacts>(owner: OrganizationId, visit: Visit, now: Date): Promise<Visit> {
    const capped = await this.apply(owner, visit, now);
    if (typeof capped === "string") return new DayKeys(0).limit(visit);
    capped.settle(true);
    return capped.visit;
  }

  #findToday(owner: OrganizationId, now: Date): Today | null {
    const today = this.#organizations.get(owner);
    return today && today.endsAtMs > now.getTime() ? today : null;
  }

  async #look(look: Look): Promise<DayKeys | Unavailable> {
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
    this.#outages.worked();
    const found = new Map(owners.map((owner) => [owner, this.#remember({ owner, now }, rows.get(owner) ?? [])]));
    // Every lookup's owner was requested.
    return looks.map((look) => found.get(look.owner) as DayKeys);
  }

  #remember({ owner, now }: Look, rows: readonly KeyRow[]): DayKeys {
    // Keys that got a place here but are not committed yet count too.
    const keys = this.#findToday(owner, now)?.keys ?? new DayKeys(this.#keysMax);
    keys.learn(rows.flatMap(toDayKey));
    this.#organizations.set(owner, { keys, endsAtMs: findEnd(rows[0]?.zone, now) });
    return keys;
  }
}

function claim<Visit extends VisitFacts>(keys: DayKeys, visit: Visit): Capped<Visit> {
  const claimed = keys.claim(visit);
  return {
    visit: claimed.visit,
    settle: (isNewVisit) => (isNewVisit ? keys.keep(claimed.places) : keys.release(claimed.places)),
  };
}

function settleNothing(): void {}

function toDayKey(row: KeyRow): { kind: (typeof CAPPED_KINDS)[number]; key: number }[] {
  const kind = CAPPED_KINDS.find((each) => toKindNumber(each) === row.kind);
  return kind === undefined || row.key === null ? [] : [{ kind, key: row.key }];
}

/** A zone unknown to this runtime, or a deleted organization, is looked up again after a minute. */
function findEnd(zone: string | undefined, now: Date): number {
  if (zone === undefined || parseTimeZone(zone) === null) return now.getTime() + MINUTE_MS;
  return findDayEnd(readZoneRules(zone), now).getTime();
}
