import { Type } from "typebox";
import { AnonymousBookingPage, BookingPage } from "#contract/booking.ts";
import { BookingsQuery } from "#contract/read-api.ts";
import { callerOf } from "../../api-keys/bearer-auth.ts";
import type { Deps } from "../../deps.ts";
import { type Query, readInstant, readPageSize, readParameter } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { toKeptSince } from "../../plans/kept-since.ts";
import { requireWidget } from "../../widgets/require-widget.ts";
import { type ApiPage, selectPage } from "./page-queries.ts";
import { toAnonymous } from "./to-api-json.ts";

/** GET /api/v1/bookings */
export function bookingReadRoutes(api: ReadApi, deps: Pick<Deps, "db" | "clock">): void {
  api.get(
    "/bookings",
    {
      schema: {
        operationId: "listBookings",
        summary: "List stored bookings",
        description:
          "Stored bookings, newest first by createdAt. Only bookings of widgets that had Store bookings on when the " +
          "booking was made exist here. Filters apply to createdAt, not to the appointment time. With `bookings.anonymous` and " +
          "without `bookings`, everything about the customer is left out.",
        querystring: BookingsQuery,
        response: readApiResponses(Type.Union([BookingPage, AnonymousBookingPage]), "One page of bookings."),
      },
    },
    async (request, reply) => {
      const { organizationId: owner, plan, scopes } = callerOf(request);
      const { since, before, limit, widget } = parseBookingsQuery(request.query as Query);
      const widgetId = widget === null ? null : await requireWidget(deps.db, owner, widget);
      // Retention also holds at read time.
      const keptSince = toKeptSince(plan, deps.clock.now());
      const createdFrom = since && since > keptSince ? since : keptSince;
      const page = await selectPage(deps.db, owner, { createdFrom, createdBefore: before, limit, widgetId });
      const body = toBody(scopes.includes("bookings") ? page : { ...page, bookings: toAnonymous(page.bookings) });
      return reply.type("application/json; charset=utf-8").send(body);
    },
  );
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
