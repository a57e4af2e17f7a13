import { type Selectable, sql, type Updateable } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Mode } from "#contract/widget.ts";
import type { Db } from "../db/pool.ts";
import type { WidgetsTable } from "../db/tables.ts";
import { WIDGET_COLUMNS } from "./queries.ts";

export type AppWidgetRow = Selectable<WidgetsTable> & {
  mode: Mode;
  first_view_at: Date | null;
  last_view_at: Date | null;
  seen_on: string | null;
};

/** How many of the newest views are searched for a page of the business. */
const SEARCHED_VIEWS = 500;

/**
 * Newest first, with each widget's first and last view. Visits are indexed by start time, not by widget, so the daily
 * counters tell where to look: on the widget's first and last day, plus a day on each side for the time zone. Pages are stored as
 * origin and path, so those of our own begin with `baseUrl`.
 */
export async function listWidgetsWithViews(
  db: Db,
  owner: OrganizationId,
  { baseUrl, id = null }: { baseUrl: string; id?: WidgetId | null },
): Promise<AppWidgetRow[]> {
  const { rows } = await sql<AppWidgetRow>`
    select widget.id, widget.organization_id, widget.name, widget.business_name, widget.booking_url, widget.template,
      widget.status, widget.collect_data, widget.created_at, widget.connection_id, widget.accent_color,
      widget.allowed_domains, widget.options, widget.offers, first.started_at as first_view_at, last.started_at as last_view_at,
      site.page as seen_on,
      case
        when widget.connection_id is null then 'test'
        when exists (
          select from live_periods period where period.organization_id = ${owner} and period.widget_id = widget.id
            and period.ended_at is null and period.is_practice
        ) then 'practice'
        else 'live'
      end as mode
    from widgets widget
    join day_zones zone on zone.organization_id = ${owner}
    left join lateral (
      select min(day) as first_day, max(day) as last_day from funnel_days
      where organization_id = ${owner} and version = zone.version and widget_id = widget.id
    ) days on true
    left join lateral (
      select started_at from funnel_visits visit
      where visit.organization_id = ${owner} and visit.widget_id = widget.id
        and started_at >= (days.first_day - 1)::timestamp at time zone 'UTC'
      order by started_at limit 1
    ) first on days.first_day is not null
    left join lateral (
      select started_at from funnel_visits visit
      where visit.organization_id = ${owner} and visit.widget_id = widget.id
        and started_at < (days.last_day + 2)::timestamp at time zone 'UTC'
      order by started_at desc limit 1
    ) last on days.last_day is not null
    left join lateral (
      select key.key as page from (
        select visit.page, visit.started_at from funnel_visits visit
        where visit.organization_id = ${owner} and visit.widget_id = widget.id
          and started_at < (days.last_day + 2)::timestamp at time zone 'UTC'
        order by started_at desc limit ${SEARCHED_VIEWS}
      ) recent
      join funnel_keys key on key.organization_id = ${owner} and key.id = recent.page
      where key.key <> '' and not starts_with(key.key, ${`${baseUrl}/`})
      order by recent.started_at desc limit 1
    ) site on days.last_day is not null
    where widget.organization_id = ${owner} and (${id}::text is null or widget.id = ${id})
    order by widget.created_at desc, widget.id`.execute(db);
  return rows;
}

const SETTING_COLUMNS = [
  ...WIDGET_COLUMNS,
  "connection_id",
  "accent_color",
  "allowed_domains",
  "options",
  "offers",
] as const;

/** Locks the widget until the transaction ends; null if the organization has no such widget. */
export async function lockWidget(
  transaction: Db,
  owner: OrganizationId,
  id: WidgetId,
): Promise<Selectable<WidgetsTable> | null> {
  const row = await transaction
    .selectFrom("widgets")
    .select(SETTING_COLUMNS)
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function changeWidget(
  db: Db,
  owner: OrganizationId,
  { id, change }: { id: WidgetId; change: Updateable<WidgetsTable> },
): Promise<void> {
  await db.updateTable("widgets").set(change).where("organization_id", "=", owner).where("id", "=", id).execute();
}
