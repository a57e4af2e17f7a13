import { type RawBuilder, sql } from "kysely";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import { readAtHome, table, writeAtHome } from "../db/home.ts";

export async function openLivePeriod(
  transaction: Db,
  owner: OrganizationId,
  { widgetId, now }: { widgetId: WidgetId; now: Date },
): Promise<void> {
  await sql`
    insert into live_periods as period (organization_id, widget_id, started_at)
    values (${owner}, ${widgetId}, ${now})
    on conflict (organization_id, widget_id, started_at)
    do update set ended_at = null`.execute(transaction);
}

export async function closeLivePeriod(
  transaction: Db,
  owner: OrganizationId,
  { widgetId, now }: { widgetId: WidgetId; now: Date },
): Promise<void> {
  await transaction
    .updateTable("live_periods")
    .set({ ended_at: now })
    .where("organization_id", "=", owner)
    .where("widget_id", "=", widgetId)
    .where("ended_at", "is", null)
    .execute();
}

/**
 * Whether a visit began in test mode and led to no live booking. Imported visits from before the
 * widget existed are not test data. `visit` is the name of funnel_visits in the statement.
 */
export function isTestVisit(owner: OrganizationId, { visit, now }: { visit: string; now: Date }): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${visit}.${name}`);
  const createdAt = sql`(
    select widget.created_at from ${table("widgets", "widget")} where widget.organization_id = ${owner} and widget.id = ${column("widget_id")}
  )`;
  return sql<boolean>`(${column("started_at")} < ${now} and ${column("started_at")} >= ${createdAt}
    and not ${wasLive(owner, { visit, at: column("started_at") })} and not ${hasLiveBooking(owner, visit)})`;
}

/** Not by converted_at: that is the last attempt, which may be a test or have failed. */
export function hasLiveBooking(owner: OrganizationId, visit: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from jsonb_each(${sql.ref(`${visit}.bookings`)}) as booking (key, times)
    cross join lateral (select timestamptz 'epoch' + (times ->> 0)::bigint * interval '1 millisecond' as at) booked
    where ${wasLive(owner, { visit, at: sql`booked.at` })}
  )`;
}

function wasLive(
  owner: OrganizationId,
  { visit, at }: { visit: string; at: RawBuilder<unknown> },
): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from ${table("live_periods", "period")}
    where period.organization_id = ${owner} and period.widget_id = ${sql.ref(`${visit}.widget_id`)}
      and ${at} >= period.started_at and (period.ended_at is null or ${at} < period.ended_at)
  )`;
}

export type TestData = { bookings: number; visits: number; deliveries: number };

export async function countTestData(
  db: Db,
  owner: OrganizationId,
  { widgetId, now }: { widgetId: WidgetId; now: Date },
): Promise<TestData> {
  const statement = sql<TestData>`
    select
      (select count(*) from ${table("bookings")} where organization_id = ${owner} and widget_id = ${widgetId} and is_test) as bookings,
      (select count(*) from ${table("funnel_visits", "visit")} where organization_id = ${owner} and widget_id = ${widgetId}
        and ${isTestVisit(owner, { visit: "visit", now })}) as visits,
      (select count(*) from ${table("bookings", "booking")}
        join ${table("webhook_events", "event")} on event.organization_id = ${owner} and event.reference = booking.reference
        join ${table("deliveries", "delivery")} on delivery.organization_id = ${owner} and delivery.event_id = event.id
        where booking.organization_id = ${owner} and booking.widget_id = ${widgetId} and booking.is_test) as deliveries`;
  const { rows } = await readAtHome(db, owner, (home) => statement.execute(home));
  return rows[0] ?? { bookings: 0, visits: 0, deliveries: 0 };
}

/** Deletes the appointments of deleted bookings, and frees their time. */
export async function deleteAppointmentsOf(
  db: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<void> {
  await db
    .deleteFrom("sandbox_appointments")
    .where("organization_id", "=", owner)
    .where("reference", "in", references)
    .execute();
}

/** Deletes appointments in the widget's sandbox that were never stored as bookings. */
export async function deleteUnstoredAppointments(db: Db, owner: OrganizationId, widgetId: WidgetId): Promise<void> {
  const statement = sql`
    delete from ${table("sandbox_appointments", "appointment")}
    where organization_id = ${owner} and widget_id = ${widgetId} and not exists (
      select from ${table("bookings", "booking")} where booking.organization_id = ${owner} and booking.reference = appointment.reference
    )`;
  await writeAtHome(db, owner, (home) => statement.execute(home));
}

/** The next test bookings to delete, locked. Waits for rows locked by others, so that none are left. */
export async function lockTestBookings(
  transaction: Db,
  owner: OrganizationId,
  { widgetId, limit }: { widgetId: WidgetId; limit: number },
): Promise<Reference[]> {
  const rows = await transaction
    .selectFrom("bookings")
    .select("reference")
    .where("organization_id", "=", owner)
    .where("widget_id", "=", widgetId)
    .where("is_test", "=", true)
    .orderBy("reference")
    .limit(limit)
    .forUpdate()
    .execute();
  return rows.map(({ reference }) => reference);
}
