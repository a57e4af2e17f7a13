import { APPOINTMENT_TIMES, BOOKING_SORTS } from "#contract/app/bookings.ts";
import { BOOKING_STATUSES } from "#contract/bookings/booking.ts";
import { type Member, seesCustomers } from "../../../accounts/accounts.ts";
import type { Db } from "../../../db/connections/pool.ts";
import type { Deps } from "../../../deps.ts";
import { type Query, readChoice, readInstant, readParameter, readSearch } from "../../../http/parameters.ts";
import { toKeptSince } from "../../../organizations/organizations.ts";
import { readWidgetNames, requireWidget } from "../../../widgets/widgets.ts";
import type { AppBookingFilter } from "./app-queries.ts";
import type { BookingReader } from "./to-app-booking.ts";

type FilterDeps = Pick<Deps, "db" | "clock">;

/** The bookings that a member asks for, of those that they may see. */
export async function readFilter(
  deps: FilterDeps,
  member: Member,
  query: Query,
): Promise<Omit<AppBookingFilter, "limit">> {
  const [from, to] = [readInstant(query, "from", "down"), readInstant(query, "to", "up")];
  const widget = readParameter(query, "widget");
  const widgetId = widget === null ? null : await requireWidget(deps.db, member.organizationId, widget);
  const oldest = keptSince(deps, member);
  return {
    createdFrom: from && from > oldest ? from : oldest,
    createdBefore: to,
    widgetId,
    search: readSearch(query),
    parts: seesCustomers(member) ? ["o", "c"] : ["o"],
    ...readAppointment(query, deps.clock.now()),
    sort: readChoice(query, "sort", BOOKING_SORTS) ?? "newest",
    after: null,
  };
}

function readAppointment(query: Query, now: Date): Pick<AppBookingFilter, "startFrom" | "startBefore" | "status"> {
  const [startFrom, startBefore] = [readInstant(query, "startFrom", "down"), readInstant(query, "startTo", "up")];
  const status = readChoice(query, "status", BOOKING_STATUSES);
  switch (readChoice(query, "when", APPOINTMENT_TIMES)) {
    case "upcoming":
      return {
        startFrom: startFrom && startFrom > now ? startFrom : now,
        startBefore,
        status: status ?? "not cancelled",
      };
    case "past":
      return { startFrom, startBefore: startBefore && startBefore < now ? startBefore : now, status };
    case null:
      return { startFrom, startBefore, status };
  }
}

/** Retention also holds at read time: an expired booking is hidden even before it is deleted. */
export function keptSince(deps: Pick<Deps, "clock">, member: Member): Date {
  return toKeptSince(member.plan, deps.clock.now());
}

export async function readerOf(db: Db, member: Member): Promise<BookingReader> {
  return {
    seesCustomers: seesCustomers(member),
    widgetNames: await readWidgetNames(db, member.organizationId),
  };
}
