import { type RawBuilder, sql } from "kysely";
import type { Dimension } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { CAMPAIGNS_MAX, CHANNELS_MAX, SOURCES_MAX } from "#contract/limits.ts";
import type { Db } from "../db/pool.ts";
import { KEY_KINDS, type KeyKind, toKindNumber } from "../funnel/record/key-id.ts";
import { assert } from "../lib/assert.ts";
import { isKeyed } from "./dimension-keys.ts";
import type { Totals, VisitCounts } from "./scan/visit-counts.ts";

// The lists of a report, in statements that have the common table expressions `key_counts` (kind, id, views, bookings) and
// `widget_counts` (widget_id, views, bookings).

export type KeyCounts = { key: string; views: number; bookings: number };

/** The first rows of a list, and how many rows it has in all. */
export type KeyList = { rows: KeyCounts[]; count: number };

/**
 * Most bookings first, then most views, then by key in byte order. Only keys that may be in the list are looked up: those
 * before the last place, and all that tie with it.
 */
function listBest(
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

/** The kinds that the contract lists. */
export const LISTED_KINDS = ["channel", "source", "campaign"] as const satisfies readonly KeyKind[];

/** Sorted and cut to what the contract shows. */
export type ContractLists = { channels: KeyCounts[]; sources: KeyCounts[]; campaigns: KeyCounts[] };

export function listForContract(owner: OrganizationId): RawBuilder<unknown> {
  return sql`${listBest(owner, { kind: "channel", rowsMax: CHANNELS_MAX })} as channels,
      ${listBest(owner, { kind: "source", rowsMax: SOURCES_MAX })} as sources,
      ${listBest(owner, { kind: "campaign", rowsMax: CAMPAIGNS_MAX })} as campaigns`;
}

/** The same from what was counted of the visits. */
export async function selectContractLists(
  db: Db,
  owner: OrganizationId,
  totals: VisitCounts["lists"],
): Promise<ContractLists> {
  const { rows } = await sql<ContractLists>`with ${giveKeyCounts(totals)} select ${listForContract(owner)}`.execute(db);
  const [lists] = rows;
  assert(lists, "a select without from gives one row");
  return lists;
}

/** More than there are: the map shows all of them. */
const COUNTRIES_MAX = 300;

/** Those of LISTED_DIMENSIONS, in that order. */
export function listAll(owner: OrganizationId, rowsMax: number): RawBuilder<KeyList[]> {
  const lists = [...KEY_KINDS.map((kind) => listKeys({ owner, kind, rowsMax })), listWidgets(rowsMax)];
  return sql`json_build_array(${sql.join(lists)})`;
}

function listKeys(list: { owner: OrganizationId; kind: KeyKind; rowsMax: number }): RawBuilder<KeyList> {
  const { owner, kind } = list;
  const rowsMax = kind === "country" ? COUNTRIES_MAX : list.rowsMax;
  return sql`json_build_object('rows', ${listBest(owner, { kind, rowsMax })},
    'count', (select count(*) from key_counts where kind = ${sql.lit(toKindNumber(kind))}))`;
}

function listWidgets(rowsMax: number): RawBuilder<KeyList> {
  return sql`json_build_object('count', (select count(*) from widget_counts), 'rows', (
    select coalesce(json_agg(json_build_object('key', widget_id, 'views', views, 'bookings', bookings)
      order by bookings desc, views desc, widget_id), '[]')
    from (
      select widget_id, views, bookings from widget_counts
      order by bookings desc, views desc, widget_id limit ${sql.lit(rowsMax)}
    ) best
  ))`;
}

/** The same from what was counted of the visits. */
export async function selectLists(
  db: Db,
  owner: OrganizationId,
  { totals, rowsMax }: { totals: VisitCounts["lists"]; rowsMax: number },
): Promise<KeyList[]> {
  const { rows } = await sql<{ lists: KeyList[] }>`-- prepared: select_lists
    with ${giveKeyCounts(totals)}, ${giveTextCounts(totals.get("widget"), "widget")}
    select ${listAll(owner, rowsMax)} as lists`.execute(db);
  return rows[0]?.lists ?? [];
}

/** CTE `key_counts`. */
export function giveKeyCounts(totals: VisitCounts["lists"]): RawBuilder<unknown> {
  const rows = [...totals].flatMap(([dimension, ofDimension]) =>
    isKeyed(dimension)
      ? [...ofDimension].map(([id, counts]) => ({ kind: toKindNumber(dimension), id, ...counts }))
      : [],
  );
  const values = (name: "kind" | "id" | "views" | "bookings") => `{${rows.map((row) => row[name]).join()}}`;
  return sql`key_counts as materialized (
      select kind, id, views, bookings
      from unnest(${values("kind")}::smallint[], ${values("id")}::bigint[], ${values("views")}::integer[],
        ${values("bookings")}::integer[]) as counted (kind, id, views, bookings)
    )`;
}

/** CTE `widget_counts` or `service_counts`. */
export function giveTextCounts(
  totals: Totals = new Map(),
  dimension: Extract<Dimension, "widget" | "service">,
): RawBuilder<unknown> {
  const values = (name: "views" | "bookings") => [...totals.values()].map((row) => row[name]);
  const [name, column] = dimension === "widget" ? ["widget_counts", "widget_id"] : ["service_counts", "service"];
  return sql`${sql.ref(name)} as materialized (
      select ${sql.ref(column)}, views, bookings
      from unnest(${[...totals.keys()]}::text[], ${values("views")}::integer[], ${values("bookings")}::integer[])
        as counted (${sql.ref(column)}, views, bookings)
    )`;
}
