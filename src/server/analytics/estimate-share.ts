import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { toKeyId } from "../funnel/record/key-id.ts";
import type { Filter } from "./filters.ts";
import { type CountedWindow, countDays, countKeys, countWidgets } from "./queries.ts";
import { isKeyed, toStoredKey } from "./scan/visit-scan.ts";

/**
 * About how much of the window's visits match all filters, from 0 to 1: the product of what the counters say for each. It only
 * decides which way of counting is faster, so it need not be exact.
 */
export async function estimateShare(
  db: Db,
  owner: OrganizationId,
  { window, filters }: { window: CountedWindow; filters: readonly Filter[] },
): Promise<number> {
  const ids = filters.flatMap(({ dimension, keys }) =>
    isKeyed(dimension) ? keys.map((key) => toKeyId(dimension, toStoredKey(dimension, key))) : [],
  );
  const { rows } = await sql<{ all: number; keys: Record<string, number>; widgets: Record<string, number> }>`
    with ${countDays(owner, window)}, ${countKeys(owner, window, sql`key = any(${ids}::bigint[])`)},
      ${countWidgets(owner, window)}
    select (select coalesce(sum(views), 0) from day_counts)::float8 as all,
      (select coalesce(json_object_agg(id, views), '{}') from key_counts) as keys,
      (select coalesce(json_object_agg(widget_id, views), '{}') from widget_counts) as widgets`.execute(db);
  const [row] = rows;
  if (!row || row.all === 0) return 0;
  return filters.reduce((share, { dimension, keys, isNegated }) => {
    const views = keys.map((key) =>
      isKeyed(dimension) ? row.keys[toKeyId(dimension, toStoredKey(dimension, key))] : row.widgets[key],
    );
    const part = views.reduce<number>((sum, count) => sum + (count ?? 0), 0) / row.all;
    return share * (isNegated ? 1 - part : part);
  }, 1);
}
