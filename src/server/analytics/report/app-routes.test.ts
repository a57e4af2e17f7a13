import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import type { AppAnalytics, BookingTimes, LiveView } from "#contract/app/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { askApp } from "../../../../test/support/app/app-api.ts";
import { getJson, makeCaller } from "../../../../test/support/app/read-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { findReader, readAnalytics } from "../../../../test/support/funnel/analytics.ts";
import { countByHand } from "../../../../test/support/funnel/count-by-hand.ts";
import { makeHit, SEARCH_AD } from "../../../../test/support/funnel/hits.ts";
import { hitsOfVisits } from "../../../../test/support/funnel/random-hits.ts";
import { packVisits } from "../packs/pack-visits.ts";
import { addDrops } from "../record/queries.ts";
import { recordHits } from "../record/record.ts";
import { readReport } from "./app-report.ts";

// The clock stands at noon on 1 November 2026.

const testApp = await createTestApp();
const { app, deps } = testApp;
const { db, clock } = deps;

async function makeViewer(owner?: OrganizationId) {
  const viewer = await signIn(testApp, { role: "viewer", ...(owner ? { organizationId: owner } : {}) });
  return { viewer, widgetId: await makeWidget(db, viewer.organizationId) };
}

const ask = async (viewer: Parameters<typeof askApp>[1], query: string) => {
  const { status, body } = await askApp(app, viewer, `GET /analytics${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as AppAnalytics;
};

test("the dashboard shows the read API's numbers, plus the previous period", async () => {
  const { owner, widgetId, headers } = await makeCaller(db);
  const { viewer } = await makeViewer(owner);
  const hits = ["2026-10-20T10:00:00Z", "2026-10-31T10:00:00Z", "2026-11-01T10:00:00Z"].map((at, visit) =>
    makeHit({ widgetId, visit, at, step: visit === 1 ? "booking_completed" : "no_availability", class: SEARCH_AD }),
  );
  await recordHits(db, hits);
  const { from, to, now, hourly, lists, previous, dataSince, droppedEvents, ...rest } = await ask(viewer, "?days=7");
  assert.equal(droppedEvents, 0);
  assert.deepEqual(rest, (await getJson(app, "/api/v1/analytics?days=7", headers)).body);
  assert.deepEqual(
    [from, to, dataSince, rest.totals.views, rest.totals.bookings],
    ["2026-10-26", "2026-11-01", "2026-10-20", 2, 1],
  );
  assert.deepEqual([now, hourly], ["2026-11-01T12:00", null]);
  assert.deepEqual(lists.channel, { rows: rest.channels, count: 1 });
  assert.deepEqual(lists.country, {
    rows: [{ key: "DE", views: 2, bookings: 1, conversionRate: 0.5 }],
    count: 1,
  });
  assert.deepEqual(previous, {
    from: "2026-10-19",
    to: "2026-10-25",
    untilTime: "12:00",
    totals: {
      views: 1,
      slotSessions: 0,
      formSessions: 0,
      bookings: 0,
      failed: 0,
      noAvailability: 1,
      conversionRate: 0,
      avgLeadDays: null,
    },
    daily: Array.from({ length: 7 }, (_, i) => ({ day: `2026-10-${19 + i}`, views: i === 1 ? 1 : 0, bookings: 0 })),
    hourly: null,
    isComplete: false,
  });
  assert.equal((await ask(viewer, "?days=6")).previous?.isComplete, true);
  assert.deepEqual(await ask(viewer, "?from=2026-10-26&to=2026-11-01"), await ask(viewer, "?days=7"));
  assert.deepEqual((await ask(viewer, "")).days, 30);
});

test("without any views, no first day of data is given", async () => {
  const { viewer } = await makeViewer();
  const { dataSince, previous, daily } = await ask(viewer, "?days=2");
  assert.deepEqual([dataSince, previous?.isComplete], [null, false]);
  assert.deepEqual(daily, [
    { day: "2026-10-31", views: 0, bookings: 0 },
    { day: "2026-11-01", views: 0, bookings: 0 },
  ]);
});

test("any window of days, packed or not, matches a count by hand", async () => {
  const owner = await makeOrganization(db, { timeZone: "Europe/Berlin" });
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  const [from, to] = [new Date("2026-05-01T00:00:00Z"), new Date("2026-11-01T11:00:00Z")];
  const visits = fc.sample(hitsOfVisits({ widgets, from, to }, 120), { numRuns: 1, seed: 7 })[0] ?? [];
  await recordHits(db, visits);
  const check = async (when: string) => {
    for (const [lastDay, days] of [
      ["2026-11-01", 30],
      ["2026-10-25", 7],
      ["2026-10-24", 1],
      ["2026-09-30", 100],
      ["2026-08-15", 64],
      ["2026-06-11", 41],
      ["2026-05-03", 2],
      ["2026-04-01", 20],
    ] as const) {
      for (const widgetId of [null, ...widgets]) {
        const from = Temporal.PlainDate.from(lastDay)
          .subtract({ days: days - 1 })
          .toString();
        const query = { from, to: lastDay, ...(widgetId ? { widget: widgetId } : {}) };
        const { totals, daily, funnel, channels, sources, campaigns, timeZone, ...report } = await readReport(
          deps,
          await findReader(db, owner),
          query,
        );
        const response = { days: report.days, timeZone, totals, daily, funnel, channels, sources, campaigns };
        const noon = new Date(`${lastDay}T11:00:00Z`);
        const byHand = countByHand(visits, { zone: "Europe/Berlin", now: noon, days, widgetId });
        assert.deepEqual(response, byHand, `${when}: ${days} days to ${lastDay}`);
      }
    }
  };
  await check("before packing");
  await packVisits(db, owner, { now: clock.now() });
  await check("after packing");
  assert.deepEqual(
    await readAnalytics(db, owner, { days: 30, now: clock.now() }),
    countByHand(visits, { zone: "Europe/Berlin", now: clock.now(), days: 30, widgetId: null }),
  );
});

test("days past retention are empty, and data starts after them", async () => {
  const viewer = await signIn(testApp, { role: "viewer", plan: "free" });
  const widgetId = await makeWidget(db, viewer.organizationId);
  const hits = ["2026-09-15T10:00:00Z", "2026-10-30T10:00:00Z"].map((at, visit) => makeHit({ widgetId, visit, at }));
  await recordHits(db, hits);
  const { totals, dataSince, daily } = await ask(viewer, "?from=2026-09-01&to=2026-09-30");
  assert.deepEqual([totals.views, dataSince, daily.length], [0, "2026-10-30", 30]);
});

test("a single widget is counted on its own; another organization's widget is not found", async () => {
  const { viewer, widgetId } = await makeViewer();
  const other = await makeWidget(db, viewer.organizationId);
  const theirs = (await makeViewer()).widgetId;
  const hits = [widgetId, other, other].map((each, visit) =>
    makeHit({ widgetId: each, visit, at: "2026-10-31T10:00:00Z" }),
  );
  await recordHits(db, hits);
  assert.equal((await ask(viewer, `?widget=${other}`)).totals.views, 2);
  assert.equal((await ask(viewer, "")).totals.views, 3);
  assert.equal((await askApp(app, viewer, `GET /analytics?widget=${theirs}`)).status, 404);
});

test("invalid windows are refused, and future days are left out", async () => {
  const { viewer } = await makeViewer();
  for (const query of [
    "days=0",
    "days=731",
    "days=x",
    "from=2026-10-02&to=2026-10-01",
    "from=2026-11-02",
    "from=2024-11-01",
    "from=2026-02-30",
    "from=yesterday",
    "from=2026-10-01T00:00:00Z",
    "to=1",
    "from=2026-10-01&days=3",
    "from=2026-10-01&from=2026-10-02",
  ])
    assert.equal((await askApp(app, viewer, `GET /analytics?${query}`)).status, 400, query);
  const { from, to, days } = await ask(viewer, "?from=2026-10-30&to=2027-01-01");
  assert.deepEqual([from, to, days], ["2026-10-30", "2026-11-01", 3]);
  const tooLong = await askApp(app, viewer, "GET /analytics?from=2024-11-01&to=2027-01-01");
  assert.deepEqual(tooLong.body, {
    error: {
      code: "bad_request",
      message: "The parameter from is too early: the period can have at most 730 days.",
    },
  });
  const longest = await ask(viewer, "?from=2024-11-02&to=2026-11-01");
  assert.deepEqual([longest.days, longest.daily.length], [730, 730]);
  const open = await ask(viewer, "?to=2026-10-10");
  assert.deepEqual([open.from, open.to], ["2026-09-11", "2026-10-10"]);
});

test("tables can be exported as CSV, with the days shown on screen", async () => {
  const { viewer, widgetId } = await makeViewer();
  await recordHits(db, [makeHit({ widgetId, visit: 1, at: "2026-11-01T10:00:00Z" })]);
  const csv = async (query: string) =>
    await app.inject({ url: `/api/app/analytics.csv?${query}`, headers: viewer.headers });
  const daily = await csv("days=2");
  assert.deepEqual(
    [daily.headers["content-type"], daily.headers["content-disposition"], daily.body],
    [
      "text/csv; charset=utf-8",
      'attachment; filename="daily-2026-10-31-2026-11-01.csv"',
      "\uFEFFday,views,bookings\r\n2026-10-31,0,0\r\n2026-11-01,1,0\r\n",
    ],
  );
  assert.equal((await csv("table=funnel")).body.split("\r\n")[1], "widget_viewed,1");
  assert.equal((await csv("table=secrets")).statusCode, 400);
});

test("events over the budget are shown for the days and the widget they were dropped on", async () => {
  const { viewer, widgetId } = await makeViewer();
  const other = await makeWidget(db, viewer.organizationId);
  const drop = (widget: WidgetId, visit: number, at: string) =>
    addDrops(db, [makeHit({ widgetId: widget, visit, at })], new Date(at));
  await drop(widgetId, 1, "2026-10-31T23:59:00Z");
  await drop(widgetId, 2, "2026-11-01T00:00:00Z");
  await drop(other, 3, "2026-11-01T00:30:00Z");
  const read = async (query: string) => (await ask(viewer, query)).droppedEvents;
  assert.deepEqual([await read("?days=1"), await read("?days=2"), await read(`?days=2&widget=${widgetId}`)], [2, 3, 2]);
});

test("billions of events over the budget are shown too", async () => {
  const { viewer, widgetId } = await makeViewer();
  for (const hour of ["2026-11-01T00:00Z", "2026-11-01T01:00Z"])
    await sql`insert into funnel_drops (organization_id, widget_id, hour, events)
      values (${viewer.organizationId}, ${widgetId}, ${hour}::timestamptz, 2000000000)`.execute(db);
  assert.equal((await ask(viewer, "?days=1")).droppedEvents, 4_000_000_000);
});

test("periods have the days that their names say", async () => {
  const { viewer } = await makeViewer();
  const range = async (period: string) => {
    const { from, to } = await ask(viewer, `?period=${period}`);
    return [from, to];
  };
  assert.deepEqual(await range("today"), ["2026-11-01", "2026-11-01"]);
  assert.deepEqual(await range("yesterday"), ["2026-10-31", "2026-10-31"]);
  assert.deepEqual(await range("month"), ["2026-11-01", "2026-11-01"]);
  assert.deepEqual(await range("last-month"), ["2026-10-01", "2026-10-31"]);
  assert.deepEqual(await range("year"), ["2026-01-01", "2026-11-01"]);
  assert.deepEqual(await range("12-months"), ["2025-11-02", "2026-11-01"]);
  assert.equal((await askApp(app, viewer, "GET /analytics?period=tomorrow")).status, 400);
});

test("all time begins with the organization's first day that is kept, whatever the filters", async () => {
  const { viewer, widgetId } = await makeViewer();
  const other = await makeWidget(db, viewer.organizationId);
  const range = async (query = "") => {
    const { from, to, days } = await ask(viewer, `?period=all${query}`);
    return [from, to, days];
  };
  const record = (widget: WidgetId, visit: number, at: string) =>
    recordHits(db, [makeHit({ widgetId: widget, visit, at })]);
  assert.deepEqual(await range(), ["2026-11-01", "2026-11-01", 1], "before the first view");
  await record(other, 1, "2026-10-31T10:00:00Z");
  await record(widgetId, 2, "2026-10-20T23:59:59.999Z");
  assert.deepEqual(await range(), ["2026-10-20", "2026-11-01", 13]);
  assert.deepEqual(await range(`&widget=${other}`), ["2026-10-20", "2026-11-01", 13]);
  assert.deepEqual(await range("&country=AT"), ["2026-10-20", "2026-11-01", 13]);
  await record(widgetId, 3, "2024-11-01T23:59:59.999Z");
  assert.deepEqual(await range(), ["2024-11-02", "2026-11-01", 730]);

  const free = await signIn(testApp, { role: "viewer", plan: "free" });
  const theirs = await makeWidget(db, free.organizationId);
  await record(theirs, 1, "2026-09-15T10:00:00Z");
  await record(theirs, 2, "2026-10-30T10:00:00Z");
  assert.equal((await ask(free, "?period=all")).from, "2026-10-30");
});

describe("comparisons", () => {
  test("are with the previous days, last year's, any others or none", async () => {
    const { viewer } = await makeViewer();
    const range = async (query: string) => {
      const { previous } = await ask(viewer, `?from=2026-10-05&to=2026-10-11${query}`);
      return previous && [previous.from, previous.to, previous.untilTime];
    };
    assert.deepEqual(await range(""), ["2026-09-28", "2026-10-04", null]);
    assert.deepEqual(await range("&compare=year"), ["2025-10-06", "2025-10-12", null]);
    assert.deepEqual(await range("&compare=year&match=date"), ["2025-10-05", "2025-10-11", null]);
    assert.deepEqual(await range("&compare=custom&compareFrom=2026-08-01&compareTo=2026-08-31"), [
      "2026-08-01",
      "2026-08-31",
      null,
    ]);
    assert.equal(await range("&compare=none"), null);
    for (const query of [
      "compare=yesterday",
      "match=moon",
      "compare=custom",
      "compare=custom&compareFrom=2026-08-02&compareTo=2026-08-01",
      "compare=custom&compareFrom=2024-08-01&compareTo=2026-08-01",
    ]) {
      const { status } = await askApp(app, viewer, `GET /analytics?${query}`);
      assert.equal(status, 400, query);
    }
  });

  test("match weekdays unless dates are wanted, and months and years are compared with those before", async () => {
    const { viewer } = await makeViewer();
    const range = async (query: string) => {
      const { previous } = await ask(viewer, `?${query}`);
      return [previous?.from, previous?.to];
    };
    // Today is Sunday, 1 November 2026.
    assert.deepEqual(await range("days=1"), ["2026-10-25", "2026-10-25"]);
    assert.deepEqual(await range("days=1&match=date"), ["2026-10-31", "2026-10-31"]);
    assert.deepEqual(await range("days=30"), ["2026-08-29", "2026-09-27"]);
    assert.deepEqual(await range("days=30&match=date"), ["2026-09-03", "2026-10-02"]);
    for (const match of ["weekday", "date"]) {
      assert.deepEqual(await range(`period=last-month&match=${match}`), ["2026-09-01", "2026-09-30"]);
      assert.deepEqual(await range(`period=month&match=${match}`), ["2026-10-01", "2026-10-01"]);
      assert.deepEqual(await range(`period=year&match=${match}`), ["2025-01-01", "2025-11-01"]);
      assert.deepEqual(await range(`period=last-month&compare=year&match=${match}`), ["2025-10-01", "2025-10-31"]);
    }
  });

  test("today until noon is compared with the earlier day until noon", async () => {
    const { viewer, widgetId } = await makeViewer();
    const at = ["2026-10-31T11:59:59.999Z", "2026-10-31T12:00:00Z", "2026-11-01T09:00:00Z"];
    await recordHits(
      db,
      at.map((each, visit) => makeHit({ widgetId, visit, at: each })),
    );
    const { totals, previous, hourly } = await ask(viewer, "?days=1&match=date");
    assert.deepEqual([totals.views, previous?.totals.views, previous?.untilTime], [1, 1, "12:00"]);
    assert.deepEqual(hourly, [{ hour: "2026-11-01T09", views: 1, bookings: 0 }]);
    assert.deepEqual(previous?.hourly, [{ hour: "2026-10-31T11", views: 1, bookings: 0 }]);
    assert.equal((await ask(viewer, "?from=2026-10-31&to=2026-10-31")).totals.views, 2);
  });
});

test("a filter by another organization's widget is as unknown as one that never was", async () => {
  const { viewer } = await makeViewer();
  const { widgetId } = await makeViewer();
  for (const query of [`widget=${widgetId}`, `notWidget=${widgetId}`, "widget=w_111111111111"])
    for (const path of ["", "/breakdown", "/split", "/times"]) {
      const { status } = await askApp(app, viewer, `GET /analytics${path}?dimension=page&${query}`);
      assert.equal(status, 404, `${path} ${query}`);
    }
});

test("filters hold for kept days alone", async () => {
  const viewer = await signIn(testApp, { role: "viewer", plan: "free" });
  const widgetId = await makeWidget(db, viewer.organizationId);
  const hits = ["2026-09-15T10:00:00Z", "2026-10-30T10:00:00Z"].map((at, visit) =>
    makeHit({ widgetId, visit, at, step: "booking_completed" }),
  );
  await recordHits(db, hits);
  const { totals, previous } = await ask(
    viewer,
    "?days=90&country=DE&compare=custom&compareFrom=2026-09-01&compareTo=2026-09-30",
  );
  assert.deepEqual([totals.views, totals.bookings, previous?.totals.views], [1, 1, 0]);
  const { body } = await askApp(app, viewer, "GET /analytics/times?days=90");
  assert.equal(
    (body as BookingTimes).bookings.flat().reduce((sum, count) => sum + count, 0),
    1,
  );
});

test("the live view counts visits with a step in the last minutes, and lists the hour's bookings without a visitor's data", async () => {
  const { viewer, widgetId } = await makeViewer();
  const hit = (visit: number, at: string, step?: "slot_selected" | "booking_completed") =>
    makeHit({ widgetId, visit, at: `2026-11-01T${at}Z`, ...(step ? { step } : {}) });
  await recordHits(db, [
    hit(1, "09:30:00"),
    hit(1, "11:57:00", "slot_selected"),
    hit(2, "11:20:00", "booking_completed"),
    hit(3, "10:59:00", "booking_completed"),
  ]);
  const { status, body } = await askApp(app, viewer, "GET /analytics/live");
  assert.equal(status, 200);
  const { bookings, ...counts } = body as LiveView;
  assert.deepEqual(counts, { visits5Minutes: 1, visits60Minutes: 2, bookings60Minutes: 1 });
  assert.deepEqual(
    bookings.map(({ id: _, ...booking }) => booking),
    [
      {
        at: "2026-11-01T11:20:00.000Z",
        widget: widgetId,
        service: null,
        channel: "Direct",
        country: "DE",
        device: "mobile",
      },
    ],
  );
});

test("the live view counts visits that act now and were opened within a day, and older ones when they book", async () => {
  const { viewer, widgetId } = await makeViewer();
  const read = async () => {
    const { body } = await askApp(app, viewer, "GET /analytics/live");
    const { visits5Minutes, visits60Minutes } = body as LiveView;
    return [visits5Minutes, visits60Minutes];
  };
  await recordHits(db, [
    makeHit({ widgetId, visit: 1, at: "2026-11-01T08:00:00Z" }),
    makeHit({ widgetId, visit: 2, at: "2026-10-31T12:00:00Z" }),
    makeHit({ widgetId, visit: 3, at: "2026-10-28T10:00:00Z" }),
  ]);
  assert.deepEqual(await read(), [0, 0]);
  await recordHits(db, [
    makeHit({ widgetId, visit: 1, at: "2026-11-01T11:58:00Z", step: "slot_selected" }),
    makeHit({ widgetId, visit: 2, at: "2026-11-01T11:30:00Z", step: "form_started" }),
    makeHit({ widgetId, visit: 3, at: "2026-11-01T11:57:00Z", step: "booking_completed" }),
  ]);
  assert.deepEqual(await read(), [2, 3]);
});

test("bookings of a service and all others add up, and visits without a booking are among the others", async () => {
  const { viewer, widgetId } = await makeViewer();
  const book = (visit: number, service: string) => {
    const hit = makeHit({ widgetId, visit, at: "2026-10-31T10:00:00Z", step: "booking_completed" });
    return { ...hit, conversion: { step: "booking_completed", key: service, startAt: null, service } as const };
  };
  await recordHits(db, [
    book(1, "Check-up"),
    book(1, "Cleaning"),
    book(2, "Check-up"),
    book(3, "Cleaning"),
    makeHit({ widgetId, visit: 4, at: "2026-10-31T10:00:00Z" }),
  ]);
  const count = async (query: string) => {
    const { totals, funnel } = await ask(viewer, query);
    return [totals.views, totals.bookings, funnel.booking_completed];
  };
  assert.deepEqual(await count(""), [4, 4, 3]);
  assert.deepEqual(await count("?service=Check-up"), [2, 2, 2]);
  assert.deepEqual(await count("?notService=Check-up"), [3, 2, 2]);
  assert.deepEqual(await count("?service=Check-up&service=Cleaning&notService=Check-up"), [2, 2, 2]);
  assert.deepEqual(await count("?notService=Check-up&notService=Cleaning"), [1, 0, 0]);
});
