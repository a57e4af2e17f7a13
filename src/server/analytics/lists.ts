import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { type KeyKind, toKindNumber } from "../funnel/record/key-id.ts";

// The lists of a report, in statements that have the common table expressions `key_counts` (kind, id, views, bookings) and
// `widget_counts` (widget_id, views, bookings).

export type KeyCounts = { key: string; views: number; bookings: number };

/** The first rows of a list, and how many rows it has in all. */
export type KeyList = { rows: KeyCounts[]; count: number };

/**
 * Most bookings first, then most views, then by key in byte order. Only keys that may be in the list are looked up: those
 * before the last place, and all that tie with it.
 */
export function listBest(
  owner: OrganizationId,
  { kind, rowsMax }: { kind: KeyKind; rowsMax: number },
): RawBuilder<KeyCounts[]> {
  return sql`(
    select coalesce(json_agg(json_build_object('key', key, 'views', views, 'bookings', bookings)
      order by bookings desc, views desc, key), '[]')
    from (
      select key, views, bookings
      from (
        select id, views, bookings from key_counts where kind = ${sql.lit(toKindNumber(kind))}
        order by bookings desc, views desc fetch first ${sql.lit(rowsMax)} rows with ties
      ) best
      join funnel_keys on organization_id = ${owner} and funnel_keys.id = best.id
      order by bookings desc, views desc, key limit ${sql.lit(rowsMax)}
    ) named
  )`;
}

/** More than there are: the map shows all of them. */
const COUNTRIES_MAX = 300;

export function listKeys(list: { owner: OrganizationId; kind: KeyKind; rowsMax: number }): RawBuilder<KeyList> {
  const { owner, kind } = list;
  const rowsMax = kind === "country" ? COUNTRIES_MAX : list.rowsMax;
  return sql`json_build_object('rows', ${listBest(owner, { kind, rowsMax })},
    'count', (select count(*) from key_counts where kind = ${sql.lit(toKindNumber(kind))}))`;
}

export function listWidgets(rowsMax: number): RawBuilder<KeyList> {
  return sql`json_build_object('count', (select count(*) from widget_counts), 'rows', (
    select coalesce(json_agg(json_build_object('key', widget_id, 'views', views, 'bookings', bookings)
      order by bookings desc, views desc, widget_id), '[]')
    from (
      select widget_id, views, bookings from widget_counts
      order by bookings desc, views desc, widget_id limit ${sql.lit(rowsMax)}
    ) best
  ))`;
}
