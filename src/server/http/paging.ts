import { parseIsoInstant } from "../lib/time/iso-instant.ts";
import { badParameter, type Query, readPageSize, readParameter } from "./parameters.ts";

// Lists in pages, newest first. The next page starts below the last row of the current one, so new rows don't shift the
// pages.

/** One extra row shows whether there is a next page. The cursor is made from the last row shown. */
export async function readPage<Row>({
  limit,
  read,
  toCursor,
}: {
  limit: number;
  read: (limit: number) => Promise<Row[]>;
  toCursor: (last: Row) => string;
}): Promise<{ rows: Row[]; nextCursor: string | null }> {
  const found = await read(limit + 1);
  const rows = found.slice(0, limit);
  const last = found.length > rows.length ? rows.at(-1) : undefined;
  return { rows, nextCursor: last ? toCursor(last) : null };
}

/** Rows may share a time, so the cursor has a time and an id. */
export type RowPosition = { at: Date; id: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function toRowCursor({ at, id }: RowPosition): string {
  return `${at.toISOString()}_${id}`;
}

export function readRowCursor(query: Query, name: string): RowPosition | null {
  const text = readParameter(query, name);
  if (text === null) return null;
  const [time = "", id = "", ...rest] = text.split("_");
  const at = parseIsoInstant(time, "up");
  if (!at || !UUID.test(id) || rest.length > 0) throw badParameter(name, "must be the nextCursor of the previous page");
  return { at, id };
}

/**
 * A page of a list that is read as a whole, newest first. Without a limit, it is the rest of the list. The cursor is the creation time
 * and the id of the last item, so it holds even if that item is deleted.
 */
export function sliceList<Item extends { createdAt: string; id: string }>(
  query: Query,
  items: readonly Item[],
  limitDefault = items.length,
): { data: Item[]; nextCursor: string | null } {
  const cursor = readParameter(query, "cursor");
  const [, at, id] = /^([0-9TZ:.-]{24})_([\w-]+)$/.exec(cursor ?? "") ?? [];
  if (cursor !== null && (at === undefined || id === undefined))
    throw badParameter("cursor", "must be the nextCursor of the previous page");
  const sorted = items.toSorted((a, b) => compareText(b.createdAt, a.createdAt) || compareText(a.id, b.id));
  const rest = sorted.filter(
    (item) => at === undefined || id === undefined || item.createdAt < at || (item.createdAt === at && item.id > id),
  );
  const data = rest.slice(0, readParameter(query, "limit") === null ? limitDefault : readPageSize(query, "limit"));
  const last = data.length < rest.length ? data.at(-1) : undefined;
  return { data, nextCursor: last ? `${last.createdAt}_${last.id}` : null };
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
