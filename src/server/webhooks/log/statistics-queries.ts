import { sql } from "kysely";
import { HOUR_MS } from "#contract/durations.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";

type IntervalRow = {
  endpoint_id: EndpointId;
  from_at: Date;
  delivered: number;
  failed: number;
  median_ms: number | null;
  p95_ms: number | null;
};
type Range = { hours: number; from: Date; to: Date };

/** The end of the last interval with totals; attempts since then are read one by one. */
export async function findAddedUpTo(
  db: Db,
  owner: OrganizationId,
  { hours, since }: { hours: number; since: Date },
): Promise<Date> {
  const last = await db
    .selectFrom("attempt_totals")
    .select("from_at")
    .where("organization_id", "=", owner)
    .where("interval_hours", "=", hours)
    .where("from_at", ">=", since)
    .orderBy("from_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return last ? new Date(last.from_at.getTime() + hours * HOUR_MS) : since;
}

export async function listTotals(
  db: Db,
  owner: OrganizationId,
  { endpointId, hours, from, to }: Range & { endpointId: EndpointId },
): Promise<IntervalRow[]> {
  return await db
    .selectFrom("attempt_totals")
    .select(["endpoint_id", "from_at", "delivered", "failed", "median_ms", "p95_ms"])
    .where("organization_id", "=", owner)
    .where("interval_hours", "=", hours)
    .where("endpoint_id", "=", endpointId)
    .where("from_at", ">=", from)
    .where("from_at", "<", to)
    .execute();
}

/** Counts attempts of one endpoint, or of all. Uses delivery_attempts_by_time. */
export async function countByInterval(
  db: Db,
  owner: OrganizationId,
  { endpointId, hours, from, to }: Omit<Range, "to"> & { to: Date | null; endpointId?: EndpointId },
): Promise<IntervalRow[]> {
  const one = endpointId ?? null;
  const { rows } = await sql<IntervalRow>`
    select endpoint_id, date_bin(make_interval(hours => ${hours}::integer), started_at, ${from}) as from_at,
      count(*) filter (where result = 'delivered') as delivered, count(*) filter (where result <> 'delivered') as failed,
      (percentile_disc(0.5) within group (order by duration_ms)) as median_ms,
      (percentile_disc(0.95) within group (order by duration_ms)) as p95_ms
    from ${table("delivery_attempts")}
    where organization_id = ${owner} and started_at >= ${from} and (${to}::timestamptz is null or started_at < ${to})
      and (${one}::text is null or endpoint_id = ${one})
    group by endpoint_id, 2`.execute(db);
  return rows;
}

/** Two workers may add up the same interval; they find the same totals. */
export async function insertTotals(
  db: Db,
  owner: OrganizationId,
  { hours, rows }: { hours: number; rows: readonly IntervalRow[] },
): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map((row) => ({ ...row, organization_id: owner, interval_hours: hours }));
  await db
    .insertInto("attempt_totals")
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
