import type { AppBreakdown } from "#contract/app/analytics.ts";
import { SEARCH_LENGTH_MAX } from "#contract/app/limits.ts";
import { DIMENSIONS, type Dimension } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { badParameter, type Query, readParameter } from "../http/parameters.ts";
import { type Question, toCountedWindow, toScan } from "./app-report.ts";
import { BREAKDOWN_SORTS, type BreakdownPart, selectCountedRows, selectScannedRows } from "./breakdown-queries.ts";
import { toEntry } from "./report.ts";
import { countVisits } from "./scan/count-visits.ts";
import type { Totals } from "./scan/visit-counts.ts";

/** Rows per page of the dashboard, and of a CSV file. */
const PAGE_ROWS = 50;
const FILE_ROWS_MAX = 100_000;

/** The dashboard starts with channels; the read API has no default. */
export function readDimension(query: Query, fallback?: Dimension): Dimension {
  const text = readParameter(query, "dimension") ?? fallback;
  const dimension = DIMENSIONS.find((each) => each === text);
  if (!dimension) throw badParameter("dimension", `must be one of ${DIMENSIONS.join(", ")}`);
  return dimension;
}

type Wanted = { dimension: Dimension; part: BreakdownPart };

/** A page of the list, or all of it. Services are not among the counters. */
export async function readBreakdown(db: Db, question: Question, { dimension, part }: Wanted): Promise<AppBreakdown> {
  const { owner, window } = question;
  const counted = toCountedWindow(question, window);
  const rows =
    dimension !== "service" && counted && (await selectCountedRows(db, owner, { window: counted, dimension, part }));
  if (rows) return toRows(rows);
  const counts = await countVisits(db, toScan(question, window), { lists: [dimension] });
  return await readScannedRows(db, owner, { totals: counts.lists.get(dimension), dimension, part });
}

/** From what was counted of the visits. */
export async function readScannedRows(
  db: Db,
  owner: OrganizationId,
  { totals = new Map(), ...wanted }: Wanted & { totals: Totals | undefined },
): Promise<AppBreakdown> {
  return toRows(await selectScannedRows(db, owner, { totals, ...wanted }));
}

function toRows({ rows, ...all }: Awaited<ReturnType<typeof selectScannedRows>>): AppBreakdown {
  return { rows: rows.map(({ label, ...row }) => ({ ...toEntry(row), label })), ...all };
}

/** One page as the dashboard asks for it. */
export async function readAppBreakdown(db: Db, question: Question, query: Query): Promise<AppBreakdown> {
  const dimension = readDimension(query, "channel");
  const page = readPageNumber(query);
  return await readBreakdown(db, question, {
    dimension,
    part: { ...readOrder(query, dimension), offset: (page - 1) * PAGE_ROWS, limit: PAGE_ROWS },
  });
}

/** Every row, in the order and with the search of the screen. */
export async function readBreakdownFile(db: Db, question: Question, query: Query): Promise<AppBreakdown["rows"]> {
  const dimension = readDimension(query, "channel");
  const part = { ...readOrder(query, dimension), offset: 0, limit: FILE_ROWS_MAX };
  return (await readBreakdown(db, question, { dimension, part })).rows;
}

function readOrder(query: Query, dimension: Dimension): Omit<BreakdownPart, "offset" | "limit"> {
  const text = readParameter(query, "sort") ?? "bookings";
  const sort = BREAKDOWN_SORTS.find((each) => each === text);
  if (!sort) throw badParameter("sort", `must be one of ${BREAKDOWN_SORTS.join(", ")}`);
  const order = readParameter(query, "order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw badParameter("order", "must be asc or desc");
  return { sort, isAscending: order === "asc", search: readSearch(query, dimension), after: null };
}

function readSearch(query: Query, dimension: Dimension): BreakdownPart["search"] {
  const text = (readParameter(query, "search") ?? "").replaceAll("\0", "").toWellFormed().trim();
  if (text.length > SEARCH_LENGTH_MAX)
    throw badParameter("search", `must not be longer than ${SEARCH_LENGTH_MAX} characters`);
  return text === "" ? null : { text, codes: dimension === "country" ? findCountries(text) : [] };
}

const countryNames = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
const LETTERS = Array.from({ length: 26 }, (_, i) => String.fromCharCode(65 + i));

/** Codes of countries whose English name contains the text. */
function findCountries(text: string): string[] {
  const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
  return codes.filter((code) => countryNames.of(code)?.toLowerCase().includes(text.toLowerCase()));
}

const PAGES_MAX = 2_000;

function readPageNumber(query: Query): number {
  const text = readParameter(query, "pageNumber") ?? "1";
  const page = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (page < 1 || page > PAGES_MAX) throw badParameter("pageNumber", `must be a whole number from 1 to ${PAGES_MAX}`);
  return page;
}
