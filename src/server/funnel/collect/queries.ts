import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { CAPPED_KINDS } from "../record/day-keys.ts";
import { toKindNumber } from "../record/key-id.ts";
import { localDay } from "../record/local-day.ts";

type WidgetOwnerRow = { id: WidgetId; organization_id: OrganizationId; booking_urls: string[] };

/**
 * Not scoped to an organization, because it finds the owner, together with the booking pages of all the owner's
 * widgets.
 */
export async function findWidgetOwners(db: Db, ids: readonly WidgetId[]): Promise<WidgetOwnerRow[]> {
  const { rows } = await sql<WidgetOwnerRow>`-- prepared: find_widget_owners
    select widgets.id, widgets.organization_id, array(
      select distinct own.booking_url from widgets own
      where own.organization_id = widgets.organization_id and own.booking_url is not null
    ) as booking_urls
    from widgets where widgets.id = any(${ids}::text[])`.execute(db);
  return rows;
}

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
