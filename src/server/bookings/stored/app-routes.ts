import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BookingDetail, BookingSummaryPage, EraseAnswer, EraseRequest } from "#contract/app/bookings.ts";
import { SEARCH_LENGTH_MAX } from "#contract/app/limits.ts";
import { roleIncludes } from "#contract/app/role.ts";
import { EMAIL_LENGTH_MAX } from "#contract/book.ts";
import { parseReference, type Reference, type WidgetId } from "#contract/ids.ts";
import { type Member, memberOf } from "../../accounts/auth/member-auth.ts";
import { auditBy } from "../../audit/audit-by.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { noSuch } from "../../http/api-error.ts";
import { bodyReader } from "../../http/body.ts";
import { checkLine, requireFields } from "../../http/check-fields.ts";
import { readPage } from "../../http/page.ts";
import { badParameter, isDryRun, type Query, readInstant, readPageSize, readParameter } from "../../http/parameters.ts";
import { toKeptSince } from "../../plans/kept-since.ts";
import { listBookingDeliveries } from "../../webhooks/log/booking-deliveries.ts";
import { requireWidget } from "../../widgets/require-widget.ts";
import { readWidgetNames } from "../../widgets/widget-names.ts";
import { type AppBookingFilter, findBooking, listBookings } from "./app-queries.ts";
import { countErasable, deleteBooking, eraseBookingsByEmail } from "./erase.ts";
import { exportBookings } from "./export.ts";
import { cleanSearch } from "./search-terms.ts";
import { toBookingDetail, toBookingSummary } from "./to-app-booking.ts";

type BookingDeps = Pick<Deps, "db" | "patientDb" | "clock" | "random" | "log">;
type WithReference = { Params: { reference: string } };

export function bookingAppRoutes(api: FastifyInstance, deps: BookingDeps): void {
  const readEraseRequest = bodyReader(EraseRequest);

  api.get("/bookings", { schema: { response: { 200: BookingSummaryPage } } }, async (request) => {
    const member = memberOf(request);
    const limit = readPageSize(request.query as Query, "limit");
    const filter = await readFilter(deps, member, request.query as Query);
    const { rows, nextCursor } = await readPage({
      limit,
      read: (most) => listBookings(deps.db, member.organizationId, { ...filter, limit: most }),
      toCursor: (last) => last.created_at.toISOString(),
    });
    const reader = await readerOf(deps.db, member);
    return { data: rows.map((row) => toBookingSummary(row, reader)), nextCursor };
  });

  api.get<WithReference>("/bookings/:reference", { schema: { response: { 200: BookingDetail } } }, async (request) => {
    const member = memberOf(request);
    const owner = member.organizationId;
    const reference = requireReference(request.params.reference);
    const row = await findBooking(deps.db, owner, { reference, createdFrom: keptSince(deps, member) });
    if (!row) throw noSuch("booking");
    const reader = await readerOf(deps.db, member);
    const { seesCustomers } = reader;
    const deliveries = await listBookingDeliveries(deps.db, owner, { reference, seesCustomers, now: deps.clock.now() });
    return { ...toBookingDetail(row, reader), deliveries };
  });

  api.delete<WithReference>("/bookings/:reference", async (request, reply) => {
    const member = memberOf(request);
    const reference = requireReference(request.params.reference);
    await deps.db.transaction().execute(async (transaction) => {
      const isDeleted = await deleteBooking({ ...deps, db: transaction }, member.organizationId, reference);
      if (!isDeleted) throw noSuch("booking");
      await auditBy(deps, member, deps.clock.now())(transaction, { action: "booking.deleted", target: reference });
    });
    return reply.code(204).send();
  });

  // Not for HEAD: the audit log would show an export that never happened.
  api.get("/bookings.csv", { exposeHeadRoute: false }, async (request, reply) => sendExport(deps, request, reply));

  api.post("/bookings/erase", { schema: { response: { 200: EraseAnswer } } }, async (request) => {
    const member = memberOf(request);
    const { dryRun = false, ...typed } = readEraseRequest(request);
    const { email } = requireFields({ email: checkLine(typed.email, { lengthMax: EMAIL_LENGTH_MAX }) });
    if (dryRun) return { count: await countErasable(deps, member.organizationId, email), isErased: false };
    return await deps.db.transaction().execute(async (transaction) => {
      const count = await eraseBookingsByEmail({ ...deps, db: transaction }, member.organizationId, email);
      // The address itself is not logged: it was just erased.
      await auditBy(
        deps,
        member,
        deps.clock.now(),
      )(transaction, { action: "bookings.erased", detail: { bookings: count } });
      return { count, isErased: true };
    });
  });
}

async function sendExport(deps: BookingDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const member = memberOf(request);
  const owner = member.organizationId;
  const now = deps.clock.now();
  const filter = await readFilter(deps, member, request.query as Query);
  if (isDryRun(request.query as Query)) return reply.code(204).send();
  const { widgetNames } = await readerOf(deps.db, member);
  // The search text is not logged: it may be a customer's name.
  await auditBy(
    deps,
    member,
    now,
  )(deps.db, {
    action: "bookings.exported",
    ...(filter.widgetId === null ? {} : { target: filter.widgetId, name: widgetNames.get(filter.widgetId) }),
    detail: { isSearch: filter.search === null ? "no" : "yes" },
  });
  const lines = exportBookings(deps.patientDb, owner, { filter, widgetNames });
  const file = Readable.from(lines, { objectMode: true, highWaterMark: 1 });
  // The answer has begun, so it can only be cut off. A client that disconnected is not an error.
  file.once("error", (error) => {
    if (!request.raw.destroyed)
      deps.log.error("export.failed", { requestId: request.id, organizationId: owner, error });
  });
  return reply
    .type("text/csv; charset=utf-8")
    .header("content-disposition", `attachment; filename="bookings-${now.toISOString().slice(0, 10)}.csv"`)
    .send(file);
}

async function readFilter(deps: BookingDeps, member: Member, query: Query): Promise<Omit<AppBookingFilter, "limit">> {
  const [from, to] = [readInstant(query, "from", "down"), readInstant(query, "to", "up")];
  const cursor = readInstant(query, "cursor", "up");
  const typed = readParameter(query, "search") ?? "";
  if (typed.length > SEARCH_LENGTH_MAX)
    throw badParameter("search", `must not be longer than ${SEARCH_LENGTH_MAX} characters`);
  const widget = readParameter(query, "widget");
  const widgetId = widget === null ? null : await requireWidget(deps.db, member.organizationId, widget);
  const oldest = keptSince(deps, member);
  return {
    createdFrom: from && from > oldest ? from : oldest,
    createdBefore: cursor && to ? new Date(Math.min(cursor.getTime(), to.getTime())) : (cursor ?? to),
    widgetId,
    search: cleanSearch(typed.toWellFormed()),
    parts: seesCustomers(member) ? ["o", "c"] : ["o"],
  };
}

/** Retention also holds at read time: an expired booking is hidden even before it is deleted. */
function keptSince(deps: Pick<Deps, "clock">, member: Member): Date {
  return toKeptSince(member.plan, deps.clock.now());
}

function seesCustomers(member: Member): boolean {
  return roleIncludes(member.role, "member");
}

async function readerOf(
  db: Db,
  member: Member,
): Promise<{ seesCustomers: boolean; widgetNames: ReadonlyMap<WidgetId, string> }> {
  return { seesCustomers: seesCustomers(member), widgetNames: await readWidgetNames(db, member.organizationId) };
}

function requireReference(text: string): Reference {
  const reference = parseReference(text);
  if (reference === null) throw noSuch("booking");
  return reference;
}
