import { Attribution } from "#contract/analytics/attribution.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { BYTE_ORDER_MARK, toCsvLine } from "../../../lib/text/csv.ts";
import { type AppBookingFilter, continueAfter, listBookings, toPosition } from "../list/app-queries.ts";
import type { BookingRow } from "../queries.ts";

/** Memory holds two pieces, however long the file is. V8 treats longer texts as large objects, which are freed late. */
const ROWS_PER_PIECE = 200;

const ATTRIBUTION_NAMES = Object.keys(Attribution.properties) as (keyof Attribution)[];

const HEADINGS = [
  "reference",
  "status",
  "createdAt",
  "start",
  "end",
  "timeZone",
  "widgetId",
  "widget",
  "serviceId",
  "service",
  "staff",
  "customerName",
  "customerEmail",
  "customerPhone",
  "customerNotes",
  "answers",
  "answersJson",
  ...ATTRIBUTION_NAMES,
  "manageUrl",
  "isTest",
];

/** Matching bookings as CSV, in the filter's order. */
export async function* exportBookings(
  db: Db,
  owner: OrganizationId,
  { filter, widgetNames }: { filter: Omit<AppBookingFilter, "limit">; widgetNames: ReadonlyMap<WidgetId, string> },
): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + toCsvLine(HEADINGS);
  for await (const rows of readBookingPieces(db, owner, filter))
    yield rows.map((row) => toLine(row, widgetNames)).join("");
}

/** Read page by page as the client takes them, each after the last booking of the previous: no line shifts or repeats. */
export async function* readBookingPieces(
  db: Db,
  owner: OrganizationId,
  filter: Omit<AppBookingFilter, "limit">,
): AsyncGenerator<BookingRow[]> {
  let page = filter;
  for (;;) {
    const rows = await listBookings(db, owner, { ...page, limit: ROWS_PER_PIECE });
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_PER_PIECE) return;
    page = continueAfter(page, toPosition(last, page.sort));
  }
}

function toLine(row: BookingRow, widgetNames: ReadonlyMap<WidgetId, string>): string {
  return toCsvLine([
    row.reference,
    row.status,
    row.created_at.toISOString(),
    row.start_at.toISOString(),
    row.end_at.toISOString(),
    row.time_zone,
    row.widget_id,
    widgetNames.get(row.widget_id),
    row.service_id,
    row.service_name,
    row.staff.map((member) => member.name).join(", "),
    row.customer_name,
    row.customer_email,
    row.customer_phone,
    row.customer_notes,
    row.answers.map(({ question, answer }) => `${question}: ${answer}`).join("\n"),
    // A semicolon would be guarded against formulas (lib/text/csv.ts), which would change the answer.
    row.answers.length === 0 ? "" : JSON.stringify(row.answers).replaceAll(";", "\\u003b"),
    ...ATTRIBUTION_NAMES.map((name) => row.attribution[name]),
    row.manage_url,
    row.is_test ? "yes" : "no",
  ]);
}
