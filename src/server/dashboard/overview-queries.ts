import { sql } from "kysely";
import type { Checklist } from "#contract/app/overview.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import { LoggableError } from "../lib/log/loggable-error.ts";
import { listConnections } from "../scheduler/scheduler.ts";
import { hasLiveBooking, isTestVisit } from "../test-mode/test-mode.ts";

/**
 * Pages are stored as origin and path, so those of our own begin with `baseUrl`. A live booking, which may be
 * imported, counts only while a widget is live: its step comes after "Go live".
 */
export async function readChecklist(
  db: Db,
  owner: OrganizationId,
  { baseUrl, pageKind, userId }: { baseUrl: string; pageKind: number; userId: string },
): Promise<{ checklist: Checklist; isChecklistDismissed: boolean }> {
  const { rows } = await sql<Omit<Checklist, "hasConnection" | "hasSecondMember">>`
    select
      exists (select from widgets where organization_id = ${owner}) as "hasWidget",
      exists (select from widgets where organization_id = ${owner}
        and (accent_color is not null or template <> 'classic' or options <> '{}')) as "hasLook",
      exists (select from widgets where organization_id = ${owner} and collect_data) as "storesBookings",
      exists (select from funnel_keys where organization_id = ${owner} and kind = ${pageKind} and key <> ''
        and not starts_with(key, ${`${baseUrl}/`})) as "isOnPage",
      exists (select from sandbox_appointments where organization_id = ${owner})
        or exists (select from live_periods where organization_id = ${owner}) as "hasTestBooking",
      exists (select from live_periods where organization_id = ${owner} and ended_at is null) as "isLive",
      exists (
        select from bookings where organization_id = ${owner} and not is_test
      ) or exists (
        select from funnel_visits visit
        where organization_id = ${owner} and converted_at is not null and bookings is not null
          and ${hasLiveBooking(owner, "visit")}
      ) as "hasLiveBooking",
      exists (select from endpoints where organization_id = ${owner} and removed_at is null) as "hasEndpoint"`.execute(
    db,
  );
  const [row] = rows;
  if (!row) throw new LoggableError("a select without from gives one row");
  // On a cluster, members are on the coordinator, and one statement does not read them together with an organization's rows.
  const { rows: members } = await sql<{ isDismissed: boolean }>`
    select user_id = ${userId} and checklist_dismissed_at is not null as "isDismissed"
    from members where organization_id = ${owner} order by user_id <> ${userId} limit 2`.execute(db);
  // The demo's widgets are live without one.
  const hasConnection = row.isLive || (await listConnections(db, owner)).length > 0;
  const checklist = {
    ...row,
    hasLiveBooking: row.isLive && row.hasLiveBooking,
    hasConnection,
    hasSecondMember: members.length > 1,
  };
  return { checklist, isChecklistDismissed: members.some(({ isDismissed }) => isDismissed) };
}

/** Only for this person: colleagues may still be at it. */
export async function dismissChecklist(
  db: Db,
  owner: OrganizationId,
  { userId, at }: { userId: string; at: Date },
): Promise<void> {
  const ofPerson = db.updateTable("members").where("organization_id", "=", owner).where("user_id", "=", userId);
  await ofPerson.set({ checklist_dismissed_at: at }).execute();
}

export async function countNow(
  db: Db,
  owner: OrganizationId,
  since: { visitsSince: Date; bookingsSince: Date },
): Promise<{ visits: number; bookings: number }> {
  const { rows } = await sql<{ visits: number; bookings: number }>`
    select
      (select count(*) from funnel_visits
        where organization_id = ${owner} and started_at >= ${since.visitsSince}) as visits,
      (select count(*) from funnel_visits cross join lateral jsonb_each(bookings) booking (key, times)
        where organization_id = ${owner} and converted_at >= ${since.bookingsSince} and bookings is not null
          and (times ->> 0)::bigint >= ${since.bookingsSince.getTime()}) as bookings`.execute(db);
  return rows[0] ?? { visits: 0, bookings: 0 };
}

/** Looks only at widgets that were not live all the time, so that it costs nothing once they are. */
export async function hasTestVisits(
  db: Db,
  owner: OrganizationId,
  { since, now }: { since: Date; now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    select from funnel_visits visit where organization_id = ${owner} and started_at >= ${since}
      and widget_id not in (
        select period.widget_id from live_periods period where period.organization_id = ${owner}
          and period.started_at <= ${since} and period.ended_at is null
      ) and ${isTestVisit(owner, { visit: "visit", now })}
    limit 1`.execute(db);
  return rows.length > 0;
}
