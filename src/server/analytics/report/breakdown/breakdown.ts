import type { AnalyticsEntry } from "#contract/analytics/analytics.ts";
import { DIMENSIONS, type Dimension } from "#contract/analytics/dimensions.ts";
import type { AppBreakdown, BookingTimes, FunnelSplit } from "#contract/app/analytics.ts";
import { createCountryNames, toKeyName } from "#contract/app/report-words.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import type { Deps } from "../../../deps.ts";
import { badParameter, type Query, readParameter, readSearch } from "../../../http/parameters.ts";
import { countVisits } from "../../count/count-visits.ts";
import { toWeek } from "../../count/to-counts.ts";
import type { KeyCounts } from "../../packs/totals.ts";
import { isKeyed, toKeyId, toStoredKey } from "../../record/key-id.ts";
import { type Reader, readSelection, type Selection, toScan } from "../app-report.ts";
import { type DayWindow, readComparison } from "../app-window.ts";
import { requireKnownKeys } from "../filters.ts";
import { findMost, toEntry, toFunnel } from "../report.ts";
import { chooseBest } from "./best-keys.ts";
import {
  BREAKDOWN_SORTS,
  type BreakdownPart,
  LARGEST_FIRST,
  type ListOrder,
  selectPieces,
  selectRows,
} from "./queries.ts";

/** Rows per page of the dashboard. */
const PAGE_ROWS = 50;

/** The dashboard starts with channels; the read API has no default. */
export function readDimension(query: Query, fallback?: Dimension): Dimension {
  const text = readParameter(query, "dimension") ?? fallback;
  const dimension = DIMENSIONS.find((each) => each === text);
  if (!dimension) throw badParameter("dimension", `must be one of ${DIMENSIONS.join(", ")}`);
  return dimension;
}

type Wanted = { dimension: Dimension; part: BreakdownPart };
type Row = AppBreakdown["rows"][number];

export async function readBreakdown(db: Db, selection: Selection, { dimension, part }: Wanted): Promise<AppBreakdown> {
  return await readRows(db, selection.owner, { totals: await countList(db, selection, dimension), dimension, part });
}

export async function readRows(
  db: Db,
  owner: OrganizationId,
  { totals = new Map(), ...wanted }: Wanted & { totals: KeyCounts | undefined },
): Promise<AppBreakdown> {
  const { rows, ...all } = await selectRows(db, owner, { totals, ...wanted });
  return { rows: rows.map(({ label, ...row }) => ({ ...toEntry(row), label })), ...all };
}

async function countList(db: Db, selection: Selection, dimension: Dimension): Promise<KeyCounts | undefined> {
  return (await countVisits(db, toScan(selection, selection.window), { lists: [dimension] })).lists.get(dimension);
}

type AskedList = { dimension: Dimension; order: ListOrder; language: string };

export function readAskedList(query: Query): AskedList {
  return { dimension: readDimension(query, "channel"), order: readOrder(query), language: readLanguage(query) };
}

export async function readAppBreakdown(db: Db, selection: Selection, query: Query): Promise<AppBreakdown> {
  const asked = readAskedList(query);
  const offset = (readPageNumber(query) - 1) * PAGE_ROWS;
  if (isNamed(asked.dimension)) {
    const rows = await readNamed(db, selection, asked);
    return { rows: rows.slice(offset, offset + PAGE_ROWS), count: rows.length, most: findMost(rows) };
  }
  const { dimension, order } = asked;
  return await readBreakdown(db, selection, { dimension, part: { ...order, after: null, offset, limit: PAGE_ROWS } });
}

async function readNamed(
  db: Db,
  selection: Selection,
  { dimension, order: { search, sort, isAscending }, language }: AskedList,
): Promise<Row[]> {
  const part = { ...LARGEST_FIRST, sort, isAscending, limit: NAMED_ROWS_MAX };
  const { rows } = await readBreakdown(db, selection, { dimension, part });
  if (!isNamed(dimension)) return rows;
  const nameOrder = sort === "key" ? (isAscending ? "asc" : "desc") : null;
  return arrangeNamed(rows, { dimension, language, search, nameOrder });
}

/** All rows, from one snapshot and piece by piece, as the reader takes them. Holds no connection meanwhile. */
export async function readBreakdownFile(db: Db, selection: Selection, asked: AskedList): Promise<Iterable<Row[]>> {
  const { dimension, order } = asked;
  if (isNamed(dimension)) return [await readNamed(db, selection, asked)];
  const totals = (await countList(db, selection, dimension)) ?? new Map();
  return parsePieces(await selectPieces(db, selection.owner, { totals, dimension, order }));
}

function* parsePieces(pieces: readonly string[]): Generator<Row[]> {
  for (const piece of pieces) {
    const rows = JSON.parse(piece) as [key: string, label: string | null, views: number, bookings: number][];
    yield rows.map(([key, label, views, bookings]) => ({ ...toEntry({ key, views, bookings }), label }));
  }
}

