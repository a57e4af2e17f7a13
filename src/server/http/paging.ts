import { parseIsoInstant } from "../lib/time/iso-instant.ts";
import { badParameter, type Query, readParameter } from "./parameters.ts";

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
export type RowPlace = { at: Date; id: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function toPlaceCursor({ at, id }: RowPlace): string {
  return `${at.toISOString()}_${id}`;
}

export function readPlaceCursor(query: Query, name: string): RowPlace | null {
  const text = readParameter(query, name);
  if (text === null) return null;
  const [time = "", id = "", ...rest] = text.split("_");
  const at = parseIsoInstant(time, "up");
  if (!at || !UUID.test(id) || rest.length > 0) throw badParameter(name, "must be the nextCursor of the previous page");
  return { at, id };
}
