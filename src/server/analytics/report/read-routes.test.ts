import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Analytics, Breakdown } from "#contract/analytics/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { askApp } from "../../../../test/support/app/app-api.ts";
import { errorResponse, getJson, makeCaller, type TestCaller } from "../../../../test/support/app/read-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeKey, makeOrganization, makeWidget, updateWidget } from "../../../../test/support/builders.ts";
import { DIRECT, makeHit, SEARCH_AD } from "../../../../test/support/funnel/hits.ts";
import type { Hit, VisitClass } from "../record/hit.ts";
import { recordHits } from "../record/record.ts";

// The clock stands at noon (UTC) on 1 November 2026.
const testApp = await createTestApp();
const { app, deps } = testApp;
const { db } = deps;

const record = (...hits: Hit[]) => recordHits(db, hits, { includePaused: true });

async function getAnalytics(caller: Pick<TestCaller, "headers">, query = ""): Promise<Analytics> {
  const { status, body } = await getJson(app, `/api/v1/analytics${query}`, caller.headers);
  assert.equal(status, 200, JSON.stringify(body));
  return body as Analytics;
}

async function makeCallerIn(timeZone: string): Promise<TestCaller> {
  const owner = await makeOrganization(db, { timeZone });
  const { id, key } = await makeKey(db, owner);
  const widgetId = await makeWidget(db, owner);
  return { owner, widgetId, keyId: id, key, headers: { authorization: `Bearer ${key}` } };
}

/** The entries of `daily` that aren't zero. */
function busyDays({ daily }: Analytics) {
  return daily.filter(({ views, bookings }) => views + bookings > 0);
}

describe("the whole response", () => {
  test("without any visits has thirty days of zeros in UTC", async () => {
    const response = await getAnalytics(await makeCaller(db));
    const { daily, ...rest } = response;
    assert.deepEqual(rest, {
      days: 30,
      timeZone: "UTC",
      totals: {
        views: 0,
        slotSessions: 0,
        formSessions: 0,
        bookings: 0,
        failed: 0,
        noAvailability: 0,
        conversionRate: 0,
        avgLeadDays: null,
      },
      funnel: {
        widget_viewed: 0,
        service_selected: 0,
        date_selected: 0,
        slot_selected: 0,
        form_started: 0,
        booking_completed: 0,
      },
      channels: [],
      sources: [],
      campaigns: [],
    });
    assert.deepEqual(daily.slice(0, 2), [
      { day: "2026-10-03", views: 0, bookings: 0 },
      { day: "2026-10-04", views: 0, bookings: 0 },
    ]);
    assert.deepEqual([daily.length, daily.at(-1)], [30, { day: "2026-11-01", views: 0, bookings: 0 }]);
  });

  test("with five visits, step by step", async () => {
    const caller = await makeCallerIn("Europe/Berlin");
    const { widgetId } = caller;
    const email: VisitClass = { source: "newsletter", medium: "email", campaign: "Autumn", channel: "Email" };
    await record(
      // Viewed the widget twice and left.
      makeHit({ widgetId, visit: 1, at: "2026-10-30T09:00:00Z" }),
      makeHit({ widgetId, visit: 1, at: "2026-10-30T10:00:00Z" }),
      // Picked a time, which implies a day was picked, whether or not the widget reported it.
      makeHit({ widgetId, visit: 2, at: "2026-10-31T09:00:00Z", class: SEARCH_AD }),
      makeHit({ widgetId, visit: 2, at: "2026-10-31T09:01:00Z", step: "slot_selected", class: SEARCH_AD }),
      // Found no available times.
      makeHit({ widgetId, visit: 3, at: "2026-10-31T10:00:00Z", class: SEARCH_AD }),
      makeHit({ widgetId, visit: 3, at: "2026-10-31T10:01:00Z", step: "service_selected", class: SEARCH_AD }),
      makeHit({ widgetId, visit: 3, at: "2026-10-31T10:02:00Z", step: "no_availability", class: SEARCH_AD }),
      // Started the form and failed twice.
      makeHit({ widgetId, visit: 4, at: "2026-11-01T08:00:00Z", step: "form_started", class: email }),
      makeHit({ widgetId, visit: 4, at: "2026-11-01T08:05:00Z", step: "booking_failed", booking: "a", class: email }),
      makeHit({ widgetId, visit: 4, at: "2026-11-01T08:06:00Z", step: "booking_failed", booking: "b", class: email }),
      // Booked a day and a half ahead; only the booking itself was reported.
      makeHit({
        widgetId,
        visit: 5,
        at: "2026-11-01T09:00:00Z",
        step: "booking_completed",
        startAt: "2026-11-02T21:00:00Z",
        class: email,
      }),
    );
    assert.deepEqual(await getAnalytics(caller, "?days=3"), {
      days: 3,
      timeZone: "Europe/Berlin",
      totals: {
        views: 5,
        slotSessions: 3,
        formSessions: 2,
        bookings: 1,
        failed: 2,
        noAvailability: 1,
        conversionRate: 0.2,
        avgLeadDays: 1.5,
      },
      daily: [
        { day: "2026-10-30", views: 1, bookings: 0 },
        { day: "2026-10-31", views: 2, bookings: 0 },
        { day: "2026-11-01", views: 2, bookings: 1 },
      ],
      funnel: {
        widget_viewed: 5,
        service_selected: 4,
        date_selected: 3,
        slot_selected: 3,
        form_started: 2,
        booking_completed: 1,
      },
      channels: [
        { key: "Email", views: 2, bookings: 1, conversionRate: 0.5 },
        { key: "Paid Search", views: 2, bookings: 0, conversionRate: 0 },
        { key: "Direct", views: 1, bookings: 0, conversionRate: 0 },
      ],
      sources: [
        { key: "newsletter / email", views: 2, bookings: 1, conversionRate: 0.5 },
        { key: "google / cpc", views: 2, bookings: 0, conversionRate: 0 },
        { key: "(direct) / (none)", views: 1, bookings: 0, conversionRate: 0 },
      ],
      campaigns: [
        { key: "Autumn", views: 4, bookings: 1, conversionRate: 0.25 },
        { key: "(not set)", views: 1, bookings: 0, conversionRate: 0 },
      ],
    });
  });

  test("is uncached JSON, like every response of the read API", async () => {
    const caller = await makeCaller(db);
    const { headers } = await app.inject({ url: "/api/v1/analytics", headers: caller.headers });
    assert.equal(headers["content-type"], "application/json; charset=utf-8");
    assert.equal(headers["cache-control"], "no-store");
  });
});

