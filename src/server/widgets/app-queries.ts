import { type RawBuilder, type Selectable, sql, type Updateable } from "kysely";
import { DEMO_WIDGET_IDS, type OrganizationId, type WidgetId } from "#contract/ids.ts";
import type { Mode } from "#contract/widgets/widget.ts";
import type { Db } from "../db/connections/pool.ts";
import type { WidgetsTable } from "../db/tables/tables.ts";
import { WIDGET_COLUMNS } from "./queries.ts";

export type AppWidgetRow = Selectable<WidgetsTable> & {
  mode: Mode;
  first_view_at: Date | null;
  last_view_at: Date | null;
  seen_on: string | null;
};

/** How many of the newest views are searched for a page of the business, and how far back. */
const SEARCHED_VIEWS = 500;
const SEARCHED_TIME = "24 hours";

/**
 * Newest first, with each widget's first and last view. Visits are indexed by start time, not by widget, so the totals of its days
 * tell where to look; days without totals, mostly today, are read once for all widgets. Pages are stored as origin and path, so
 * those of our own begin with `baseUrl`.
 */
export async function listWidgetsWithViews(
  db: Db,
  owner: OrganizationId,
  { baseUrl, id = null }: { baseUrl: string; id?: WidgetId | null },
): Promise<AppWidgetRow[]> {
  const { rows } = await sql<AppWidgetRow>`
    with ${toRecentViews(owner)}
    select widget.id, widget.organization_id, widget.name, widget.business_name, widget.booking_url, widget.template,
      widget.status, widget.collect_data, widget.created_at, widget.connection_id, widget.accent_color,
      widget.allowed_domains, widget.options, widget.offers, viewed.first_at as first_view_at, viewed.last_at as last_view_at,
      site.page as seen_on,
      case when widget.connection_id is null and widget.id <> all(${Object.values(DEMO_WIDGET_IDS)}::text[]) then 'test' else 'live' end as mode
    from widgets widget
    left join recent on recent.widget_id = widget.id
    cross join lateral (
      select min(start) as first_day, max(start) as last_day from visit_totals
      where organization_id = ${owner} and visit_totals.widget_id = widget.id and days = 1
    ) days
    cross join lateral (
      select least(recent.first_at, (
        select min(started_at) from funnel_visits visit
        where visit.organization_id = ${owner} and visit.widget_id = widget.id
          and started_at >= days.first_day::timestamp at time zone 'UTC'
          and started_at < (days.first_day + 1)::timestamp at time zone 'UTC'
      )) as first_at, greatest(recent.last_at, (
        select max(started_at) from funnel_visits visit
        where visit.organization_id = ${owner} and visit.widget_id = widget.id
          and started_at >= days.last_day::timestamp at time zone 'UTC'
          and started_at < (days.last_day + 1)::timestamp at time zone 'UTC'
      )) as last_at
    ) viewed
    left join lateral (
      select key.key as page from (
        select visit.page, visit.started_at from funnel_visits visit
        where visit.organization_id = ${owner} and visit.widget_id = widget.id
          and started_at > viewed.last_at - ${SEARCHED_TIME}::interval and started_at <= viewed.last_at
        order by started_at desc limit ${SEARCHED_VIEWS}
      ) recent
      join funnel_keys key on key.organization_id = ${owner} and key.id = recent.page
      where key.key <> '' and not starts_with(key.key, ${`${baseUrl}/`})
      order by recent.started_at desc limit 1
    ) site on true
    where widget.organization_id = ${owner} and (${id}::text is null or widget.id = ${id})
    order by widget.created_at desc, widget.id`.execute(db);
  return rows;
}

/** CTE `recent`: of days without totals, mostly today. */
function toRecentViews(owner: OrganizationId): RawBuilder<unknown> {
  return sql`recent as materialized (
      select widget_id, min(started_at) as first_at, max(started_at) as last_at from funnel_visits
      where organization_id = ${owner} and started_at >= (
        select coalesce(least((
          select min(day)::timestamp at time zone 'UTC' from visit_days
          where organization_id = ${owner} and (outdated <> 0 or packed_hours < 24)
        ), packed_before), '-infinity')
        from visit_progress where organization_id = ${owner}
      )
      group by widget_id
    )`;
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
