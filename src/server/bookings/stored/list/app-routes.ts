import { BOOKING_COUNT_MAX } from "#contract/app/bookings.ts";
import { parseReference, type Reference } from "#contract/ids.ts";
import { EMAIL_LENGTH_MAX } from "#contract/widgets/embed-api.ts";
import type { HttpRoutes } from "../../../accounts/accounts.ts";
import { auditBy } from "../../../audit/audit.ts";
import { inHome } from "../../../db/statements/transactions.ts";
import type { Deps } from "../../../deps.ts";
import { notFound } from "../../../http/errors/api-error.ts";
import { checkLine, requireFields } from "../../../http/errors/check-fields.ts";
import { readPage } from "../../../http/paging.ts";
import { badParameter, type Query, readPageSize, readParameter } from "../../../http/parameters.ts";
import { parseIsoInstant } from "../../../lib/time/iso-instant.ts";
import { listBookingDeliveries } from "../../../webhooks/webhooks.ts";
import { listChangesOf } from "../../changes/change-queries.ts";
import { countErasable, deleteBooking, eraseBookingsByEmail } from "../erase/erase.ts";
import { readSources } from "../source-queries.ts";
import { keptSince, readerOf, readFilter } from "./app-filter.ts";
import { continueAfter, countBookings, findBooking, listBookings, toPosition } from "./app-queries.ts";
import { toBookingDetail, toBookingSummary } from "./to-app-booking.ts";

type BookingDeps = Pick<Deps, "db" | "longRunningDb" | "clock" | "random" | "log">;

export function bookingAppRoutes(routes: HttpRoutes, deps: BookingDeps): void {
  listRoutes(routes, deps);

  routes.add("getBooking", async ({ member, params }) => {
    const owner = member.organizationId;
    const reference = requireReference(params.reference);
    const row = await findBooking(deps.db, owner, { reference, createdFrom: keptSince(deps, member) });
    if (!row) throw notFound("Booking");
    const reader = await readerOf(deps.db, member);
    const { seesCustomers } = reader;
    const deliveries = await listBookingDeliveries(deps.db, owner, { reference, seesCustomers, now: deps.clock.now() });
    const changes = await listChangesOf(deps.db, owner, reference);
    return { ...toBookingDetail(row, reader), changes, deliveries };
  });

  routes.add("deleteBooking", async ({ member, params }) => {
    const reference = requireReference(params.reference);
    await inHome(deps.db, member.organizationId, async (transaction) => {
      const isDeleted = await deleteBooking({ ...deps, db: transaction }, member.organizationId, reference);
      if (!isDeleted) throw notFound("Booking");
      await auditBy(deps, member, deps.clock.now())(transaction, { action: "booking.deleted", target: reference });
    });
    return null;
  });

  routes.add("eraseBookings", async ({ member, body: { dryRun = false, ...typed } }) => {
    const { email } = requireFields({ email: checkLine(typed.email, { lengthMax: EMAIL_LENGTH_MAX }) });
    if (dryRun) return { count: await countErasable(deps, member.organizationId, email), isErased: false };
    return await inHome(deps.db, member.organizationId, async (transaction) => {
      const count = await eraseBookingsByEmail({ ...deps, db: transaction }, member.organizationId, email);
      // The address itself is not logged: it was just erased.
      const audit = auditBy(deps, member, deps.clock.now());
      await audit(transaction, { action: "bookings.erased", detail: { bookings: count } });
      return { count, isErased: true };
    });
  });
}

function listRoutes(routes: HttpRoutes, deps: BookingDeps): void {
  routes.add("listBookings", async ({ member, query }) => {
    const limit = readPageSize(query, "limit");
    const filter = await readFilter(deps, member, query);
    const after = readCursor(query);
    const page = after === null ? filter : continueAfter(filter, after);
    const { rows, nextCursor } = await readPage({
      limit,
      read: (most) => listBookings(deps.db, member.organizationId, { ...page, limit: most }),
      toCursor: (last) => toCursor(toPosition(last, filter.sort)),
    });
    const reader = await readerOf(deps.db, member);
    return { data: rows.map((row) => toBookingSummary(row, reader)), nextCursor };
  });

  routes.add("countBookings", async ({ member, query }) => {
    const filter = await readFilter(deps, member, query);
    const limit = BOOKING_COUNT_MAX + 1;
    const count = await countBookings(deps.db, member.organizationId, { ...filter, limit });
    return { count: Math.min(count, BOOKING_COUNT_MAX), hasMore: count > BOOKING_COUNT_MAX };
  });

  routes.add("getBookingSources", async ({ member, query }) => {
    return await readSources(deps.longRunningDb, member.organizationId, await readFilter(deps, member, query));
  });
}

type Position = ReturnType<typeof toPosition>;

function toCursor({ at, reference }: Position): string {
  return `${at.toISOString()}_${reference}`;
}

function readCursor(query: Query): Position | null {
  const text = readParameter(query, "cursor");
  if (text === null) return null;
  const [time = "", id = "", ...rest] = text.split("_");
  const [at, reference] = [parseIsoInstant(time, "up"), parseReference(id)];
  if (!at || !reference || rest.length > 0) throw badParameter("cursor", "must be the nextCursor of the previous page");
  return { at, reference };
}

function requireReference(text: string): Reference {
  const reference = parseReference(text);
  if (reference === null) throw notFound("Booking");
  return reference;
}
