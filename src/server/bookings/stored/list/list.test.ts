import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BOOKING_SORTS, type BookingSort, type BookingSummary } from "#contract/app/bookings.ts";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../../../test/support/app/app.ts";
import { askApp } from "../../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../../test/support/app/sign-in.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../../test/support/builders.ts";
import { type AppBookingFilter, countBookings } from "./app-queries.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;
const { db } = deps;

const owner = await makeOrganization(db, { plan: "business" });
const [first, second] = [await makeWidget(db, owner), await makeWidget(db, owner)];
const member = await signIn(testApp, { role: "member", organizationId: owner });
const admin = await signIn(testApp, { role: "admin", organizationId: owner });

type Made = { name: string; reference: string; createdAt: Date; start: Date; widget: string; isCancelled: boolean };
const made: Made[] = [];
for (let i = 0; i < 24; i++) {
  const createdAt = new Date(NOON.getTime() - (24 - i) * DAY_MS);
  // Every third shares its appointment's start with two others.
  const start = new Date(NOON.getTime() + ((Math.floor(i / 3) * 5) % 8) * 6 * HOUR_MS - 20 * HOUR_MS);
  const [name, widget] = [i % 2 === 0 ? `Mara ${i}` : `Emil ${i}`, i % 4 === 0 ? second : first];
  const { reference } = await makeBooking(db, owner, {
    widgetId: widget,
    now: createdAt,
    customer_name: name,
    customer_email: "someone@example.com",
    start_at: start,
    end_at: start,
    ...(i % 5 === 0 ? { status: "cancelled" } : {}),
  });
  made.push({ name, reference, createdAt, start, widget, isCancelled: i % 5 === 0 });
}

const time = (date: Date) => date.getTime();
const byStart = (a: Made, b: Made) => time(a.start) - time(b.start) || (a.reference < b.reference ? -1 : 1);
const COMPARISONS: Record<BookingSort, (a: Made, b: Made) => number> = {
  newest: (a, b) => time(b.createdAt) - time(a.createdAt),
  oldest: (a, b) => time(a.createdAt) - time(b.createdAt),
  soonest: byStart,
  latest: (a, b) => byStart(b, a),
};

async function follow(query: string, limit: number): Promise<string[]> {
  const references: string[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await askApp(app, member, `GET /bookings?limit=${limit}${query}${cursor}`);
    assert.equal(status, 200, JSON.stringify(body));
    const page = body as { data: BookingSummary[]; nextCursor: string | null };
    references.push(...page.data.map(({ reference }) => reference));
    if (page.nextCursor === null) return references;
    assert.equal(page.data.length, limit);
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
}

const [from, to] = [new Date(NOON.getTime() - 8 * HOUR_MS), new Date(NOON.getTime() + 16 * HOUR_MS)];
const booked = new Date(NOON.getTime() - 15 * DAY_MS);

const FILTERS: Record<string, { query: string; isMatch: (booking: Made) => boolean }> = {
  nothing: { query: "", isMatch: () => true },
  "appointment dates": {
    query: `&startFrom=${from.toISOString()}&startTo=${to.toISOString()}`,
    isMatch: ({ start }) => start >= from && start < to,
  },
  "what is upcoming": {
    query: "&when=upcoming",
    isMatch: ({ start, isCancelled }) => start >= NOON && !isCancelled,
  },
  "cancelled appointments": { query: "&status=cancelled", isMatch: ({ isCancelled }) => isCancelled },
  "confirmed appointments": { query: "&status=confirmed", isMatch: ({ isCancelled }) => !isCancelled },
  "cancelled appointments that would be upcoming": {
    query: "&status=cancelled&when=upcoming",
    isMatch: ({ start, isCancelled }) => start >= NOON && isCancelled,
  },
  "a search among cancelled appointments": {
    query: "&status=cancelled&search=mara",
    isMatch: ({ name, isCancelled }) => isCancelled && name.startsWith("Mara"),
  },
  "what is past": { query: "&when=past", isMatch: ({ start }) => start < NOON },
  "a search": { query: "&search=mara", isMatch: ({ name }) => name.startsWith("Mara") },
  "a search among upcoming appointments, a widget and a booking date": {
    query: `&search=emil&when=upcoming&widget=${first}&from=${booked.toISOString()}`,
    isMatch: ({ name, start, widget, createdAt }) =>
      name.startsWith("Emil") && start >= NOON && widget === first && createdAt >= booked,
  },
};

describe("pages in every order follow without gaps or repeats, and the count is theirs, filtered by", () => {
  for (const [what, { query, isMatch }] of Object.entries(FILTERS))
    test(what, async () => {
      const matches = made.filter(isMatch);
      assert.ok(matches.length > 1);
      for (const sort of BOOKING_SORTS) {
        const expected = matches.toSorted(COMPARISONS[sort]).map(({ reference }) => reference);
        assert.deepEqual(await follow(`&sort=${sort}${query}`, 2), expected, sort);
        const file = String((await askApp(app, admin, `GET /bookings.csv?sort=${sort}${query}`)).body);
        const lines = file.split("\r\n").slice(1, -1);
        assert.deepEqual(
          lines.map((line) => line.split(",")[0]),
          expected,
          sort,
        );
      }
      const counted = await askApp(app, member, `GET /bookings/count?${query}`);
      assert.deepEqual(counted.body, { count: matches.length, hasMore: false });
    });
});

test("a count stops at its limit, with and without a search", async () => {
  const filter: AppBookingFilter = {
    createdFrom: new Date(0),
    createdBefore: null,
    widgetId: null,
    startFrom: null,
    startBefore: null,
    status: null,
    sort: "newest",
    after: null,
    search: null,
    parts: ["o", "c"],
    limit: 5,
  };
  assert.equal(await countBookings(db, owner, filter), 5);
  assert.equal(await countBookings(db, owner, { ...filter, search: "mara" }), 5);
  assert.equal(await countBookings(db, owner, { ...filter, search: "mara 1", limit: 9 }), 5);
});

test("a viewer's count does not search customers", async () => {
  const viewer = await signIn(testApp, { role: "viewer", organizationId: owner });
  assert.deepEqual((await askApp(app, viewer, "GET /bookings/count?search=mara")).body, { count: 0, hasMore: false });
});

test("an unknown order, time or cursor is refused with a clear message", async () => {
  // biome-ignore format: one case a line
  const cases: [query: string, message: string][] = [
    ["sort=best", "The parameter sort must be one of newest, oldest, soonest, latest."],
    ["when=now", "The parameter when must be one of upcoming, past."],
    ["status=lost", "The parameter status must be one of confirmed, cancelled."],
    ["startFrom=never", "The parameter startFrom must be an ISO 8601 date, for example 2026-11-01 or 2026-11-01T09:30:00.000Z."],
    ["cursor=2026-11-01T09:30:00.000Z", "The parameter cursor must be the nextCursor of the previous page."],
    ["cursor=x_SVC-222222", "The parameter cursor must be the nextCursor of the previous page."],
  ];
  for (const [query, message] of cases)
    assert.deepEqual(await askApp(app, member, `GET /bookings?${query}`), {
      status: 400,
      body: { error: { code: "bad_request", message } },
    });
});
