import { BookingPage } from "#contract/booking.ts";
import { BookingsQuery } from "#contract/read-api.ts";
import { callerOf } from "../../api-keys/bearer-auth.ts";
import type { Deps } from "../../deps.ts";
import { readPage } from "../../http/page.ts";
import { type Query, readInstant, readPageSize, readParameter } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { toKeptSince } from "../../plans/kept-since.ts";
import { requireWidget } from "../../widgets/require-widget.ts";
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

      const cutoff = toKeptSince(plan, deps.clock.now());
      const createdFrom = parameters.since && parameters.since > cutoff ? parameters.since : cutoff;
      const filter = { createdFrom, createdBefore: parameters.cursor ?? parameters.until, widgetId };
      const { rows, nextCursor } = await readPage({
        limit: parameters.limit,
        read: (limit) => selectBookings(deps.db, organizationId, { ...filter, limit }),
        toCursor: (last) => last.created_at.toISOString(),
      });
      return { data: rows.map(toBooking), nextCursor };
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
