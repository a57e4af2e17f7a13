import { hash } from "node:crypto";
import { Type } from "typebox";
import type { Breakdown } from "#contract/analytics/analytics.ts";
import type { Dimension } from "#contract/analytics/dimensions.ts";
import type { ReadRoutes } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { badParameter, type Query, readPageSize, readParameter, readWindowDays } from "../../http/parameters.ts";
import { shapeOf } from "../../lib/shape.ts";
import { parseJsonText } from "../../lib/text/json-text.ts";
import { type Reader, readAnalytics, readSelection } from "./app-report.ts";
import { type DayWindow, isDay, lastDays, readDayWindow, type Today } from "./app-window.ts";
import { readBreakdown, readDimension } from "./breakdown/breakdown.ts";
import { LARGEST_FIRST } from "./breakdown/queries.ts";
import { type Filter, readFilters, requireKnownKeys } from "./filters.ts";
import type { NamedCounts } from "./lists.ts";

type ReadDeps = Pick<Deps, "db" | "clock">;

export function analyticsReadRoutes(routes: ReadRoutes, deps: ReadDeps): void {
  routes.add("getAnalytics", async ({ caller, query, request: { signal } }) => {
    const [days, widget] = [readWindowDays(query, "days"), readParameter(query, "widget")];
    const readWindow = (_: Query, { today }: Today) => lastDays(today, days);
    const asked = widget === null ? {} : { widget };
    return await readAnalytics(deps.db, await readSelection(deps, { ...caller, signal }, asked, readWindow));
  });

  routes.add("getBreakdown", async ({ caller, query, request: { signal } }) => {
    return await readBreakdownPage(deps, { ...caller, signal }, query);
  });
}

async function readBreakdownPage(deps: ReadDeps, reader: Reader, query: Query): Promise<Breakdown> {
  const dimension = readDimension(query);
  const limit = readPageSize(query, "limit");
  const cursor = readCursor(query);
  const filters = readFilters(query);
  requireKnownKeys(filters);
  const selection = await readSelection(deps, reader, query, (_, { today }) => {
    const window = readDayWindow(query, { today: cursor && cursor.today < today ? cursor.today : today });
    if (cursor) requireSameList(cursor, toAskedText({ dimension, window, filters }));
    return window;
  });
  const part = { ...LARGEST_FIRST, limit: limit + 1, after: cursor?.after ?? null };
  const { rows } = await readBreakdown(deps.db, selection, { dimension, part });
  const data = rows.slice(0, limit).map(({ label: _, ...row }) => row);
  const last = rows.length > limit ? data.at(-1) : undefined;
  const { timeZone, window } = selection;
  const asked = toAskedText({ dimension, window, filters });
  const nextCursor = last ? toCursor({ today: cursor?.today ?? selection.today, asked, after: last }) : null;
  return { dimension, from: window.from, to: window.to, timeZone, data, nextCursor };
}

// The cursor of GET /api/v1/analytics/breakdown is the last row of a page: the next page begins after it, even if counts have
// changed meanwhile. It also has the day of the first page, so that all pages are of the same days if one is read after
// midnight, and a digest of what was asked, because in another list the row means nothing.

type Cursor = { today: string; asked: string; after: NamedCounts };

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const CursorText = shapeOf(Type.Tuple([Type.String(), Type.String(), Count, Count, Type.String()]));

function toCursor({ today, asked, after: { bookings, views, key } }: Cursor): string {
  return Buffer.from(JSON.stringify([today, asked, bookings, views, key])).toString("base64url");
}

/** Null if none was sent. Throws 400 if it can't come from a page. */
function readCursor(query: Query): Cursor | null {
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
function requireSameList(cursor: Cursor, asked: string): void {
  if (cursor.asked !== asked)
    throw badParameter(
      "cursor",
      "was issued for a different dimension, days or filters: send the same ones as for the first page",
    );
}

/** The same text for the same list, whatever the order of its filters. */
function toAskedText({
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