describe("the window", () => {
  test("days=1 is today so far, and the first day of any window is counted whole", async () => {
    const caller = await makeCaller(db);
    const { widgetId } = caller;
    await record(
      makeHit({ widgetId, visit: 1, at: "2026-11-01T00:00:00.000Z" }),
      makeHit({ widgetId, visit: 2, at: "2026-10-31T23:59:59.999Z" }),
      makeHit({ widgetId, visit: 3, at: "2026-10-31T00:00:00.000Z" }),
      makeHit({ widgetId, visit: 4, at: "2026-10-30T23:59:59.999Z" }),
    );
    const [today, yesterday] = [
      { day: "2026-11-01", views: 1, bookings: 0 },
      { day: "2026-10-31", views: 2, bookings: 0 },
    ];
    assert.deepEqual((await getAnalytics(caller, "?days=1")).daily, [today]);
    assert.deepEqual((await getAnalytics(caller, "?days=2")).daily, [yesterday, today]);
    const views = await Promise.all(
      [1, 2, 3].map(async (days) => (await getAnalytics(caller, `?days=${days}`)).totals.views),
    );
    assert.deepEqual(views, [1, 3, 4]);
  });

  test("days=730 gives two years, the same with zeros in front, and sums that agree", async () => {
    const caller = await makeCaller(db);
    const { widgetId } = caller;
    const first = { widgetId, step: "booking_completed", class: SEARCH_AD } as const;
    await record(
      makeHit({ ...first, visit: 1, at: "2024-11-02T00:00:00Z" }),
      makeHit({ ...first, visit: 2, at: "2025-06-15T12:00:00Z" }),
      makeHit({ ...first, visit: 3, at: "2026-11-01T11:59:59.999Z" }),
    );
    const response = await getAnalytics(caller, "?days=0730");
    assert.deepEqual([response.days, response.daily.length], [730, 730]);
    assert.deepEqual(
      busyDays(response),
      ["2024-11-02", "2025-06-15", "2026-11-01"].map((day) => ({ day, views: 1, bookings: 1 })),
    );
    assert.deepEqual(response.channels, [{ key: "Paid Search", views: 3, bookings: 3, conversionRate: 1 }]);
  });

  for (const [days, what] of [
    ["0", "zero"],
    ["00", "zeros"],
    ["731", "one too many"],
    ["9".repeat(30), "thirty digits"],
    ["-1", "negative"],
    ["%2B5", "with a sign"],
    ["1.5", "not whole"],
    ["1e2", "with an exponent"],
    ["0x1", "hexadecimal"],
    ["%20", "blank"],
    ["", "empty"],
    ["thirty", "a word"],
    ["%D9%A3", "a digit in another script"],
  ] as const) {
    test(`days that are ${what} are refused`, async () => {
      const caller = await makeCaller(db);
      assert.deepEqual(
        await getJson(app, `/api/v1/analytics?days=${days}`, caller.headers),
        errorResponse(400, "bad_request", "The parameter days must be a whole number from 1 to 730."),
      );
    });
  }

  test("days sent twice are refused, even with equal values", async () => {
    const caller = await makeCaller(db);
    assert.deepEqual(
      await getJson(app, "/api/v1/analytics?days=7&days=7", caller.headers),
      errorResponse(400, "bad_request", "The parameter days was sent more than once."),
    );
  });

  test("an invalid window is reported before an unknown widget, and unknown parameters are ignored", async () => {
    const caller = await makeCaller(db);
    const both = await getJson(app, "/api/v1/analytics?widget=nobody&days=0", caller.headers);
    assert.equal(both.status, 400);
    assert.equal((await getAnalytics(caller, "?days=2&since=never&DAYS=0")).days, 2);
  });
});

