import { type RawBuilder, sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { readAtHome, table } from "../../../db/home.ts";
import { FixedStatement } from "../../../db/statements/run-prepared.ts";
import { assert } from "../../../lib/assert.ts";

// Pages of bookings as the read API returns them. A page is one text, assembled by PostgreSQL from api_json, which is written
// with every booking (to-api-json.ts): as rows and columns, a page of 100 would take node-postgres longer than everything else.
//
// createdAt is unique within an organization, so a page that ends at one createdAt and the next page that begins below it
// neither skip nor repeat. The unique index on (organization_id, created_at), or with a widget bookings_by_widget, serves any
// page, however deep.

type PageFilter = {
  /** Inclusive; retention and the caller's `since`, whichever is later. */
  createdFrom: Date;
  /** Exclusive. */
  createdBefore: Date | null;
  limit: number;
  widgetId: WidgetId | null;
};

export type ApiPage = {
  /** The elements of `data`, with commas between them. */
  bookings: string;
  /** createdAt of the last booking on the page; null on the last page. */
  nextCursor: string | null;
};

type PageValues = { owner: OrganizationId; from: string; before: string; limit: number };

/** One row more than the page holds tells whether there is a next page. */
const toPageSelect = ({ owner, from, before, limit }: PageValues, condition: RawBuilder<unknown>) => sql<ApiPage>`
  select coalesce(string_agg(api_json, ',' order by created_at desc) filter (where position <= ${limit}::integer), '') as bookings,
    case when count(*) > ${limit}::integer then
      to_char(min(created_at) filter (where position <= ${limit}::integer) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    end as "nextCursor"
  from (
    select api_json, created_at, row_number() over (order by created_at desc) as position from ${table("bookings")}
    where organization_id = ${owner} and created_at >= ${from} and created_at < ${before} and ${condition}
    order by created_at desc limit ${limit}::integer + 1
  ) read`;

const page = new FixedStatement(
  (values: PageValues) => sql<ApiPage>`-- prepared: select_page${toPageSelect(values, sql`true`)}`,
);

/** Not prepared: a plan for a widget with many bookings would read those of all widgets to find the few of another. */
const pageOfWidget = new FixedStatement((values: PageValues & { widgetId: WidgetId }) =>
  toPageSelect(values, sql`widget_id = ${values.widgetId}`),
);

export async function selectPage(
  db: Db,
  owner: OrganizationId,
  { createdFrom, createdBefore, limit, widgetId }: PageFilter,
): Promise<ApiPage> {
  const from = toInstantText(createdFrom);
  const before = createdBefore === null ? "infinity" : toInstantText(createdBefore);
  const values = { owner, from, before, limit };
  const [row] = await readAtHome(db, owner, (home) =>
    widgetId === null ? page.run(home, values) : pageOfWidget.run(home, { ...values, widgetId }),
  );
  assert(row, "an aggregate returns one row");
  return row;
}

/** As text, because a Date takes node-postgres longer. PostgreSQL only reads four-digit years; no booking has others. */
export function toInstantText(instant: Date): string {
  const year = instant.getUTCFullYear();
  if (year > 9999) return "infinity";
  return year < 1 ? "-infinity" : instant.toISOString();
}
