import { BookingPage } from "#contract/booking.ts";
import { PLAN_TERMS } from "#contract/plans.ts";
import { BookingsQuery } from "#contract/read-api.ts";
import { callerOf } from "../api-keys/bearer-auth.ts";
import type { Deps } from "../deps.ts";
import { type Query, readInstant, readPageSize, readParameter } from "../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../http/read-api.ts";
import { retentionCutoff } from "../lib/calendar.ts";
import { requireWidget } from "../widgets/require-widget.ts";
import { selectBookings } from "./queries.ts";
import { toBooking } from "./to-booking.ts";

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
          "booking was made exist here. Filters apply to createdAt, not to the appointment time.",
        querystring: BookingsQuery,
        response: readApiResponses(BookingPage, "One page of bookings."),
      },
    },
    async (request) => {
      const { organizationId, plan } = callerOf(request);
      const parameters = parseBookingsQuery(request.query as Query);
      const widgetId =
        parameters.widget === null ? null : await requireWidget(deps.db, organizationId, parameters.widget);

      const cutoff = retentionCutoff(PLAN_TERMS[plan].retention, deps.clock.now());
      const createdFrom = parameters.since && parameters.since > cutoff ? parameters.since : cutoff;
      // One more than the page holds tells whether there is a next page.
      const rows = await selectBookings(deps.db, organizationId, {
        createdFrom,
        createdBefore: parameters.cursor ?? parameters.until,
        widgetId,
        limit: parameters.limit + 1,
      });
      const page = rows.slice(0, parameters.limit);
      const last = rows.length > page.length ? page.at(-1) : undefined;
      return { data: page.map(toBooking), nextCursor: last ? last.created_at.toISOString() : null };
    },
  );
}

function parseBookingsQuery(query: Query) {
  return {
    since: readInstant(query, "since", "down"),
    until: readInstant(query, "until", "up"),
    cursor: readInstant(query, "cursor", "up"),
    limit: readPageSize(query, "limit"),
    widget: readParameter(query, "widget"),
  };
}
