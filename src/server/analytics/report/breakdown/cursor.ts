import { hash } from "node:crypto";
import { Type } from "typebox";
import type { Dimension } from "#contract/dimensions.ts";
import { badParameter, type Query, readParameter } from "../../../http/parameters.ts";
import { shapeOf } from "../../../lib/shape.ts";
import { parseJsonText } from "../../../lib/text/json-text.ts";
import { type DayWindow, isDay } from "../app-window.ts";
import type { Filter } from "../filters.ts";
import type { NamedCounts } from "../lists.ts";

// The cursor of GET /api/v1/analytics/breakdown is the last row of a page: the next page begins after it, even if counts have
// changed meanwhile. It also has the day of the first page, so that all pages are of the same days if one is read after
// midnight, and a digest of what was asked, because in another list the row means nothing.

type Cursor = { today: string; asked: string; after: NamedCounts };

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const CursorText = shapeOf(Type.Tuple([Type.String(), Type.String(), Count, Count, Type.String()]));

export function toCursor({ today, asked, after: { bookings, views, key } }: Cursor): string {
  return Buffer.from(JSON.stringify([today, asked, bookings, views, key])).toString("base64url");
}

/** Null if none was sent. Throws 400 if it can't come from a page. */
export function readCursor(query: Query): Cursor | null {
  const text = readParameter(query, "cursor");
  if (text === null) return null;
  const parsed = parseJsonText(Buffer.from(text, "base64url").toString());
  const value = "value" in parsed ? parsed.value : null;
  const isCursor = CursorText.Check(value) && isDay(value[0]) && !value[4].includes("\0");
  if (!isCursor) throw badParameter("cursor", "must be the nextCursor of a previous page");
  const [today, asked, bookings, views, key] = value;
  return { today, asked, after: { bookings, views, key } };
}

/** Throws 400 if the cursor's page was of another list. */
export function requireSameList(cursor: Cursor, asked: string): void {
  if (cursor.asked !== asked)
    throw badParameter(
      "cursor",
      "was issued for a different dimension, days or filters: send the same ones as for the first page",
    );
}

/** The same text for the same list, whatever the order of its filters. */
export function toAskedText({
  dimension,
  window: { from, to },
  filters,
}: {
  dimension: Dimension;
  window: DayWindow;
  filters: readonly Filter[];
}): string {
  const sorted = filters.map(({ keys, ...filter }) => ({ ...filter, keys: keys.toSorted() }));
  return hash("sha256", JSON.stringify([dimension, from, to, sorted]), "base64url").slice(0, 12);
}
