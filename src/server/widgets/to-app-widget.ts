import type { Selectable } from "kysely";
import type { AppWidget } from "#contract/app/widgets.ts";
import { NO_OPTIONS } from "#contract/widget.ts";
import type { WidgetsTable } from "../db/tables.ts";
import type { AppWidgetRow } from "./app-queries.ts";
import { directPageUrl, toSnippet } from "./to-widget.ts";

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
