import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { CAPPED_KINDS } from "./day-keys.ts";
import { toKindNumber } from "./key-id.ts";
import { localDay } from "./local-day.ts";

export type KeyRow = {
  organization_id: OrganizationId;
  zone: string;
  kind: number | null;
  key: number | null;
};

/**
 * The capped keys in these organizations' counters today, for all widgets together. An organization without any has one row
 * with nulls.
 */
export async function listKeysOfToday(db: Db, owners: readonly OrganizationId[], now: Date): Promise<KeyRow[]> {
  const { rows } = await sql<KeyRow>`-- prepared: list_keys_of_today
    with today as (
      select organization_id, version, zone, ${localDay(sql`day_zones.rules`, sql`${now}::timestamptz`)} as day
      from day_zones where organization_id = any(${owners}::text[])
    )
    select today.organization_id, today.zone, known.kind, known.key
    from today left join funnel_key_days known on known.organization_id = today.organization_id
      and known.version = today.version and known.widget_id = '' and known.day = today.day
      and known.kind in (${sql.join(CAPPED_KINDS.map((kind) => sql.lit(toKindNumber(kind))))})`.execute(db);
  return rows;
}