describe("a change of time zone", () => {
  test("is in every answer from then on", async () => {
    const caller = await makeCaller(db);
    const { widgetId } = caller;
    const signedIn = await signIn(testApp, { role: "admin", organizationId: caller.owner });
    await record(
      makeHit({ widgetId, visit: 1, at: "2026-10-30T20:00:00Z", class: SEARCH_AD }),
      makeHit({ widgetId, visit: 2, at: "2026-10-31T09:00:00Z", step: "booking_completed" }),
    );
    const before = await getAnalytics(caller, "?days=3");
    assert.deepEqual([before.timeZone, ...busyDays(before).map(({ day }) => day)], ["UTC", "2026-10-30", "2026-10-31"]);
    const { status } = await askApp(app, signedIn, "PATCH /organization", { timeZone: "Asia/Tokyo" });
    assert.equal(status, 200);
    for (const query of ["?days=3", `?days=3&widget=${widgetId}`]) {
      const after = await getAnalytics(caller, query);
      assert.deepEqual(
        [after.timeZone, after.daily],
        [
          "Asia/Tokyo",
          [
            { day: "2026-10-30", views: 0, bookings: 0 },
            { day: "2026-10-31", views: 2, bookings: 1 },
            { day: "2026-11-01", views: 0, bookings: 0 },
          ],
        ],
      );
      const { timeZone: _, daily: __, ...rest } = after;
      const { timeZone: ___, daily: ____, ...restBefore } = before;
      assert.deepEqual(rest, restBefore, "totals, funnel and lists of the same visits");
    }
    const breakdown = "/api/v1/analytics/breakdown?dimension=channel&from=2026-10-31&to=2026-10-31";
    const { body } = await getJson(app, breakdown, caller.headers);
    assert.deepEqual(
      [(body as Breakdown).timeZone, (body as Breakdown).data.map(({ key, views }) => `${key} ${views}`)],
      ["Asia/Tokyo", ["Direct 1", "Paid Search 1"]],
    );
    const csv = await askApp(app, signedIn, "GET /analytics.csv?from=2026-10-30&to=2026-10-31");
    assert.equal(String(csv.body), "\uFEFFday,views,bookings\r\n2026-10-30,0,0\r\n2026-10-31,2,1\r\n");
  });

  test("of another organization changes nothing", async () => {
    const [caller, other] = [await makeCaller(db), await makeCaller(db)];
    const before = await getAnalytics(caller);
    const signedIn = await signIn(testApp, { role: "admin", organizationId: other.owner });
    await askApp(app, signedIn, "PATCH /organization", { timeZone: "Asia/Tokyo" });
    assert.deepEqual(await getAnalytics(caller), before);
    assert.equal((await getAnalytics(other)).timeZone, "Asia/Tokyo");
  });
});

