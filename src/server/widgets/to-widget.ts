import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Widget } from "#contract/widget.ts";
import type { Db } from "../db/pool.ts";
import { listBookingPages } from "../scheduler/scheduler.ts";
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

export function toSnippet(baseUrl: string, id: WidgetId): string {
  return `<script async src="${baseUrl}/loader.js"></script>\n<svc-booking widget="${id}"></svc-booking>`;
}
