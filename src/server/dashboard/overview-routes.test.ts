import assert from "node:assert/strict";
import { test } from "node:test";
import type { Overview } from "#contract/app/overview.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { askApp } from "../../../test/support/app/app-api.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeBooking, makeWidget, NOON } from "../../../test/support/builders.ts";
import { makeHit } from "../../../test/support/funnel/hits.ts";
import { recordHits } from "../analytics/record/record.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;

const NOTHING_DONE = {
  hasWidget: false,
  hasLook: false,
  storesBookings: false,
  isOnPage: false,
  hasTestBooking: false,
  hasConnection: false,
  isLive: false,
  hasLiveBooking: false,
  hasEndpoint: false,
  hasSecondMember: false,
};

test("the checklist knows what is done, and the next appointments come soonest first", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const read = async () => (await askApp(app, owner, "GET /overview")).body as Overview;
  assert.deepEqual(await read(), {
    checklist: NOTHING_DONE,
    isChecklistDismissed: false,
    upcoming: [],
    now: { visits: 0, bookings: 0 },
    includesTests: false,
  });

  const widgetId = await makeWidget(deps.db, owner.organizationId);
  await recordHits(deps.db, [makeHit({ widgetId, visit: 1, at: NOON })]);
  await signIn(testApp, { role: "member", organizationId: owner.organizationId });
  const make = (start: string) =>
    makeBooking(deps.db, owner.organizationId, {
      widgetId,
      is_test: true,
      start_at: new Date(start),
      end_at: new Date(start),
    });
  await make("2026-10-30T09:00:00Z");
  const [later, sooner] = [await make("2026-11-06T09:00:00Z"), await make("2026-11-05T09:00:00Z")];
  const { checklist, upcoming, now } = await read();
  assert.deepEqual(checklist, {
    ...NOTHING_DONE,
    hasWidget: true,
    storesBookings: true,
    isOnPage: true,
    hasSecondMember: true,
  });
  assert.deepEqual(
    upcoming.map(({ reference }) => reference),
    [sooner.reference, later.reference],
  );
  assert.deepEqual(now, { visits: 1, bookings: 0 });
});

test("whoever dismisses the checklist no longer sees it, and others still do", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const viewer = await signIn(testApp, { role: "viewer", organizationId: owner.organizationId });
  const isDismissedFor = async (person: typeof owner) =>
    ((await askApp(app, person, "GET /overview")).body as Overview).isChecklistDismissed;
  assert.deepEqual([await isDismissedFor(owner), await isDismissedFor(viewer)], [false, false]);
  assert.equal((await askApp(app, owner, "POST /overview/dismiss-checklist")).status, 204);
  assert.deepEqual([await isDismissedFor(owner), await isDismissedFor(viewer)], [true, false]);
});

test("a view on our own pages does not count as a view on the business's site", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const widgetId = await makeWidget(deps.db, owner.organizationId);
  const hit = makeHit({ widgetId, visit: 2, at: NOON });
  await recordHits(deps.db, [{ ...hit, page: `${deps.config.baseUrl}/w/${widgetId}` }]);
  const { checklist } = (await askApp(app, owner, "GET /overview")).body as Overview;
  assert.equal(checklist.isOnPage, false);
});

test("bookings of the last day are counted, also two of one visit, and tests among the numbers are said", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const { organizationId } = owner;
  const read = async () => (await askApp(app, owner, "GET /overview")).body as Overview;
  const widgetId = await makeWidget(deps.db, organizationId, { createdAt: new Date(NOON.getTime() - 30 * DAY_MS) });
  const at = new Date(NOON.getTime() - HOUR_MS);
  const book = (booking: string, when: Date) =>
    makeHit({ widgetId, visit: 3, at: when, step: "booking_completed", booking });
  const twoDaysAgo = new Date(NOON.getTime() - 2 * DAY_MS);
  await recordHits(deps.db, [book("a", at), book("b", at), book("old", twoDaysAgo)]);
  const { now, includesTests } = await read();
  assert.deepEqual({ bookings: now.bookings, includesTests }, { bookings: 2, includesTests: true });

  const goLive = (started_at: Date) =>
    deps.db
      .insertInto("live_periods")
      .values({ organization_id: organizationId, widget_id: widgetId, started_at })
      .execute();
  await goLive(new Date(NOON.getTime() - MINUTE_MS));
  assert.equal((await read()).includesTests, true, "kept after going live");
  await goLive(new Date(NOON.getTime() - 20 * DAY_MS));
  assert.equal((await read()).includesTests, false, "live all the time");
});

test("a booking is live if it was made while the widget was live, whatever the visit's last attempt was", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const { organizationId } = owner;
  const hasLiveBooking = async () =>
    ((await askApp(app, owner, "GET /overview")).body as Overview).checklist.hasLiveBooking;
  const widgetId = await makeWidget(deps.db, organizationId);
  const before = (hours: number) => new Date(NOON.getTime() - hours * HOUR_MS);
  await deps.db
    .insertInto("live_periods")
    .values([
      { organization_id: organizationId, widget_id: widgetId, started_at: before(8), ended_at: before(6) },
      { organization_id: organizationId, widget_id: widgetId, started_at: before(2) },
    ])
    .execute();
  const attempt = (visit: number, hours: number, isFailed = false) =>
    makeHit({
      ...{ widgetId, visit, at: before(hours), booking: `${hours}` },
      step: isFailed ? "booking_failed" : "booking_completed",
    });
  await recordHits(deps.db, [attempt(4, 5), attempt(4, 1, true)]);
  assert.equal(await hasLiveBooking(), false, "a test booking, and a live attempt that failed");
  await recordHits(deps.db, [attempt(5, 7), attempt(5, 4)]);
  assert.equal(await hasLiveBooking(), true, "a live booking, and a test booking after it");
});
