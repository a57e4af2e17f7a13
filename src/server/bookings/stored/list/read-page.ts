import type { Caller } from "../../../api-keys/api-keys.ts";
import type { Deps } from "../../../deps.ts";
import { type Query, readInstant, readPageSize, readParameter } from "../../../http/parameters.ts";
import { toKeptSince } from "../../../organizations/organizations.ts";
import { requireWidget } from "../../../widgets/widgets.ts";
import { toAnonymous } from "../to-api-json.ts";
import { type ApiPage, selectPage } from "./page-queries.ts";

/** A page of stored bookings as JSON, with as much of each as the scopes allow. */
export async function readBookingPage(
  { db, clock }: Pick<Deps, "db" | "clock">,
  { organizationId: owner, plan, scopes }: Pick<Caller, "organizationId" | "plan" | "scopes">,
  query: Query,
): Promise<string> {
  const { since, before, limit, widget } = parseBookingsQuery(query);
  const widgetId = widget === null ? null : await requireWidget(db, owner, widget);
  // Retention also holds at read time.
  const keptSince = toKeptSince(plan, clock.now());
  const createdFrom = since && since > keptSince ? since : keptSince;
  const page = await selectPage(db, owner, { createdFrom, createdBefore: before, limit, widgetId });
  return toBody(scopes.includes("bookings") ? page : { ...page, bookings: toAnonymous(page.bookings) });
}

/** api_json is JSON already; nextCursor is a timestamp or null. */
function toBody({ bookings, nextCursor }: ApiPage): string {
  return `{"data":[${bookings}],"nextCursor":${nextCursor === null ? "null" : `"${nextCursor}"`}}`;
}

function parseBookingsQuery(query: Query) {
  const since = readInstant(query, "since", "down");
  const until = readInstant(query, "until", "up");
  const cursor = readInstant(query, "cursor", "up");
  const limit = readPageSize(query, "limit");
  return { since, before: cursor ?? until, limit, widget: readParameter(query, "widget") };
}
