import { parseReference } from "#contract/ids.ts";
import type { ReadRoutes } from "../../api-keys/api-keys.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../http/api-error.ts";
import { toKeptSince } from "../../organizations/organizations.ts";
import { findBooking } from "./app-queries.ts";
import { readBookingPage } from "./read-page.ts";
import { toAnonymous, toApiJson } from "./to-api-json.ts";

export function bookingReadRoutes(routes: ReadRoutes, deps: Pick<Deps, "db" | "clock">): void {
  routes.add("listBookings", async ({ caller, query }) => await readBookingPage(deps, caller, query));

  routes.add("getBooking", async ({ caller: { organizationId, plan, scopes }, params }) => {
    const reference = parseReference(params["reference"] ?? "");
    const createdFrom = toKeptSince(plan, deps.clock.now());
    const row = reference && (await findBooking(deps.db, organizationId, { reference, createdFrom }));
    if (!row) throw notFound("Booking");
    const booking = toApiJson(row);
    return scopes.includes("bookings") ? booking : toAnonymous(booking);
  });
}
