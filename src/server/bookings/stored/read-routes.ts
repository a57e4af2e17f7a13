import { Type } from "typebox";
import { AnonymousBookingPage, BookingPage } from "#contract/booking.ts";
import { BookingsQuery } from "#contract/read-api.ts";
import { callerOf } from "../../api-keys/bearer-auth.ts";
import type { Deps } from "../../deps.ts";
import type { Query } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { readBookingPage } from "./read-page.ts";

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
      const body = await readBookingPage(deps, callerOf(request), request.query as Query);
      return reply.type("application/json; charset=utf-8").send(body);
    },
  );
}
