import { sql } from "kysely";
import { toArrayText } from "../db/array-text.ts";
import type { Db } from "../db/pool.ts";
import type { ZoneRules } from "../lib/zone-rules.ts";

/**
 * Must be committed with, or before, the first row that names these rules. Rules with the same name are the same everywhere.
 */
export async function saveZoneOffsets(db: Db, { id, offsets }: ZoneRules): Promise<void> {
  await sql`
    insert into zone_offsets (rules, from_at, until_at, shift)
    select ${id}, from_at, until_at, make_interval(secs => seconds)
    from unnest(
      ${toArrayText(offsets.map(({ fromMs }) => toTimestamp(fromMs)))}::timestamptz[],
      ${toArrayText(offsets.map(({ untilMs }) => toTimestamp(untilMs)))}::timestamptz[],
      ${toArrayText(offsets.map(({ seconds }) => String(seconds)))}::float8[]
    ) as period (from_at, until_at, seconds)
    on conflict do nothing`.execute(db);
}

function toTimestamp(ms: number): string {
  if (ms === Number.NEGATIVE_INFINITY) return "-infinity";
  return ms === Number.POSITIVE_INFINITY ? "infinity" : new Date(ms).toISOString();
}
