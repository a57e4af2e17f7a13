import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { AppAnalytics } from "#contract/app/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { readAnalytics } from "../../../test/support/analytics.ts";
import { createTestApp } from "../../../test/support/app.ts";
import { askApp } from "../../../test/support/app-api.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { countByHand } from "../../../test/support/count-by-hand.ts";
import { touchesOfVisits } from "../../../test/support/random-touches.ts";
import { getJson, makeCaller } from "../../../test/support/read-api.ts";
import { signIn } from "../../../test/support/sign-in.ts";
import { makeTouch, SEARCH_AD } from "../../../test/support/touches.ts";
import { addDrops } from "../funnel/record/drops.ts";
import { recordTouches } from "../funnel/record/record.ts";
import { sealSpans } from "../funnel/recount/seal-spans.ts";
import { selectAnalytics } from "./queries.ts";
import { toAnalytics } from "./report.ts";

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
  const touches = ["2026-10-20T10:00:00Z", "2026-10-31T10:00:00Z", "2026-11-01T10:00:00Z"].map((at, visit) =>
    makeTouch({ widgetId, visit, at, step: visit === 1 ? "booking_completed" : "no_availability", class: SEARCH_AD }),
  );
  await recordTouches(db, touches);
  const { from, to, previous, dataSince, droppedEvents, ...rest } = await ask(viewer, "?days=7");
  assert.equal(droppedEvents, 0);
  assert.deepEqual(rest, (await getJson(app, "/api/v1/analytics?days=7", headers)).body);
  assert.deepEqual(
    [from, to, dataSince, rest.totals.views, rest.totals.bookings],
    ["2026-10-26", "2026-11-01", "2026-10-20", 2, 1],
  );
  assert.deepEqual(previous, {
    from: "2026-10-19",
    to: "2026-10-25",
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
    isComplete: false,
  });
  assert.equal((await ask(viewer, "?days=6")).previous.isComplete, true);
  assert.deepEqual(await ask(viewer, "?from=2026-10-26&to=2026-11-01"), await ask(viewer, "?days=7"));
  assert.deepEqual((await ask(viewer, "")).days, 30);
});

test("without any views, no first day of data is given", async () => {
  const { viewer } = await makeViewer();
  const { dataSince, previous, daily } = await ask(viewer, "?days=2");
  assert.deepEqual([dataSince, previous.isComplete], [null, false]);
  assert.deepEqual(daily, [
    { day: "2026-10-31", views: 0, bookings: 0 },
    { day: "2026-11-01", views: 0, bookings: 0 },
  ]);
});

test("any window of days, sealed or not, matches a count by hand", async () => {
  const owner = await makeOrganization(db, { timeZone: "Europe/Berlin" });
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  const [from, to] = [new Date("2026-05-01T00:00:00Z"), new Date("2026-11-01T11:00:00Z")];
  const visits = fc.sample(touchesOfVisits({ widgets, from, to }, 120), { numRuns: 1, seed: 7 })[0] ?? [];
  await recordTouches(db, visits);
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
        const window = { days, now: clock.now(), keptSince: new Date(0), widgetId, lastDay };
        const answer = toAnalytics(await selectAnalytics(db, owner, window), days);
        const noon = new Date(`${lastDay}T11:00:00Z`);
        const byHand = countByHand(visits, { zone: "Europe/Berlin", now: noon, days, widgetId });
        assert.deepEqual(answer, byHand, `${when}: ${days} days to ${lastDay}`);
      }
    }
  };
  await check("before sealing");
  await sealSpans(db, owner, clock.now());
  await check("after sealing");
  assert.deepEqual(
    await readAnalytics(db, owner, { days: 30, now: clock.now() }),
    countByHand(visits, { zone: "Europe/Berlin", now: clock.now(), days: 30, widgetId: null }),
  );
});

test("days past retention are empty, and data starts after them", async () => {
  const viewer = await signIn(testApp, { role: "viewer", plan: "free" });
  const widgetId = await makeWidget(db, viewer.organizationId);
  const touches = ["2026-09-15T10:00:00Z", "2026-10-30T10:00:00Z"].map((at, visit) =>
    makeTouch({ widgetId, visit, at }),
  );
  await recordTouches(db, touches);
  const { totals, dataSince, daily } = await ask(viewer, "?from=2026-09-01&to=2026-09-30");
  assert.deepEqual([totals.views, dataSince, daily.length], [0, "2026-10-30", 30]);
});

test("a single widget is counted on its own; another organization's widget is not found", async () => {
  const { viewer, widgetId } = await makeViewer();
  const other = await makeWidget(db, viewer.organizationId);
  const theirs = (await makeViewer()).widgetId;
  const touches = [widgetId, other, other].map((each, visit) =>
    makeTouch({ widgetId: each, visit, at: "2026-10-31T10:00:00Z" }),
  );
  await recordTouches(db, touches);
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
  const longest = await ask(viewer, "?from=2024-11-02&to=2026-11-01");
  assert.deepEqual([longest.days, longest.daily.length], [730, 730]);
  const open = await ask(viewer, "?to=2026-10-10");
  assert.deepEqual([open.from, open.to], ["2026-09-11", "2026-10-10"]);
});

describe("tables can be exported as CSV", () => {
  test("with the rows shown on screen", async () => {
    const { viewer, widgetId } = await makeViewer();
    const evil = { ...SEARCH_AD, campaign: '=1+1,"x"' };
    await recordTouches(db, [makeTouch({ widgetId, visit: 1, at: "2026-11-01T10:00:00Z", class: evil })]);
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
    assert.equal(
      (await csv("days=2&table=campaigns")).body,
      `\uFEFFcampaign,views,bookings,conversionRate\r\n"'=1+1,""x""",1,0,0\r\n`,
    );
    assert.equal(
      (await csv("table=sources")).body,
      "\uFEFFsource / medium,views,bookings,conversionRate\r\ngoogle / cpc,1,0,0\r\n",
    );
    assert.equal((await csv("table=channels")).body.split("\r\n")[1], "Paid Search,1,0,0");
    assert.equal((await csv("table=funnel")).body.split("\r\n")[1], "widget_viewed,1");
    assert.equal((await csv("table=secrets")).statusCode, 400);
  });
});

test("events over the budget are shown for the days and the widget they were dropped on", async () => {
  const { viewer, widgetId } = await makeViewer();
  const other = await makeWidget(db, viewer.organizationId);
  const drop = (widget: WidgetId, visit: number, at: string) =>
    addDrops(db, [makeTouch({ widgetId: widget, visit, at })], new Date(at));
  await drop(widgetId, 1, "2026-10-31T23:59:00Z");
  await drop(widgetId, 2, "2026-11-01T00:00:00Z");
  await drop(other, 3, "2026-11-01T00:30:00Z");
  const read = async (query: string) => (await ask(viewer, query)).droppedEvents;
  assert.deepEqual([await read("?days=1"), await read("?days=2"), await read(`?days=2&widget=${widgetId}`)], [2, 3, 2]);
});
