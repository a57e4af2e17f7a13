import { sql } from "kysely";
import { type Dimension, NOT_SET } from "#contract/dimensions.ts";
import type { Db } from "../../db/pool.ts";
import { furthest } from "../../funnel/record/counters.ts";
import { fromViewed, isKeyed, isOfServices, type Scan } from "./visit-scan.ts";

type SplitRow = { key: string; label: string | null; reached: number[] };

/** Visits by furthest step for each of a dimension's largest keys, most visits first. */
export async function scanSplit(
  db: Db,
  scan: Scan,
  { dimension, groupsMax }: { dimension: Dimension; groupsMax: number },
): Promise<SplitRow[]> {
  const { owner } = scan;
  const source =
    dimension === "service"
      ? sql`(
          select distinct widget_id, visit_id, step, coalesce(times ->> 2, ${sql.lit(NOT_SET)}) as service
          from (select widget_id, visit_id, bookings, ${furthest} as step ${fromViewed(scan)} and bookings is not null) visit
          cross join lateral jsonb_each(bookings) booking (key, times)
        ) visit where true ${isOfServices(scan.filters)}`
      : sql`(select ${isKeyed(dimension) ? sql.ref(dimension) : sql`widget_id`} as id, ${furthest} as step ${fromViewed(scan)}) visit`;
  const id = dimension === "service" ? sql`service` : sql`id`;
  const names = isKeyed(dimension)
    ? sql`select case when key = '' then ${sql.lit(NOT_SET)} else key end as key, null::text as label, reached, visits
        from largest join funnel_keys on organization_id = ${owner} and funnel_keys.id = largest.id`
    : dimension === "widget"
      ? sql`select widgets.id as key, widgets.name as label, reached, visits
          from largest join widgets on widgets.organization_id = ${owner} and widgets.id = largest.id`
      : sql`select id as key, null::text as label, reached, visits from largest`;
  const { rows } = await sql<SplitRow>`
    with largest as materialized (
      select ${id} as id, count(*) as visits, array[
        ${sql.join([1, 2, 3, 4, 5, 6].map((step) => sql`count(*) filter (where step = ${sql.lit(step)})`))}
      ]::integer[] as reached
      from ${source}
      group by ${id} order by count(*) desc, ${id} limit ${groupsMax}
    )
    select key, label, reached from (${names}) named order by visits desc, key`.execute(db);
  return rows;
}
