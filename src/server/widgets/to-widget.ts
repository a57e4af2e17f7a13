import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Widget } from "#contract/widget.ts";
import type { WidgetRow } from "./queries.ts";

/** REST shape. */
export function toWidget(row: WidgetRow, baseUrl: string): Widget {
  return {
    id: row.id,
    name: row.name,
    bookingUrl: row.booking_url ?? directPageUrl(baseUrl, row.id),
    template: row.template,
    status: row.status,
    collectData: row.collect_data,
    businessName: row.business_name,
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

/** The HTML that customers paste into their pages. */
export function toSnippet(baseUrl: string, id: WidgetId): string {
  return `<script async src="${baseUrl}/loader.js"></script>\n<svc-booking widget="${id}"></svc-booking>`;
}
