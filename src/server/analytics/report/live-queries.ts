import { sql } from "kysely";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { lastAt } from "../record/merge-hits.ts";

const SHOWN_BOOKINGS = 8;
/** Visits that were opened earlier count only when they book: there is no index by the last step, which would slow down every event. */
const OPENED_MS = DAY_MS;

type LiveCounts = { visits_5: number; visits_60: number };
type LiveBooking = {
  id: string;
  at_ms: number;
  widget_id: string;
  service: string | null;
  channel: string;
  country: string;
  device: string;
  count: number;
};

/** Served by funnel_visits_by_start and, for visits that book long after they were opened, funnel_visits_by_conversion. */
export async function countLiveVisits(db: Db, owner: OrganizationId, now: Date): Promise<LiveCounts> {
  const ago = (ms: number) => sql`${new Date(now.getTime() - ms)}::timestamptz`;
  const { rows } = await sql<LiveCounts>`
    select count(*) filter (where ${lastAt} >= ${ago(5 * MINUTE_MS)})::integer as visits_5,
      count(*) filter (where ${lastAt} >= ${ago(HOUR_MS)})::integer as visits_60
    from funnel_visits where organization_id = ${owner}
      and (started_at >= ${ago(OPENED_MS)} or converted_at >= ${ago(HOUR_MS)})`.execute(db);
  return rows[0] ?? { visits_5: 0, visits_60: 0 };
}

/** The newest bookings of the last hour, each with the number of all. Served by funnel_visits_by_conversion. */
export async function listLiveBookings(db: Db, owner: OrganizationId, now: Date): Promise<LiveBooking[]> {
  const since = new Date(now.getTime() - HOUR_MS);
  const name = (column: string) =>
    sql`(select key from funnel_keys where organization_id = ${owner} and id = ${sql.ref(`newest.${column}`)})`;
  const { rows } = await sql<LiveBooking>`
    select newest.id, at_ms, widget_id, service, count, coalesce(${name("channel")}, '') as channel,
      coalesce(${name("country")}, '') as country, coalesce(${name("device")}, '') as device
    from (
      select md5(visit_id || booking.key) as id, (times ->> 0)::bigint as at_ms, widget_id, times ->> 2 as service, channel,
        country, device, count(*) over ()::integer as count
      from funnel_visits cross join lateral jsonb_each(bookings) booking (key, times)
      where organization_id = ${owner} and converted_at >= ${since} and bookings is not null
        and (times ->> 0)::bigint >= ${since.getTime()}
      order by at_ms desc, id limit ${SHOWN_BOOKINGS}
    ) newest
    order by at_ms desc, id`.execute(db);
  return rows;
}
