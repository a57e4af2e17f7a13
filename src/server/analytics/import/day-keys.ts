import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { utcStart } from "../packs/pack-queries.ts";
import { CAPPED_KINDS, type CappedKey, listUnknownKeys, toOther } from "../record/capped-keys.ts";
import type { VisitFacts } from "../record/touch.ts";

/** Per kind. */
const KEYS_PER_DAY_MAX = 1_000;

/** The distinct keys of the visits on one day (UTC) of an import. The same file must give the same keys each time. */
export class DayKeys {
  readonly #known = { source: new Set<number>(), campaign: new Set<number>(), page: new Set<number>() };

  /** Keys of visits that are already recorded; they stay, however many there are. */
  constructor(keys: Iterable<CappedKey>) {
    for (const { kind, id } of keys) this.#known[kind].add(id);
  }

  /** The visit as it may be recorded; new keys get a place while there are any left. */
  limit<Visit extends VisitFacts>(visit: Visit): Visit {
    const refused = listUnknownKeys(visit, (kind, id) => this.#known[kind].has(id)).filter(({ kind, id }) => {
      if (this.#known[kind].size >= KEYS_PER_DAY_MAX) return true;
      this.#known[kind].add(id);
      return false;
    });
    return toOther(visit, refused);
  }
}

export async function listWidgetIds(db: Db, owner: OrganizationId): Promise<Set<WidgetId>> {
  const rows = await db.selectFrom("widgets").select("id").where("organization_id", "=", owner).execute();
  return new Set(rows.map((row) => row.id));
}

/** The capped keys of the recorded visits that start on these days (UTC). */
export async function listKeysOfDays(
  db: Db,
  owner: OrganizationId,
  days: readonly string[],
): Promise<(CappedKey & { day: string })[]> {
  const keys = CAPPED_KINDS.map((kind) => sql`(${sql.lit(kind)}, ${sql.ref(kind)})`);
  const { rows } = await sql<CappedKey & { day: string }>`
    select distinct day, used.kind, used.id
    from unnest(${days}::date[]) day
    join funnel_visits on organization_id = ${owner} and started_at >= ${utcStart(sql`day`)}
      and started_at < ${utcStart(sql`(day + 1)`)}
    cross join lateral (values ${sql.join(keys)}) used (kind, id)`.execute(db);
  return rows;
}
