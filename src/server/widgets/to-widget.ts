import type { Selectable } from "kysely";
import type { AppWidget } from "#contract/app/widgets.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { NO_OPTIONS, type Widget } from "#contract/widgets/widget.ts";
import type { Db } from "../db/connections/pool.ts";
import type { WidgetsTable } from "../db/tables/tables.ts";
import { listBookingPages } from "../scheduler/scheduler.ts";
import type { AppWidgetRow } from "./app-queries.ts";
import { type ListedWidgetRow, listWidgets } from "./queries.ts";

/** The organization's widgets in the REST shape, newest first. */
export async function readWidgets(
  { db, config }: { db: Db; config: { baseUrl: string } },
  owner: OrganizationId,
): Promise<Widget[]> {
  const rows = await listWidgets(db, owner);
  const pages = await listBookingPages(db, owner);
  return rows.map((row) => {
    const systemUrl = row.connection_id === null ? undefined : pages.get(row.connection_id);
    return toWidget(row, systemUrl ?? directPageUrl(config.baseUrl, row.id));
  });
}

function toWidget(row: ListedWidgetRow, bookingUrl: string): Widget {
  return {
    id: row.id,
    name: row.name,
    bookingUrl: row.booking_url ?? bookingUrl,
    template: row.template,
    status: row.status,
    collectData: row.collect_data,
    businessName: row.business_name || row.organization_name,
    createdAt: row.created_at.toISOString(),
  };
}

/** Bookflow's own booking page, for widgets without a booking URL. */
export function directPageUrl(baseUrl: string, id: WidgetId): string {
  return `${baseUrl}/w/${id}`;
}

/** The organization's logo; another address after each change, so that it can be cached for long. */
export function toLogoPath(organizationId: OrganizationId, updatedAt: Date): string {
  return `/logos/${organizationId}?v=${updatedAt.getTime()}`;
}

function toSnippet(baseUrl: string, id: WidgetId): string {
  return `<script async src="${baseUrl}/loader.js"></script>\n<svc-booking widget="${id}"></svc-booking>`;
}

export function toAppWidget(row: AppWidgetRow, baseUrl: string): AppWidget {
  return {
    id: row.id,
    ...toWidgetSettings(row),
    connectionId: row.connection_id,
    mode: row.mode,
    pageUrl: directPageUrl(baseUrl, row.id),
    snippet: toSnippet(baseUrl, row.id),
    firstViewAt: row.first_view_at?.toISOString() ?? null,
    lastViewAt: row.last_view_at?.toISOString() ?? null,
    seenOn: row.seen_on,
    createdAt: row.created_at.toISOString(),
  };
}

/** The part that members can edit. */
export function toWidgetSettings(row: Selectable<WidgetsTable>) {
  return {
    name: row.name,
    businessName: row.business_name,
    template: row.template,
    status: row.status,
    collectData: row.collect_data,
    bookingUrl: row.booking_url,
    accentColor: row.accent_color,
    allowedDomains: row.allowed_domains,
    ...NO_OPTIONS,
    ...row.options,
    offer: row.offers[row.connection_id ?? "sandbox"] ?? null,
  };
}