describe("the widget filter", () => {
  test("counts only that widget, active or paused, with or without stored bookings", async () => {
    const caller = await makeCaller(db);
    const widgets = [
      await makeWidget(db, caller.owner, { status: "paused" }),
      await makeWidget(db, caller.owner, { collectData: false }),
      await makeWidget(db, caller.owner),
    ];
    await record(
      ...widgets
        .slice(0, 2)
        .flatMap((widgetId, index) =>
          Array.from({ length: index + 1 }, (_, visit) =>
            makeHit({ widgetId, visit, at: "2026-11-01T10:00:00Z", step: "booking_completed" }),
          ),
        ),
    );
    const read = async (widget: WidgetId) => {
      const { totals, channels, daily } = await getAnalytics(caller, `?days=1&widget=${widget}`);
      return { views: totals.views, bookings: totals.bookings, channels: channels.length, daily };
    };
    const day = "2026-11-01";
    assert.deepEqual(await Promise.all(widgets.map(read)), [
      { views: 1, bookings: 1, channels: 1, daily: [{ day, views: 1, bookings: 1 }] },
      { views: 2, bookings: 2, channels: 1, daily: [{ day, views: 2, bookings: 2 }] },
      { views: 0, bookings: 0, channels: 0, daily: [{ day, views: 0, bookings: 0 }] },
    ]);
    const { totals, channels } = await getAnalytics(caller, "?days=1");
    assert.deepEqual([totals.views, channels[0]?.views], [3, 3], "one visitor on two widgets is two widget loads");
  });

  test("another organization's, an unknown and a malformed widget get identical responses", async () => {
    const caller = await makeCaller(db);
    const stranger = await makeCaller(db);
    await record(makeHit({ widgetId: stranger.widgetId, visit: 1, at: "2026-11-01T10:00:00Z" }));
    const bodies = new Set<string>();
    for (const widget of [stranger.widgetId, "w_zzzzzzzzzzzz", "", "w_", "1; drop table widgets", "%00", "%EF%BF%BD"]) {
      const { statusCode, body } = await app.inject({
        url: `/api/v1/analytics?widget=${widget}`,
        headers: caller.headers,
      });
      assert.equal(statusCode, 404, widget);
      bodies.add(body);
    }
    assert.deepEqual([...bodies], ['{"error":{"code":"not_found","message":"Widget not found."}}']);
  });

  test("another organization's visits never appear in the response", async () => {
    const [caller, stranger] = [await makeCaller(db), await makeCaller(db)];
    await record(makeHit({ widgetId: stranger.widgetId, visit: 1, at: "2026-11-01T10:00:00Z" }));
    const response = await getAnalytics(caller);
    assert.deepEqual([response.totals.views, busyDays(response), response.channels], [0, [], []]);
  });
});

