import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { readAnywhere, table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";

type WidgetOwnerRow = { id: WidgetId; organization_id: OrganizationId; booking_urls: string[] };

/**
 * Not scoped to an organization, because it finds the owner, together with the booking pages of all the owner's
 * widgets.
 */
export async function findWidgetOwners(db: Db, ids: readonly WidgetId[]): Promise<WidgetOwnerRow[]> {
  const { rows } = await readAnywhere(db, (home) =>
    sql<WidgetOwnerRow>`-- prepared: find_widget_owners
    select widgets.id, widgets.organization_id, array(
      select distinct own.booking_url from ${table("widgets", "own")}
      where own.organization_id = widgets.organization_id and own.booking_url is not null
    ) as booking_urls
    from ${table("widgets")} where widgets.id = any(${ids}::text[])`.execute(home),
  );
  return rows;
}
