import { Type } from "typebox";
import { AnonymousBooking, AnonymousBookingPage, Booking, BookingPage } from "#contract/booking.ts";
import { parseReference, REFERENCE_PATTERN } from "#contract/ids.ts";
import { BookingsQuery } from "#contract/read-api.ts";
import { callerOf } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../http/api-error.ts";
import type { Query } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { toKeptSince } from "../../organizations/organizations.ts";
import { findBooking } from "./app-queries.ts";
import { readBookingPage } from "./read-page.ts";
import { toAnonymous, toApiJson } from "./to-api-json.ts";

/** GET /api/v1/bookings and /api/v1/bookings/{reference} */
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
  api.get<{ Params: { reference: string } }>(
    "/bookings/:reference",
    {
      schema: {
        operationId: "getBooking",
        summary: "Get a stored booking",
        description: "One stored booking, with the fields that it has in the list.",
        params: Type.Object({ reference: Type.String({ pattern: REFERENCE_PATTERN }) }),
        response: readApiResponses(Type.Union([Booking, AnonymousBooking]), "The booking."),
      },
    },
    async (request, reply) => {
      const { organizationId, plan, scopes } = callerOf(request);
      const reference = parseReference(request.params.reference);
      const createdFrom = toKeptSince(plan, deps.clock.now());
      const row = reference && (await findBooking(deps.db, organizationId, { reference, createdFrom }));
      if (!row) throw notFound("Booking");
      const booking = toApiJson(row);
      const body = scopes.includes("bookings") ? booking : toAnonymous(booking);
      return reply.type("application/json; charset=utf-8").send(body);
    },
  );
}