function readOrder(query: Query): ListOrder {
  const text = readParameter(query, "sort") ?? "bookings";
  const sort = BREAKDOWN_SORTS.find((each) => each === text);
  if (!sort) throw badParameter("sort", `must be one of ${BREAKDOWN_SORTS.join(", ")}`);
  const order = readParameter(query, "order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw badParameter("order", "must be asc or desc");
  return { sort, isAscending: order === "asc", search: readSearch(query) };
}

function readLanguage(query: Query): string {
  const text = readParameter(query, "language") ?? "en";
  try {
    return Intl.getCanonicalLocales(text)[0] ?? "en";
  } catch {
    throw badParameter("language", "must be a language tag, for example en-GB");
  }
}

const PAGES_MAX = 20_000;

function readPageNumber(query: Query): number {
  const text = readParameter(query, "pageNumber") ?? "1";
  const page = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (page < 1 || page > PAGES_MAX) throw badParameter("pageNumber", `must be a whole number from 1 to ${PAGES_MAX}`);
  return page;
}

const ROWS = 50;
/** Rows of the other period in which those of this one are looked up. */
const ROWS_BEFORE = 10_000;

export async function readBreakdownCompared(deps: Pick<Deps, "db" | "clock">, reader: Reader, query: Query) {
  const dimension = readDimension(query);
  const selection = await readSelection(deps, reader, query);
  requireKnownKeys(selection.filters);
  const { window, timeZone } = selection;
  const before = readComparison(query, window);
  const read = async (asked: DayWindow, limit: number) =>
    await readBreakdown(deps.db, { ...selection, window: asked }, { dimension, part: { ...LARGEST_FIRST, limit } });
  const { rows, count } = await read(window, ROWS);
  const earlier = before && new Map((await read(before, ROWS_BEFORE)).rows.map((row) => [row.key, toCounts(row)]));
  return {
    dimension,
    from: window.from,
    to: window.to,
    timeZone,
    previous: before && { from: before.from, to: before.to },
    count,
    rows: rows.map((row) => ({
      key: row.key,
      name: row.label,
      ...toCounts(row),
      previous: earlier && (earlier.get(row.key) ?? NONE),
    })),
  };
}

const NONE = { views: 0, bookings: 0, conversionRate: 0 };

function toCounts({ views, bookings, conversionRate }: AnalyticsEntry) {
  return { views, bookings, conversionRate };
}

export async function readSplit(
  db: Db,
  selection: Selection,
  { dimension, groupsMax }: { dimension: Dimension; groupsMax: number },
): Promise<FunnelSplit["groups"]> {
  const { owner, window } = selection;
  const counts = await countVisits(db, toScan(selection, window), { splitBy: dimension });
  const visits = new Map<number | string, { views: number; bookings: number }>();
  for (const [value, reached] of counts.reachedBy)
    visits.set(value, { views: reached.reduce((sum, count) => sum + count, 0), bookings: 0 });
  const largest = [...chooseBest(visits, groupsMax)]
    .sort(([a, { views }], [b, { views: others }]) => others - views || (a < b ? -1 : 1))
    .slice(0, groupsMax);
  const part = { ...LARGEST_FIRST, sort: "views", limit: groupsMax } as const;
  const { rows } = await readRows(db, owner, { totals: new Map(largest), dimension, part });
  return rows.map(({ key, label }) => {
    const value = isKeyed(dimension) ? toKeyId(dimension, toStoredKey(dimension, key)) : key;
    return { key, label, funnel: toFunnel(counts.reachedBy.get(value) ?? []) };
  });
}

/** Services beside the other times; the whole list is in the breakdown. */
const SERVICES_SHOWN = 25;

export async function readTimes(db: Db, selection: Selection): Promise<BookingTimes> {
  const { owner, window } = selection;
  const counts = await countVisits(db, toScan(selection, window), { lists: ["service"] });
  const part = { ...LARGEST_FIRST, limit: SERVICES_SHOWN };
  return {
    views: toWeek(counts, counts.hourViews),
    bookings: toWeek(counts, counts.hourBookings),
    leadTimes: counts.leadTimes,
    services: await readRows(db, owner, { totals: counts.lists.get("service"), dimension: "service", part }),
  };
}

// People see countries and devices by name, countries in their own language. PostgreSQL doesn't know these names. There are few
// of them, so they are searched and sorted here.

type NamedDimension = Extract<Dimension, "country" | "device">;

export function isNamed(dimension: Dimension): dimension is NamedDimension {
  return dimension === "country" || dimension === "device";
}

/** More than there are: a country has two letters. */
const NAMED_ROWS_MAX = 1_000;

type Arrangement = {
  dimension: NamedDimension;
  language: string;
  search: string | null;
  /** By name; null to keep the order of the rows. */
  nameOrder: "asc" | "desc" | null;
};

/** The rows whose name contains the search, or whose key is it, with their names as labels. */
function arrangeNamed<Row extends { key: string }>(
  rows: readonly Row[],
  { dimension, language, search, nameOrder }: Arrangement,
): (Row & { label: string })[] {
  const countryNames = createCountryNames(language);
  const named = rows.map((row) => ({ ...row, label: toKeyName(dimension, row.key, countryNames) }));
  const text = fold(search ?? "");
  const found = named.filter(({ key, label }) => fold(label).includes(text) || fold(key) === text);
  if (nameOrder === null) return found;
  const { compare } = new Intl.Collator(language);
  return found.sort((a, b) => (nameOrder === "asc" ? compare(a.label, b.label) : compare(b.label, a.label)));
}

/** Without accents and capitals: osterreich finds Österreich. */
function fold(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}
