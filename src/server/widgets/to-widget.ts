import type { WidgetId } from "#contract/ids.ts";
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

/** The booking page of a widget that has no other: this service's own, over the sandbox scheduler. */
export function directPageUrl(baseUrl: string, id: WidgetId): string {
  return `${baseUrl}/w/${id}`;
}

/** What a page owner pastes. */
export function toSnippet(baseUrl: string, id: WidgetId): string {
  return `<script async src="${baseUrl}/loader.js"></script>\n<svc-booking widget="${id}"></svc-booking>`;
}
