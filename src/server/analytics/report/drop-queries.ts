import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { readAtHome, table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import type { LocalWindow } from "../count/local-window.ts";

/** Events dropped in the window. */
export async function countDrops(
  db: Db,
  owner: OrganizationId,
  { offsets, widgetId }: Pick<LocalWindow, "offsets"> & { widgetId: WidgetId | null },
): Promise<number> {
  const [from, until] = [
    offsets.map(({ fromMs }) => new Date(fromMs)),
    offsets.map(({ untilMs }) => new Date(untilMs)),
  ];
  const { rows } = await readAtHome(db, owner, (home) =>
    sql<{ events: number }>`-- prepared: count_drops
    select coalesce(sum(events), 0)::bigint as events from ${table("funnel_drops")}
    where organization_id = ${owner} and (${widgetId}::text is null or widget_id = ${widgetId}) and exists (
      select from unnest(${from}::timestamptz[], ${until}::timestamptz[]) as part (from_at, until_at)
      where hour >= from_at and hour < until_at
    )`.execute(home),
  );
  return rows[0]?.events ?? 0;
}