describe("bookings are counted individually, views per visit", () => {
  test("a visit at 23:55 that books at 00:05 is a view yesterday and a booking today", async () => {
    const caller = await makeCallerIn("Europe/Berlin");
    const { widgetId } = caller;
    await record(
      makeHit({ widgetId, visit: 1, at: "2026-10-31T22:55:00Z", class: SEARCH_AD }),
      makeHit({ widgetId, visit: 1, at: "2026-10-31T23:05:00Z", step: "booking_completed", class: SEARCH_AD }),
    );
    const two = await getAnalytics(caller, "?days=2");
    assert.deepEqual(two.daily, [
      { day: "2026-10-31", views: 1, bookings: 0 },
      { day: "2026-11-01", views: 0, bookings: 1 },
    ]);
    assert.deepEqual(two.channels, [{ key: "Paid Search", views: 1, bookings: 1, conversionRate: 1 }]);

    const today = await getAnalytics(caller, "?days=1");
    assert.deepEqual(
      [today.totals.views, today.totals.bookings, today.totals.conversionRate, today.funnel.booking_completed],
      [0, 1, 0, 0],
    );
    assert.deepEqual(today.channels, [{ key: "Paid Search", views: 0, bookings: 1, conversionRate: 0 }]);
  });

  test("two bookings in one visit are two bookings, one view, and a rate capped at 1", async () => {
    const caller = await makeCaller(db);
    const hit = {
      widgetId: caller.widgetId,
      visit: 1,
      at: "2026-11-01T10:00:00Z",
      step: "booking_completed",
    } as const;
    await record(
      makeHit({ ...hit, booking: "a", startAt: "2026-11-02T10:00:00Z" }),
      makeHit({ ...hit, booking: "b", startAt: "2026-11-05T10:00:00Z" }),
      makeHit({ ...hit, booking: "b", startAt: "2026-11-05T10:00:00Z" }),
    );
    const { totals, funnel, channels } = await getAnalytics(caller, "?days=1");
    assert.deepEqual(totals, {
      views: 1,
      slotSessions: 1,
      formSessions: 1,
      bookings: 2,
      failed: 0,
      noAvailability: 0,
      conversionRate: 1,
      avgLeadDays: 2.5,
    });
    assert.equal(funnel.booking_completed, 1);
    assert.deepEqual(channels, [{ key: "Direct", views: 1, bookings: 2, conversionRate: 1 }]);
  });

  test("a visit whose only trace is a failed booking has picked a time and started the form", async () => {
    const caller = await makeCaller(db);
    await record(makeHit({ widgetId: caller.widgetId, visit: 1, at: "2026-11-01T10:00:00Z", step: "booking_failed" }));
    const { totals } = await getAnalytics(caller, "?days=1");
    assert.deepEqual(
      [totals.views, totals.slotSessions, totals.formSessions, totals.bookings, totals.failed],
      [1, 1, 1, 0, 1],
    );
  });

  test("a visit that fails and then succeeds counts as both, and one that found no times can book later", async () => {
    const caller = await makeCaller(db);
    const hit = { widgetId: caller.widgetId, visit: 1 };
    await record(
      makeHit({ ...hit, at: "2026-11-01T09:00:00Z", step: "no_availability" }),
      makeHit({ ...hit, at: "2026-11-01T10:00:00Z", step: "booking_failed" }),
      makeHit({ ...hit, at: "2026-11-01T10:05:00Z", step: "booking_completed" }),
    );
    const { totals } = await getAnalytics(caller, "?days=1");
    assert.deepEqual([totals.views, totals.bookings, totals.failed, totals.noAvailability], [1, 1, 1, 1]);
  });

  test("lead time is the mean over bookings with a known appointment; past appointments count as 0", async () => {
    const caller = await makeCaller(db);
    const booking = { widgetId: caller.widgetId, at: "2026-11-01T10:00:00Z", step: "booking_completed" } as const;
    const average = async () => (await getAnalytics(caller, "?days=1")).totals.avgLeadDays;
    await record(makeHit({ ...booking, visit: 1 }));
    assert.equal(await average(), null, "no appointment known");
    await record(makeHit({ ...booking, visit: 2, startAt: "2026-10-20T10:00:00Z" }));
    assert.equal(await average(), 0, "an appointment before its booking");
    await record(makeHit({ ...booking, visit: 3, startAt: "2026-11-02T10:00:00Z" }));
    assert.equal(await average(), 0.5);
    await record(makeHit({ ...booking, visit: 4, startAt: "2026-11-02T10:00:00Z" }));
    assert.equal(await average(), 0.67);
  });

  test("a visit's source is that of its first hit, whichever hit arrived first", async () => {
    const caller = await makeCaller(db);
    const hit = { widgetId: caller.widgetId, visit: 1 };
    await record(makeHit({ ...hit, at: "2026-11-01T10:00:00Z", step: "booking_completed", class: DIRECT }));
    await record(makeHit({ ...hit, at: "2026-10-31T10:00:00Z", class: SEARCH_AD }));
    const { channels, daily } = await getAnalytics(caller, "?days=2");
    assert.deepEqual(channels, [{ key: "Paid Search", views: 1, bookings: 1, conversionRate: 1 }]);
    assert.deepEqual(daily, [
      { day: "2026-10-31", views: 1, bookings: 0 },
      { day: "2026-11-01", views: 0, bookings: 1 },
    ]);
  });
});

