import { sql } from "kysely";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";

type UnsettledMeasure = { count: number; oldest_seconds: number };

/** A total across all organizations, served by the index pending_bookings_asking. */
export async function measureUnsettled(db: Db, now: Date): Promise<UnsettledMeasure> {
  const { rows } = await sql<UnsettledMeasure>`
    select count(*)::float8 as count,
      greatest(0, coalesce(extract(epoch from ${now}::timestamptz - min(created_at)), 0))::float8 as oldest_seconds
    from pending_bookings where state = 'asking'`.execute(db);
  const [row] = rows;
  assert(row, "a select without group by gives one row");
  return row;
}
