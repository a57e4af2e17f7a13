import { type RawBuilder, sql } from "kysely";
import { LISTED_DIMENSIONS } from "#contract/app/analytics.ts";
import type { Dimension } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { CAMPAIGNS_MAX, CHANNELS_MAX, SOURCES_MAX } from "#contract/limits.ts";
import { readAtHome, table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { Turns } from "../../lib/concurrency/turns.ts";
import type { VisitCounts } from "../count/visit-counts.ts";
import type { KeyCounts } from "../packs/totals.ts";
import { isKeyed, KEY_KINDS, type KeyKind, toKindNumber } from "../record/key-id.ts";
import { chooseBest } from "./breakdown/best-keys.ts";

// The lists of a report: the counts of each key, with the names of those that are shown.

export type NamedCounts = { key: string; views: number; bookings: number };

export type NamedList = { rows: NamedCounts[]; count: number };

export const LISTED_KINDS = ["channel", "source", "campaign"] as const satisfies readonly KeyKind[];

type ContractLists = { channels: NamedCounts[]; sources: NamedCounts[]; campaigns: NamedCounts[] };

export async function selectContractLists(
  db: Db,
  owner: OrganizationId,
  totals: VisitCounts["lists"],
): Promise<ContractLists> {
  const named = await nameBest(db, owner, { totals, rowsMax: SOURCES_MAX });
  const rowsOf = (kind: KeyKind, rowsMax: number) => named.get(kind)?.slice(0, rowsMax) ?? [];
  return {
    channels: rowsOf("channel", CHANNELS_MAX),
    sources: rowsOf("source", SOURCES_MAX),
    campaigns: rowsOf("campaign", CAMPAIGNS_MAX),
  };
}

/** More than there are: the map shows all of them. */
const COUNTRIES_MAX = 300;

/** Those of LISTED_DIMENSIONS, in that order. */
export async function selectLists(
  db: Db,
  owner: OrganizationId,
  { totals, rowsMax }: { totals: VisitCounts["lists"]; rowsMax: number },
): Promise<NamedList[]> {
  const named = await nameBest(db, owner, { totals, rowsMax });
  return LISTED_DIMENSIONS.map((dimension) => {
    const ofDimension = totals.get(dimension) ?? new Map();
    const rows = dimension === "widget" ? sortWidgets(ofDimension) : (named.get(dimension) ?? []);
    return { rows: rows.slice(0, dimension === "country" ? COUNTRIES_MAX : rowsMax), count: ofDimension.size };
  });
}

/** There are few of them. */
function sortWidgets(totals: KeyCounts): NamedCounts[] {
  const rows = [...totals].map(([id, counts]) => ({ key: String(id), ...counts }));
  return rows.sort((a, b) => b.bookings - a.bookings || b.views - a.views || (a.key < b.key ? -1 : 1));
}

/** The first rows of each kind of keys: most bookings first, then most views, then by key in byte order. At least `rowsMax`, if there are as many; all countries. */
async function nameBest(
  db: Db,
  owner: OrganizationId,
  { totals, rowsMax }: { totals: VisitCounts["lists"]; rowsMax: number },
): Promise<Map<KeyKind, NamedCounts[]>> {
  const best = new Map<Dimension, KeyCounts>();
  for (const [dimension, ofDimension] of totals)
    best.set(dimension, dimension === "country" ? ofDimension : chooseBest(ofDimension, rowsMax));
  const { kinds, ids, views, bookings } = await toArrays(best);
  const { rows } = await readAtHome(db, owner, (home) =>
    sql<{ rows: [kind: number, key: string, views: number, bookings: number][] }>`-- prepared: name_best
    select coalesce(json_agg(json_build_array(kind, key, views, bookings) order by kind, place), '[]') as rows
    from (
      select counted.kind, key, views, bookings,
        row_number() over (partition by counted.kind order by bookings desc, views desc, key) as place
      from unnest(${kinds}::smallint[], ${ids}::bigint[], ${views}::integer[], ${bookings}::integer[])
        as counted (kind, id, views, bookings)
      join ${table("funnel_keys")} on organization_id = ${owner} and funnel_keys.id = counted.id
    ) named
    where place <= ${sql.lit(COUNTRIES_MAX)}`.execute(home),
  );
  const named = new Map<KeyKind, NamedCounts[]>(KEY_KINDS.map((kind) => [kind, []]));
  for (const [number, key, views, bookings] of rows[0]?.rows ?? [])
    named.get(KEY_KINDS[number - 1] as KeyKind)?.push({ key, views, bookings });
  return named;
}

/** CTE `key_counts`. */
export async function toKeyCountsTable(dimension: KeyKind, totals: KeyCounts): Promise<RawBuilder<unknown>> {
  const { kinds, ids, views, bookings } = await toArrays(new Map([[dimension, totals]]));
  return sql`key_counts as materialized (
      select kind, id, views, bookings
      from unnest(${kinds}::smallint[], ${ids}::bigint[], ${views}::integer[], ${bookings}::integer[])
        as counted (kind, id, views, bookings)
    )`;
}

/** Rows that become text at a time: about a millisecond's work. */
const SLICE_ROWS = 2_000;

/** The counts of all keys as columns, in PostgreSQL's text format. Yields to other requests between slices. */
async function toArrays(
  totals: ReadonlyMap<Dimension, KeyCounts>,
): Promise<Record<"kinds" | "ids" | "views" | "bookings", string>> {
  const turns = new Turns();
  const slices = { kinds: [] as string[], ids: [] as string[], views: [] as string[], bookings: [] as string[] };
  const add = (kind: number, entries: readonly [number | string, { views: number; bookings: number }][]) => {
    slices.kinds.push(entries.map(() => kind).join());
    slices.ids.push(entries.map(([id]) => id).join());
    slices.views.push(entries.map(([, { views }]) => views).join());
    slices.bookings.push(entries.map(([, { bookings }]) => bookings).join());
  };
  for (const [dimension, ofDimension] of totals) {
    if (!isKeyed(dimension)) continue;
    const entries = ofDimension.entries();
    for (let left = ofDimension.size; left > 0; left -= SLICE_ROWS)
      await turns.spend(() => add(toKindNumber(dimension), [...entries.take(SLICE_ROWS)]));
  }
  const toText = (texts: readonly string[]) => `{${texts.join()}}`;
  return {
    kinds: toText(slices.kinds),
    ids: toText(slices.ids),
    views: toText(slices.views),
    bookings: toText(slices.bookings),
  };
}

/** CTE `widget_counts` or `service_counts`. */
export function toTextCountsTable(
  totals: KeyCounts,
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