describe("the lists", () => {
  /** Visits with this key in every list, `bookings` of which booked. */
  function makeVisits(
    widgetId: WidgetId,
    sample: { key: string; views: number; bookings: number; from: number },
  ): Hit[] {
    const visitClass = { source: sample.key, medium: "m", campaign: sample.key, channel: sample.key };
    return Array.from({ length: sample.views }, (_, index) =>
      makeHit({
        widgetId,
        visit: sample.from + index,
        at: "2026-11-01T10:00:00Z",
        step: index < sample.bookings ? "booking_completed" : "widget_viewed",
        class: visitClass,
      }),
    );
  }

  test("hold the top 12, 25 and 25: most bookings, then most views, then by key in byte order", async () => {
    const caller = await makeCaller(db);
    // Two of each kind, so that the key decides; Z comes before a, and both before é and 🦤.
    const keys = ["a", "Z", "é", "🦤", "B", "b", "(other)", "ﬁ"];
    const groups = keys.flatMap((key, index) => [
      { key: `${key}1`, views: 2, bookings: 1, from: index * 100 },
      { key: `${key}2`, views: 1, bookings: 1, from: index * 100 + 10 },
      { key: `${key}3`, views: 3, bookings: 0, from: index * 100 + 20 },
      { key: `${key}4`, views: 1, bookings: 0, from: index * 100 + 30 },
    ]);
    await record(...groups.flatMap((group) => makeVisits(caller.widgetId, group)));

    const inOrder = ["1", "2", "3", "4"].flatMap((digit) =>
      ["(other)", "B", "Z", "a", "b", "é", "ﬁ", "🦤"].map((key) => `${key}${digit}`),
    );
    const response = await getAnalytics(caller, "?days=1");
    const keysOf = (list: Analytics["channels"]) => list.map(({ key }) => key);
    assert.deepEqual(keysOf(response.channels), inOrder.slice(0, 12));
    assert.deepEqual(
      keysOf(response.sources),
      inOrder.slice(0, 25).map((key) => `${key} / m`),
    );
    assert.deepEqual(keysOf(response.campaigns), inOrder.slice(0, 25));
    assert.deepEqual(response.channels[0], { key: "(other)1", views: 2, bookings: 1, conversionRate: 0.5 });
    assert.equal(response.totals.views, 8 * 7, "what the lists leave out is in the totals");
  });

  test("leave out keys that have neither views nor bookings in the window", async () => {
    const caller = await makeCaller(db);
    const { widgetId } = caller;
    await record(makeHit({ widgetId, visit: 1, at: "2026-11-01T10:00:00Z", class: SEARCH_AD }));
    // An earlier hit changes the visit's class, leaving the first class with nothing.
    await record(makeHit({ widgetId, visit: 1, at: "2026-11-01T09:00:00Z" }));
    const { channels, sources, campaigns } = await getAnalytics(caller);
    assert.deepEqual(
      [channels, sources, campaigns].map((list) => list.map(({ key }) => key)),
      [["Direct"], ["(direct) / (none)"], ["(not set)"]],
    );
  });
});

test("the Business plan's longest window lies within its 24 months, including its first day", async () => {
  const caller = await makeCaller(db);
  const { widgetId } = caller;
  await record(
    makeHit({ widgetId, visit: 1, at: "2024-11-01T23:59:59.999Z" }),
    makeHit({ widgetId, visit: 2, at: "2024-11-02T00:00:00.000Z" }),
  );
  assert.deepEqual(busyDays(await getAnalytics(caller, "?days=730")), [{ day: "2024-11-02", views: 1, bookings: 0 }]);
});

test("the response does not depend on Store bookings, before or after the visit", async () => {
  const caller = await makeCaller(db);
  const widgetId = await makeWidget(db, caller.owner, { collectData: false });
  await record(makeHit({ widgetId, visit: 1, at: "2026-11-01T10:00:00Z", step: "booking_completed" }));
  const before = await getAnalytics(caller, `?widget=${widgetId}`);
  await updateWidget(db, widgetId, { collect_data: true });
  assert.equal(before.totals.bookings, 1);
  assert.deepEqual(await getAnalytics(caller, `?widget=${widgetId}`), before);
});

