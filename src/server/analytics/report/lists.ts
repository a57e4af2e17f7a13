import { type RawBuilder, sql } from "kysely";
import type { Analytics } from "#contract/analytics/analytics.ts";
import type { Dimension } from "#contract/analytics/dimensions.ts";
import { type AppList, LISTED_DIMENSIONS, type ListedDimension } from "#contract/app/analytics.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { CAMPAIGNS_MAX, CHANNELS_MAX, SOURCES_MAX } from "#contract/limits.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAtHome, table } from "../../db/home.ts";
import { SlicedWork } from "../../lib/concurrency/sliced-work.ts";
import type { VisitCounts } from "../count/visit-counts.ts";
import type { KeyCounts } from "../packs/totals.ts";
import { isKeyed, KEY_KINDS, type KeyKind, toKindNumber, toShownKey } from "../record/key-id.ts";
import { chooseBest } from "./breakdown/best-keys.ts";
import { toEntry } from "./report.ts";

// The lists of a report: the counts of each key, with the names of those that are shown.

export type NamedCounts = { key: string; views: number; bookings: number };

export const LISTED_KINDS = ["channel", "source", "campaign"] as const satisfies readonly KeyKind[];

/** More than there are: the map shows all of them. */
const COUNTRIES_MAX = 300;

/** The first rows of each list, and how many rows it has in all. What was not counted has none. */
export async function selectLists(
  db: Db,
  owner: OrganizationId,
  { totals, rowsMax }: { totals: VisitCounts["lists"]; rowsMax: number },
): Promise<Record<ListedDimension, AppList>> {
  const named = await nameBest(db, owner, { totals, rowsMax });
  const toList = (dimension: ListedDimension): AppList => {
    const ofDimension = totals.get(dimension) ?? new Map();
    const rows = dimension === "widget" ? sortWidgets(ofDimension) : (named.get(dimension) ?? []);
    const shown = rows.slice(0, dimension === "country" ? COUNTRIES_MAX : rowsMax);
    return { rows: shown.map((row) => toEntry({ ...row, key: toShownKey(row.key) })), count: ofDimension.size };
  };
  const lists = LISTED_DIMENSIONS.map((dimension) => [dimension, toList(dimension)] as const);
  return Object.fromEntries(lists) as Record<ListedDimension, AppList>;
}

/** As long as the contract shows them. */
export function toContractLists(
  lists: Record<ListedDimension, AppList>,
): Pick<Analytics, "channels" | "sources" | "campaigns"> {
  return {
    channels: lists.channel.rows.slice(0, CHANNELS_MAX),
    sources: lists.source.rows.slice(0, SOURCES_MAX),
    campaigns: lists.campaign.rows.slice(0, CAMPAIGNS_MAX),
  };
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
  const counts = await toKeyCountsTable(best);
  const { rows } = await readAtHome(db, owner, (home) =>
    sql<{ rows: [kind: number, key: string, views: number, bookings: number][] }>`-- prepared: name_best
    with ${counts}
    select coalesce(json_agg(json_build_array(kind, key, views, bookings) order by kind, position), '[]') as rows
    from (
      select counted.kind, key, views, bookings,
        row_number() over (partition by counted.kind order by bookings desc, views desc, key) as position
      from key_counts counted join ${table("funnel_keys")} on organization_id = ${owner} and funnel_keys.id = counted.id
    ) named
    where position <= ${sql.lit(COUNTRIES_MAX)}`.execute(home),
  );
  const named = new Map<KeyKind, NamedCounts[]>(KEY_KINDS.map((kind) => [kind, []]));
  for (const [number, key, views, bookings] of rows[0]?.rows ?? [])
    named.get(KEY_KINDS[number - 1] as KeyKind)?.push({ key, views, bookings });
  return named;
}

/** Rows that become text at a time: about a millisecond's work. */
const SLICE_ROWS = 2_000;

/** CTE `key_counts`: the counts of all keys. Yields to other requests between slices. */
export async function toKeyCountsTable(totals: ReadonlyMap<Dimension, KeyCounts>): Promise<RawBuilder<unknown>> {
  const sliced = new SlicedWork();
  const texts = { kinds: "", ids: "", views: "", bookings: "" };
  const add = (kind: number, entries: readonly [number | string, { views: number; bookings: number }][]) => {
    texts.kinds += `,${entries.map(() => kind).join()}`;
    texts.ids += `,${entries.map(([id]) => id).join()}`;
    texts.views += `,${entries.map(([, { views }]) => views).join()}`;
    texts.bookings += `,${entries.map(([, { bookings }]) => bookings).join()}`;
  };
  for (const [dimension, ofDimension] of totals) {
    if (!isKeyed(dimension)) continue;
    const entries = ofDimension.entries();
    for (let left = ofDimension.size; left > 0; left -= SLICE_ROWS)
      await sliced.spend(() => add(toKindNumber(dimension), [...entries.take(SLICE_ROWS)]));
  }
  const toArray = (text: string) => `{${text.slice(1)}}`;
  return sql`key_counts as materialized (
      select kind, id, views, bookings
      from unnest(${toArray(texts.kinds)}::smallint[], ${toArray(texts.ids)}::bigint[], ${toArray(texts.views)}::integer[],
        ${toArray(texts.bookings)}::integer[]) as counted (kind, id, views, bookings)
    )`;
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
