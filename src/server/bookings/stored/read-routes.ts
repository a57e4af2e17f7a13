import { BookingPage } from "#contract/booking.ts";
import { BookingsQuery } from "#contract/read-api.ts";
import { type BearerGuard, requireKeyHash } from "../../api-keys/bearer-auth.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../http/api-error.ts";
import { type Query, readInstant, readPageSize, readParameter } from "../../http/parameters.ts";
import { type ReadApi, readApiResponses } from "../../http/read-api.ts";
import { requireWidget } from "../../widgets/require-widget.ts";
import { type ApiPage, selectPage } from "./page-queries.ts";
import { PageReader, type PageRequest, toPageFilter } from "./page-reader.ts";

/** GET /api/v1/bookings */
export function bookingReadRoutes(api: ReadApi, deps: Pick<Deps, "db" | "clock">, guard: BearerGuard): void {
  const pages = new PageReader(deps);
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
    async (request, reply) => {
      const keyHash = requireKeyHash(request);
      const now = deps.clock.now();
      // Only a caller with a valid key is told what is wrong with a parameter.
      const parsed = parseBookingsQuery(request.query as Query);
      const isPlain = !(parsed instanceof ApiError) && parsed.widget === null;
      const known = isPlain ? await pages.readKnown(keyHash, { ...parsed, now }) : null;
      const holder = known?.holder ?? (await guard.findHolder(keyHash, now));
      const { organizationId: owner, plan } = await guard.admit(request, reply, { holder, now });
      if (parsed instanceof ApiError) throw parsed;
      if (!known && holder) pages.remember(keyHash, holder);
      const widgetId = parsed.widget === null ? null : await requireWidget(deps.db, owner, parsed.widget);
      const page =
        known?.page ?? (await selectPage(deps.db, owner, { ...toPageFilter(plan, { ...parsed, now }), widgetId }));
      return reply.type("application/json; charset=utf-8").send(toBody(page));
    },
  );
}

/** api_json is JSON already; nextCursor is a timestamp or null. */
function toBody({ bookings, nextCursor }: ApiPage): string {
  return `{"data":[${bookings}],"nextCursor":${nextCursor === null ? "null" : `"${nextCursor}"`}}`;
}

function parseBookingsQuery(query: Query): (PageRequest & { widget: string | null }) | ApiError {
  try {
    const since = readInstant(query, "since", "down");
    const until = readInstant(query, "until", "up");
    const cursor = readInstant(query, "cursor", "up");
    const limit = readPageSize(query, "limit");
    return { since, before: cursor ?? until, limit, widget: readParameter(query, "widget") };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