test("an organization without a time zone is counted in UTC", async () => {
  const owner: OrganizationId = await makeOrganization(db);
  const { key } = await makeKey(db, owner);
  assert.equal((await getAnalytics({ headers: { authorization: `Bearer ${key}` } })).timeZone, "UTC");
});

describe("GET /api/v1/analytics/breakdown", () => {
  const getBreakdown = async (caller: Pick<TestCaller, "headers">, query: string) => {
    const { status, body } = await getJson(app, `/api/v1/analytics/breakdown${query}`, caller.headers);
    assert.equal(status, 200, JSON.stringify(body));
    return body as Breakdown;
  };

  test("lists a dimension for the days and filters asked for, page by page", async () => {
    const caller = await makeCaller(db);
    const { widgetId } = caller;
    const visit = (number: number, country: string, device: string, step?: "booking_completed") => ({
      ...makeHit({ widgetId, visit: number, at: "2026-10-31T10:00:00Z", ...(step ? { step } : {}) }),
      country,
      device,
    });
    await record(
      visit(1, "DE", "mobile", "booking_completed"),
      visit(2, "DE", "desktop"),
      visit(3, "AT", "mobile"),
      visit(4, "", "mobile"),
    );
    const de = { key: "DE", views: 2, bookings: 1, conversionRate: 0.5 };
    const [at, unknown] = ["AT", "(not set)"].map((key) => ({ key, views: 1, bookings: 0, conversionRate: 0 }));
    const whole = { dimension: "country", from: "2026-10-03", to: "2026-11-01", timeZone: "UTC", nextCursor: null };
    assert.deepEqual(await getBreakdown(caller, "?dimension=country"), { ...whole, data: [de, unknown, at] });
    const first = await getBreakdown(caller, "?dimension=country&limit=1");
    assert.deepEqual(first.data, [de]);
    const second = await getBreakdown(caller, `?dimension=country&limit=1&cursor=${first.nextCursor}`);
    assert.deepEqual(second.data, [unknown]);
    const third = await getBreakdown(caller, `?dimension=country&limit=1&cursor=${second.nextCursor}`);
    assert.deepEqual([third.data, third.nextCursor], [[at], null]);
    const keys = async (query: string) => (await getBreakdown(caller, query)).data.map(({ key }) => key);
    assert.deepEqual(await keys("?dimension=country&device=desktop"), ["DE"]);
    assert.deepEqual(await keys("?dimension=country&notCountry=DE&notCountry=(not set)"), ["AT"]);
    assert.deepEqual(await keys("?dimension=country&country=AT&country=DE&device=mobile"), ["DE", "AT"]);
    assert.deepEqual(await keys("?dimension=country&from=2026-10-01&to=2026-10-30"), []);
    assert.deepEqual(await keys(`?dimension=widget&widget=${widgetId}`), [widgetId]);
  });

  test("refuses the cursor of another list, and one that no page can have", async () => {
    const caller = await makeCaller(db);
    const { widgetId } = caller;
    const visits = ["DE", "AT", "CH"].map((country, visit) => ({
      ...makeHit({ widgetId, visit, at: "2026-10-31T10:00:00Z" }),
      country,
    }));
    await record(...visits);
    const filters = "country=DE&country=AT&notDevice=tablet";
    const { nextCursor, from, to } = await getBreakdown(caller, `?dimension=country&limit=1&${filters}`);
    const ask = async (query: string) => {
      const { status, body } = await getJson(app, `/api/v1/analytics/breakdown${query}`, caller.headers);
      return { status, message: (body as { error?: { message: string } }).error?.message };
    };
    const same = [
      `?dimension=country&limit=5&notDevice=tablet&country=AT&country=DE&cursor=${nextCursor}`,
      `?dimension=country&from=${from}&to=${to}&${filters}&cursor=${nextCursor}`,
    ];
    for (const query of same) assert.deepEqual((await getBreakdown(caller, query)).data.length, 1, query);
    for (const query of [
      `?dimension=device&${filters}`,
      `?dimension=country&days=29&${filters}`,
      `?dimension=country&to=2026-10-31&${filters}`,
      "?dimension=country&country=DE&notDevice=tablet",
      "?dimension=country&country=DE&country=AT&device=tablet",
      "?dimension=country",
    ])
      assert.deepEqual(
        await ask(`${query}&cursor=${nextCursor}`),
        {
          status: 400,
          message:
            "The parameter cursor was issued for a different dimension, days or filters: send the same ones as for the first page.",
        },
        query,
      );
    const [today, asked, ...row] = JSON.parse(Buffer.from(String(nextCursor), "base64url").toString());
    for (const crafted of [
      ["2026-13-01", asked, ...row],
      [today, asked, 1e300, 1, "DE"],
      [today, asked, -1, 1, "DE"],
      [today, asked, 1, 1, "D\0"],
      [1, 1, "DE"],
      row,
    ]) {
      const cursor = Buffer.from(JSON.stringify(crafted)).toString("base64url");
      const { status, message } = await ask(`?dimension=country&${filters}&cursor=${cursor}`);
      assert.deepEqual([status, message], [400, "The parameter cursor must be the nextCursor of a previous page."]);
    }
  });

  test("has pages of the same days if midnight passes between them", async (t) => {
    const caller = await makeCaller(db);
    const { widgetId } = caller;
    const at = ["2026-10-03T10:00:00Z", "2026-10-03T10:00:00Z", "2026-11-01T10:00:00Z"];
    await record(
      ...["DE", "DE", "AT"].map((country, i) => ({ ...makeHit({ widgetId, visit: i, at: at[i] ?? "" }), country })),
    );
    const first = await getBreakdown(caller, "?dimension=country&limit=1");
    const { clock } = testApp;
    const noon = clock.now();
    t.after(() => clock.set(noon));
    clock.set(new Date("2026-11-02T00:00:01Z"));
    const second = await getBreakdown(caller, `?dimension=country&limit=1&cursor=${first.nextCursor}`);
    assert.deepEqual([second.from, second.to, second.data.map(({ key }) => key)], [first.from, first.to, ["AT"]]);
  });

  test("takes countries, devices and channels in any case, and refuses what they can't be", async () => {
    const caller = await makeCaller(db);
    const { widgetId } = caller;
    await record({ ...makeHit({ widgetId, visit: 1, at: "2026-10-31T10:00:00Z", class: SEARCH_AD }), country: "DE" });
    for (const filter of ["country=de", "country=De", "device=MOBILE", "channel=paid%20search", "notCountry=at"])
      assert.equal((await getBreakdown(caller, `?dimension=page&${filter}`)).data.length, 1, filter);
    assert.equal((await getBreakdown(caller, "?dimension=page&notCountry=de")).data.length, 0);
    const wrongCountries = ["country=Germany", "notCountry=d1", "country=%C3%9F", "country=XX", "notCountry=qq"];
    for (const filter of [...wrongCountries, "device=phone", "channel=Radio"]) {
      const { status } = await getJson(app, `/api/v1/analytics/breakdown?dimension=page&${filter}`, caller.headers);
      assert.equal(status, 400, filter);
    }
    for (const filter of ["country=(not set)", "device=(not set)"])
      assert.equal((await getBreakdown(caller, `?dimension=page&${filter}`)).data.length, 0);
  });

  test("has the read API's errors", async () => {
    const caller = await makeCaller(db);
    const other = await makeCaller(db);
    const ask = async (query: string, headers: Record<string, string> = caller.headers) => {
      const { status, body } = await getJson(app, `/api/v1/analytics/breakdown${query}`, headers);
      return [status, (body as { error?: { code: string } }).error?.code];
    };
    for (const query of [
      "",
      "?dimension=moon",
      "?dimension=page&limit=0",
      "?dimension=page&days=731",
      "?dimension=page&days=7&from=2026-10-01",
      "?dimension=page&from=2026-10-02&to=2026-10-01",
      "?dimension=page&cursor=soon",
      "?dimension=page&country=",
      `?dimension=page&days=0&widget=${other.widgetId}`,
    ])
      assert.deepEqual(await ask(query), [400, "bad_request"], query);
    for (const name of ["widget", "notWidget"])
      assert.deepEqual(await ask(`?dimension=page&${name}=${other.widgetId}`), [404, "not_found"]);
    assert.deepEqual(await ask("?dimension=page", {}), [401, "unauthorized"]);
    const pro = await makeCaller(db, { plan: "pro" });
    assert.deepEqual(await ask("?dimension=page", pro.headers), [403, "plan_required"]);
  });
});
