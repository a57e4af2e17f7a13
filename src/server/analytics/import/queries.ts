import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { utcStart } from "../packs/pack-queries.ts";
import { CAPPED_KINDS, type CappedKey } from "../record/capped-keys.ts";

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
