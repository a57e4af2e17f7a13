import { CompiledQuery, sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { readAtHome, table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { FixedText } from "../../db/run-prepared.ts";
import { assert } from "../../lib/assert.ts";

// Pages of bookings as the read API returns them. A page is one text, assembled by PostgreSQL from api_json, which is written
// with every booking (to-api-json.ts): as rows and columns, a page of 100 took node-postgres longer than everything else.
//
// createdAt is unique within an organization, so a page that ends at one createdAt and the next page that begins below it
// neither skip nor repeat. The unique index on (organization_id, created_at), or with a widget bookings_by_widget, serves any
// page, however deep. Every statement is prepared: planning took longer than reading a page. A prepared statement is planned for
// a usual widget, so toRange leaves it only bookings_by_widget to choose: for a widget with few bookings, PostgreSQL would
// read those of all widgets.

type PageFilter = {
  /** Inclusive; retention and the caller's `since`, whichever is later. */
  createdFrom: Date;
  /** Exclusive. */
  createdBefore: Date | null;
  limit: number;
};

export type ApiPage = {
  /** The elements of `data`, with commas between them. */
  bookings: string;
  /** createdAt of the last booking on the page; null on the last page. */
  nextCursor: string | null;
};

type Range = Record<"owner" | "from" | "before", string>;

/** The condition and the order for bookings of all widgets, or of one. Parameters are placeholders such as `$1`. */
function toRange({ owner, from, before }: Range, widget?: string): { condition: string; newestFirst: string } {
  const isOwn = `organization_id = ${owner}`;
  return widget === undefined
    ? {
        condition: `${isOwn} and created_at >= ${from} and created_at < ${before}`,
        newestFirst: "created_at desc",
      }
    : {
        condition: `${isOwn} and (widget_id, created_at) >= (${widget}, ${from}) and (widget_id, created_at) < (${widget}, ${before})`,
        newestFirst: "widget_id desc, created_at desc",
      };
}

/** One row more than the page holds tells whether there is a next page. */
const toPageSelect = (parameters: Range & { limit: string }, widget?: string) => {
  const range = toRange(parameters, widget);
  const [condition, newestFirst, limit] = [range.condition, range.newestFirst, parameters.limit].map((text) =>
    sql.raw(text),
  );
  return sql`
  select coalesce(string_agg(api_json, ',' order by created_at desc) filter (where place <= ${limit}), '') as bookings,
    case when count(*) > ${limit} then
      to_char(min(created_at) filter (where place <= ${limit}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    end as "nextCursor"
  from (
    select api_json, created_at, row_number() over (order by ${newestFirst}) as place from ${table("bookings")}
    where ${condition}
    order by ${newestFirst} limit ${limit} + 1
  ) read`;
};

const OWN_PAGE = { owner: "$1", from: "$2", before: "$3", limit: "$4::integer" };
const page = new FixedText(sql`-- prepared: select_page${toPageSelect(OWN_PAGE)}`);
const pageOfWidget = new FixedText(sql`-- prepared: select_page_of_widget${toPageSelect(OWN_PAGE, "$5")}`);

export async function selectPage(
  db: Db,
  owner: OrganizationId,
  { widgetId, ...filter }: PageFilter & { widgetId: WidgetId | null },
): Promise<ApiPage> {
  const values = [owner, ...toFilterValues(filter)];
  const { rows } = await readAtHome(db, owner, (home) =>
    home.executeQuery<ApiPage>(
      widgetId === null
        ? CompiledQuery.raw(page.for(home), values)
        : CompiledQuery.raw(pageOfWidget.for(home), [...values, widgetId]),
    ),
  );
  const [row] = rows;
  assert(row, "an aggregate returns one row");
  return row;
}

function toFilterValues({ createdFrom, createdBefore, limit }: PageFilter): unknown[] {
  return [toInstantText(createdFrom), createdBefore === null ? "infinity" : toInstantText(createdBefore), limit];
}

/** As text, because a Date takes node-postgres longer. PostgreSQL only reads four-digit years; no booking has others. */
export function toInstantText(instant: Date): string {
  const year = instant.getUTCFullYear();
  if (year > 9999) return "infinity";
  return year < 1 ? "-infinity" : instant.toISOString();
}
