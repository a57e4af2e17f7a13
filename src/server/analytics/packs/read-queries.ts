import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { FixedStatement } from "../../db/statements/run-prepared.ts";
import { DAY_HOURS, type Progress, SPAN_DAYS, spanStart } from "./pack-queries.ts";
import { type ColumnsRow, selectColumns } from "./read-visits.ts";
import { ALL_WIDGETS } from "./totals.ts";

/** The first statement reads the parts of a window's edges, unless they are larger together. */
const EDGE_BYTES_MAX = 256 * 1024;

export type Wanted = {
  owner: OrganizationId;
  /** First instant, and the first one after. */
  startMs: number;
  endMs: number;
  /** Whose totals can answer: a widget's, those of all widgets (""), or nobody's. */
  totalsOf: string | null;
  hasLists: boolean;
};

/** A day by its number since 1970. */
export type Part = { day: number; part: number; hours: number; digest: string; bytes: number };

type PartRow = [day: number, part: number, hours: number, digest: string, bytes: number, isNeeded: boolean];

type PackedRow = Progress &
  ColumnsRow & { counts: string; keys: string; days: number[]; parts: PartRow[]; parts_data: string | null };
type PackedValues = Pick<Wanted, "owner" | "totalsOf" | "hasLists"> & {
  start: Date;
  end: Date;
  /** Days that have an instant of the window, and days that lie within it: the first, and the first after. */
  firstDay: string;
  lastDay: string;
  firstWhole: string;
  wholeBefore: string;
};

/**
 * `days`: those of the window, and earlier ones whose visits may have converted in it. `spans`: totals of 30 days, none of which
 * is cut by the window or outdated.
 */
export const packedStatement = new FixedStatement<PackedRow, PackedValues>(
  ({
    owner,
    totalsOf,
    hasLists,
    start,
    end,
    firstDay,
    lastDay,
    firstWhole,
    wholeBefore,
  }) => sql`-- prepared: read_packed
    with progress as materialized (
      select kept_since, packed_before from ${table("visit_progress")} where organization_id = ${owner}
    ), days as materialized (
      select day, outdated, ${spanStart(sql`day`)} as span, ${totalsOf}::text is not null and outdated = 0
        and packed_hours = ${sql.lit(DAY_HOURS)} and day >= ${firstWhole}::date and day < ${wholeBefore}::date
        and coalesce(last_at < ${end}, true) as is_whole
      from ${table("visit_days")}
      where organization_id = ${owner} and day <= ${lastDay}::date and (
        day >= ${firstDay}::date or last_at >= ${start} or outdated <> 0 or packed_hours < ${sql.lit(DAY_HOURS)}
      )
    ), spans as materialized (
      select start from ${table("visit_totals")}
      where organization_id = ${owner} and widget_id = ${sql.lit(ALL_WIDGETS)} and days = ${sql.lit(SPAN_DAYS)}
        and start >= ${firstWhole}::date and start <= ${wholeBefore}::date - ${sql.lit(SPAN_DAYS)}
        and ${totalsOf}::text is not null and start not in (select span from days where not is_whole)
    ), parts as materialized (
      select day, part, hours, digest, octet_length(data) as bytes, data,
        day >= ${firstDay}::date or coalesce(pack.last_at >= ${start}, false) as is_needed
      from days cross join lateral (
        select part, hours, digest, data, last_at from ${table("visit_packs", "pack")}
        where organization_id = ${owner} and pack.day = days.day and hours & outdated = 0 offset 0
      ) pack
      where not is_whole
    )
    select kept_since, packed_before, coalesce(totals.counts, '') as counts, coalesce(totals.keys, '') as keys, (
        select coalesce(json_agg(day - date '1970-01-01'), '[]') from days where not is_whole
      ) as days, (
        select coalesce(json_agg(json_build_array(
          day - date '1970-01-01', part, hours, encode(digest, 'base64'), bytes, is_needed
        ) order by day, part), '[]') from parts
      ) as parts, (
        select encode(string_agg(data, '' order by day, part), 'base64') from parts
        where is_needed and (select sum(bytes) from parts where is_needed) <= ${sql.lit(EDGE_BYTES_MAX)}
      ) as parts_data, newest.*
    from progress cross join (
      select encode(string_agg(counts, ''), 'base64') as counts,
        encode(string_agg(case when ${hasLists}::boolean then keys end, ''), 'base64') as keys
      from (
        select ${sql.lit(SPAN_DAYS)} as days, start from spans
        union all select 1, day from days where is_whole and span not in (select start from spans)
      ) wanted join ${table("visit_totals")} using (days, start)
      where organization_id = ${owner} and widget_id = ${totalsOf}
    ) totals cross join lateral (${selectColumns(sql`organization_id = ${owner}
      and started_at >= coalesce(packed_before, '-infinity') and started_at < ${end}
      and (started_at >= ${start} or converted_at >= ${start})`)}
    ) newest`,
);

type PartBytes = Pick<Part, "day" | "digest" | "bytes"> & { base64: string };

/** Bytes come as base64: it is shorter than PostgreSQL's hexadecimal digits, and Node reads it four times as fast. */
export async function selectParts(
  transaction: Db,
  owner: OrganizationId,
  parts: readonly Part[],
): Promise<PartBytes[]> {
  const { rows } = await sql<PartBytes>`-- prepared: select_packs
    select wanted.day, encode(digest, 'base64') as digest, octet_length(data) as bytes, encode(data, 'base64') as base64
    from unnest(${parts.map(({ day }) => day)}::integer[], ${parts.map(({ part }) => part)}::integer[]) as wanted (day, part)
    join ${table("visit_packs", "pack")} on pack.day = date '1970-01-01' + wanted.day and pack.part = wanted.part
    where organization_id = ${owner}`.execute(transaction);
  return rows;
}
