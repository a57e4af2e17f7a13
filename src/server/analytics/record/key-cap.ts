import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { Batcher, type BatcherLimits } from "../../lib/concurrency/batcher.ts";
import type { Log } from "../../lib/log/log.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import type { Random } from "../../lib/secrets/random.ts";
import { type CappedKey, type CappedKind, listUnknownKeys, toOther } from "./capped-keys.ts";
import { type Charge, DayBudget, type VisitOrigin } from "./day-budget.ts";
import type { VisitFacts } from "./hit.ts";
import { KnownKeys } from "./known-keys.ts";
import { listStoredKeys, type OwnedKey } from "./queries.ts";

// Which sources, campaigns and pages of live visits are recorded by name (capped-keys.ts). Keys that are stored always are: they
// were seen before, or came with a booking. New ones need a place in the day's budget of the widget and of the visitor's network,
// so a stranger can neither use up the places of others nor affect other widgets.

/** New keys per kind, day and process. */
export const NEW_KEYS_PER_DAY = { perNetwork: 100, perWidget: 1_000 };

const LOOK_LIMITS: BatcherLimits = { batchMax: 500, itemsMax: 10_000, atOnce: 1, waitMs: 5_000 };

type OwnedOrigin = VisitOrigin & { readonly organizationId: OrganizationId };

/** `settle` must be called when the visit was recorded or not: only new visits use up the places of their new keys. */
type Capped<Visit> = { visit: Visit; settle(isNewVisit: boolean): void };
type Unavailable = "queue_full" | "database_unavailable";

export class KeyCap {
  readonly #outages: OutageLog;
  readonly #stored = new KnownKeys();
  readonly #budgets: Readonly<Record<CappedKind, DayBudget>>;
  readonly #looks: Batcher<readonly OwnedKey[], readonly OwnedKey[]>;

  constructor(deps: { db: Db; log: Log; random: Random }, limits: typeof NEW_KEYS_PER_DAY) {
    this.#outages = new OutageLog(deps.log, { failed: "key_cap.interrupted", resumed: "key_cap.resumed" });
    const createBudget = () => new DayBudget(limits, deps.random);
    this.#budgets = { source: createBudget(), campaign: createBudget(), page: createBudget() };
    this.#looks = new Batcher(LOOK_LIMITS, (looks) => this.#readStored(deps.db, looks));
  }

  async apply<Visit extends VisitFacts>(
    origin: OwnedOrigin,
    visit: Visit,
    now: Date,
  ): Promise<Capped<Visit> | Unavailable> {
    const unknown = this.#listNew(origin, visit, now);
    if (unknown.length === 0) return { visit, settle: settleNothing };
    const looked = await this.#look(origin, unknown, now);
    if (looked !== "looked") return looked;
    const kept: (CappedKey & { charge: Charge })[] = [];
    const refused: CappedKey[] = [];
    for (const key of this.#listNew(origin, visit, now)) {
      const charge = this.#budgets[key.kind].charge(origin, now);
      if (charge) kept.push({ ...key, charge });
      else refused.push(key);
    }
    const settle = (isNewVisit: boolean) => {
      for (const { kind, id, charge } of kept) {
        // Another visit may have been recorded with the key meanwhile.
        if (isNewVisit && !this.#isStored(origin, id, now)) this.#stored.add(origin.organizationId, id, now);
        else this.#budgets[kind].refund(charge);
      }
    };
    return { visit: toOther(visit, refused), settle };
  }

  #isStored({ organizationId }: OwnedOrigin, id: number, now: Date): boolean {
    return this.#stored.find(organizationId, now)?.has(id) ?? false;
  }

  #listNew(origin: OwnedOrigin, visit: VisitFacts, now: Date): CappedKey[] {
    return listUnknownKeys(visit, (_kind, id) => this.#isStored(origin, id, now));
  }

  /** Remembers which of the keys are stored. */
  async #look({ organizationId }: OwnedOrigin, keys: readonly CappedKey[], now: Date): Promise<"looked" | Unavailable> {
    const batched = await this.#looks.submit(keys.map(({ id }) => ({ organizationId, id }))).catch((error: unknown) => {
      this.#outages.failed(error);
      return null;
    });
    if (batched?.kind === "full") return "queue_full";
    if (batched?.kind !== "done") return "database_unavailable";
    for (const { id } of batched.result) this.#stored.add(organizationId, id, now);
    return "looked";
  }

  async #readStored(db: Db, looks: readonly (readonly OwnedKey[])[]): Promise<OwnedKey[][]> {
    const toName = ({ organizationId, id }: OwnedKey) => `${organizationId} ${id}`;
    const wanted = new Map(looks.flat().map((key) => [toName(key), key]));
    const stored = new Set((await listStoredKeys(db, [...wanted.values()])).map(toName));
    this.#outages.worked();
    return looks.map((look) => look.filter((key) => stored.has(toName(key))));
  }
}

function settleNothing(): void {}

/** The visit by the names that are stored, for what may not add any. */
export async function keepStoredKeys<Visit extends VisitFacts>(
  db: Db,
  organizationId: OrganizationId,
  visit: Visit,
): Promise<Visit> {
  const wanted = listUnknownKeys(visit, () => false);
  const stored = await listStoredKeys(
    db,
    wanted.map(({ id }) => ({ organizationId, id })),
  );
  const ids = new Set(stored.map(({ id }) => id));
  return toOther(
    visit,
    wanted.filter(({ id }) => !ids.has(id)),
  );
}
