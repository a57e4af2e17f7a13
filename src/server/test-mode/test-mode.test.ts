import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { sql } from "kysely";
import type { BookingSummaryPage } from "#contract/app/bookings.ts";
import type { SavedConnection } from "#contract/app/connections.ts";
import type { AppDeliveryPage } from "#contract/app/deliveries.ts";
import type { AppWidget } from "#contract/app/widgets.ts";
import { DAY_MS, HOUR_MS } from "#contract/durations.ts";
import type { WidgetId } from "#contract/ids.ts";
import type { ConfigResponse } from "#contract/widgets/embed-api.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../test/support/app/app-api.ts";
import { type SignedIn, signIn } from "../../../test/support/app/sign-in.ts";
import { makeBooking, makeKey, makeWidget, NOON } from "../../../test/support/builders.ts";
import { untilSomeoneWaits } from "../../../test/support/database/count-blocked.ts";
import { assertCounted } from "../../../test/support/funnel/analytics.ts";
import { makeHit, visitId } from "../../../test/support/funnel/hits.ts";
import { assertPacksValid } from "../../../test/support/funnel/packs.ts";
import { sampleHits } from "../../../test/support/funnel/random-hits.ts";
import { type CalcomServer, startCalcomServer } from "../../../test/support/scheduler/calcom/calcom-server.ts";
import { lockProgress } from "../analytics/packs/pack-queries.ts";
import { packVisits, rebuildPacks } from "../analytics/packs/pack-visits.ts";
import { recordHits } from "../analytics/record/record.ts";

const testApp = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
const { app, deps, clock } = testApp;
after(() => deps.scheduler.outbound.close());

async function connect(admin: SignedIn): Promise<{ id: string; server: CalcomServer }> {
  const server = await startCalcomServer();
  after(() => server.stop());
  const body = { kind: "calcom", name: "Practice", ...server.parts };
  const saved = (await askApp(app, admin, "POST /connections", body)).body as SavedConnection;
  return { id: saved.connection.id, server };
}

async function readConfig(widgetId: string): Promise<ConfigResponse> {
  return (await app.inject(`/embed-api/${widgetId}/config`)).json();
}

async function book(widgetId: string, change: object = {}, key?: string) {
  const { services } = await readConfig(widgetId);
  const [service] = services;
  const range = "from=2026-11-01&to=2026-11-15";
  const { slots } = (await app.inject(`/embed-api/${widgetId}/slots?service=${service?.id}&${range}`)).json();
  const customer = { name: "Mara Quell", email: "mara@example.com" };
  const payload = {
    visitId: visitId(7),
    serviceId: service?.id,
    start: slots[0].start,
    timeZone: "UTC",
    customer,
    ...change,
  };
  return await app.inject({
    method: "POST",
    url: `/embed-api/${widgetId}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": key ?? `${widgetId} ${slots[0].start}` },
    payload: JSON.stringify(payload),
  });
}

describe("test mode", () => {
  test("a booking in test mode is stored, returned by the read API and sent, and marked in the dashboard", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const { key } = await makeKey(deps.db, admin.organizationId);
    const widgetId = await makeWidget(deps.db, admin.organizationId);
    await askApp(app, admin, "POST /endpoints", { kind: "webhook", url: "https://127.0.0.1:9/hook" });
    assert.equal((await readConfig(widgetId)).widget.isTest, true);
    const { statusCode, body } = await book(widgetId, { isTest: true });
    assert.equal(statusCode, 201, body);

    const read = await app.inject({ url: "/api/v1/bookings", headers: { authorization: `Bearer ${key}` } });
    assert.deepEqual(
      read
        .json()
        .data.map(({ service, staff }: { service: { name: string }; staff: string[] }) => [service.name, staff]),
      [["Consultation (sample)", ["Alex Example"]]],
    );
    assert.ok(!read.body.includes("isTest"), "the contract's fields are exact");
    const { data } = (await askApp(app, admin, "GET /bookings")).body as BookingSummaryPage;
    assert.deepEqual(
      data.map(({ mode }) => mode),
      ["test"],
    );
    const { data: deliveries } = (await askApp(app, admin, "GET /deliveries")).body as AppDeliveryPage;
    assert.deepEqual(
      deliveries.map(({ mode }) => mode),
      ["test"],
    );
  });

  test("a repeated key gets its booking again even if the widget has gone live in between", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const widgetId = await makeWidget(deps.db, admin.organizationId);
    const { id: connectionId, server } = await connect(admin);
    const first = await book(widgetId, { isTest: true }, "one booking");
    assert.equal(first.statusCode, 201, first.body);
    const { start, service } = first.json();
    assert.equal((await askApp(app, admin, `POST /widgets/${widgetId}/go-live`, { connectionId })).status, 200);
    const repeated = { isTest: true, start, serviceId: service.id };
    const again = await book(widgetId, repeated, "one booking");
    assert.deepEqual([again.statusCode, again.json()], [201, first.json()]);
    const other = await book(widgetId, repeated, "another booking");
    assert.deepEqual([other.statusCode, other.json().error.code, server.bookings.length], [409, "widget_changed", 0]);
  });

  test("a widget goes live with a connection that works, and back", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const widgetId = await makeWidget(deps.db, admin.organizationId);
    const { id: connectionId } = await connect(admin);
    const live = await askApp(app, admin, `POST /widgets/${widgetId}/go-live`, { connectionId });
    assert.equal(live.status, 200, JSON.stringify(live.body));
    const { mode, connectionId: used } = live.body as AppWidget;
    assert.deepEqual({ mode, used }, { mode: "live", used: connectionId });
    assert.equal((await readConfig(widgetId)).widget.isTest, false);

    const stale = await book(widgetId, { isTest: true });
    assert.deepEqual([stale.statusCode, stale.json().error.code], [409, "widget_changed"]);
    assert.equal((await book(widgetId, { isTest: false })).statusCode, 201);
    const { data } = (await askApp(app, admin, "GET /bookings")).body as BookingSummaryPage;
    assert.deepEqual(
      data.map(({ mode }) => mode),
      ["live"],
    );

    const back = await askApp(app, admin, `POST /widgets/${widgetId}/test-mode`);
    assert.equal((back.body as AppWidget).mode, "test");
    assert.equal((await readConfig(widgetId)).widget.isTest, true);
    assert.deepEqual((await readAudit(deps.db, admin.organizationId)).slice(-2), [
      { action: "widget.went_live", target: widgetId, detail: { name: "Website" } },
      { action: "widget.back_to_test", target: widgetId, detail: { name: "Website" } },
    ]);
  });

  test("a connection that does not work leaves the widget in test mode and says what is missing", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const other = await signIn(testApp, { role: "admin" });
    const widgetId = await makeWidget(deps.db, admin.organizationId);
    const { id: connectionId, server } = await connect(admin);
    const foreign = await connect(other);
    await server.stop();
    const tries = [connectionId, foreign.id, "conn_1111111111111111", "x"];
    const responses = await Promise.all(
      tries.map((id) => askApp(app, admin, `POST /widgets/${widgetId}/go-live`, { connectionId: id })),
    );
    assert.deepEqual(
      responses.map(({ status, body }) => [status, (body as { error: { fields: object } }).error.fields]),
      [
        [422, { connectionId: "Cal.com can't be reached right now. Try again in a minute." }],
        [422, { connectionId: "Connection not found." }],
        [422, { connectionId: "Connection not found." }],
        [422, { connectionId: "This must be a connection ID." }],
      ],
    );
    assert.equal((await readConfig(widgetId)).widget.isTest, true);
  });
});

describe("clearing test data", () => {
  test("takes bookings, deliveries and visits of test mode, and nothing else", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const owner = admin.organizationId;
    const [widgetId, other] = [await makeWidget(deps.db, owner), await makeWidget(deps.db, owner)];
    await askApp(app, admin, "POST /endpoints", { kind: "webhook", url: "https://127.0.0.1:9/hook" });
    const { id: connectionId } = await connect(admin);
    clock.set(new Date(NOON.getTime() + HOUR_MS));
    await view(widgetId, 1);
    assert.equal((await book(widgetId)).statusCode, 201);
    assert.equal((await book(other)).statusCode, 201);
    clock.set(new Date(NOON.getTime() + 2 * HOUR_MS));
    await askApp(app, admin, `POST /widgets/${widgetId}/go-live`, { connectionId });
    await view(widgetId, 2);
    assert.equal((await book(widgetId, { visitId: visitId(2) })).statusCode, 201);
    clock.set(new Date(NOON.getTime() + 3 * HOUR_MS));

    const clear = (body: object) => askApp(app, admin, `POST /widgets/${widgetId}/clear-test-data`, body);
    const found = { bookings: 1, visits: 2, deliveries: 1 };
    assert.deepEqual((await clear({ dryRun: true })).body, found);
    assert.equal((await clear({ dryrun: true })).status, 422, "a misspelled dry run deletes nothing");
    assert.deepEqual((await clear({})).body, found);
    assert.deepEqual((await clear({})).body, { bookings: 0, visits: 0, deliveries: 0 });
    const { data } = (await askApp(app, admin, "GET /bookings")).body as BookingSummaryPage;
    assert.deepEqual(
      data.map(({ mode, widget }) => [widget.id, mode]),
      [
        [widgetId, "live"],
        [other, "test"],
      ],
    );
    const { data: deliveries } = (await askApp(app, admin, "GET /deliveries")).body as AppDeliveryPage;
    assert.deepEqual(deliveries.map(({ mode }) => mode).sort(), ["live", "test"]);
    const analytics = await askApp(app, admin, `GET /analytics?widget=${widgetId}&days=1`);
    const { views, bookings } = (analytics.body as { totals: { views: number; bookings: number } }).totals;
    assert.deepEqual({ views, bookings }, { views: 1, bookings: 1 });
    clock.set(NOON);
  });

  test("keeps a visit with a live booking, even if a test booking or a failed attempt follows", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const widgetId = await makeWidget(deps.db, admin.organizationId);
    const { id: connectionId } = await connect(admin);
    const at = (hours: number) => new Date(NOON.getTime() + hours * HOUR_MS);
    for (const [hours, step] of [
      [2, "booking_completed"],
      [4, "booking_completed"],
      [4, "booking_failed"],
    ] as const) {
      const hit = makeHit({ widgetId, visit: 1, at: at(hours), step, booking: `${hours}` });
      await recordHits(deps.db, [makeHit({ widgetId, visit: 1, at: at(1) }), hit]);
    }
    await recordHits(deps.db, [makeHit({ widgetId, visit: 2, at: at(4), step: "booking_completed" })]);
    clock.set(at(2));
    await askApp(app, admin, `POST /widgets/${widgetId}/go-live`, { connectionId });
    clock.set(at(3));
    await askApp(app, admin, `POST /widgets/${widgetId}/test-mode`);
    clock.set(at(5));
    const { body } = await askApp(app, admin, `POST /widgets/${widgetId}/clear-test-data`, {});
    assert.deepEqual(body, { bookings: 0, visits: 1, deliveries: 0 });
    const { rows } = await sql`select visit_id from funnel_visits where widget_id = ${widgetId}`.execute(deps.db);
    assert.deepEqual(rows, [{ visit_id: visitId(1) }]);
    clock.set(NOON);
  });

  test("leaves no day with data if there was only test data, whatever the ids of the visits", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const widgetId = await makeWidget(deps.db, admin.organizationId);
    const readSince = async () =>
      ((await askApp(app, admin, "GET /analytics?days=1")).body as { dataSince: string | null }).dataSince;
    clock.set(new Date(NOON.getTime() + HOUR_MS));
    const ids = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", visitId(1)];
    const hit = makeHit({ widgetId, visit: 1, at: clock.now() });
    for (const id of ids) await recordHits(deps.db, [{ ...hit, visitId: id }]);
    assert.equal(await readSince(), "2026-11-01");
    clock.set(new Date(NOON.getTime() + 2 * HOUR_MS));
    const { body } = await askApp(app, admin, `POST /widgets/${widgetId}/clear-test-data`, {});
    assert.deepEqual(body, { bookings: 0, visits: 3, deliveries: 0 });
    assert.equal(await readSince(), null);
    clock.set(NOON);
  });

  test("reports count the visits that are left, before and after they are packed again", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const owner = admin.organizationId;
    const createdAt = new Date(NOON.getTime() - 60 * DAY_MS);
    const widgets = [
      await makeWidget(deps.db, owner, { createdAt }),
      await makeWidget(deps.db, owner, { createdAt }),
    ] as const;
    const from = new Date(NOON.getTime() - 80 * DAY_MS);
    const hits = sampleHits({ widgets, from, to: NOON }, { visits: 200, seed: 17 });
    await recordHits(deps.db, hits, { now: NOON, includePaused: true });
    await packVisits(deps.db, owner, { now: NOON });
    const period = {
      started_at: new Date(NOON.getTime() - 30 * DAY_MS),
      ended_at: new Date(NOON.getTime() - 20 * DAY_MS),
    };
    await deps.db
      .insertInto("live_periods")
      .values({ organization_id: owner, widget_id: widgets[0], ...period })
      .execute();
    clock.set(new Date(NOON.getTime() + HOUR_MS));
    const { body } = await askApp(app, admin, `POST /widgets/${widgets[0]}/clear-test-data`, {});
    const { rows: left } = await sql<{ visit_id: string; started_at: Date; converted_at: Date | null }>`
      select visit_id, started_at, converted_at from funnel_visits where widget_id = ${widgets[0]}`.execute(deps.db);
    const isLive = (at: Date | null) => at !== null && at >= period.started_at && at < period.ended_at;
    assert.ok((body as { visits: number }).visits > 20);
    assert.ok(left.length > 10);
    assert.ok(left.every((row) => row.started_at < createdAt || isLive(row.started_at) || isLive(row.converted_at)));
    await assertPacksValid(deps.db, owner);
    const kept = new Set(left.map(({ visit_id }) => visit_id));
    const expected = {
      hits: hits.filter((hit) => hit.widgetId !== widgets[0] || kept.has(hit.visitId)),
      zone: "UTC",
      widgets,
      windows: [25, 45, 90].map((days) => ({ days, now: NOON })),
    };
    await assertCounted(deps.db, owner, { ...expected, when: "cleared" });
    await packVisits(deps.db, owner, { now: NOON });
    await assertCounted(deps.db, owner, { ...expected, when: "packed" });
    await rebuildPacks(deps.db, owner, { now: NOON });
    await assertCounted(deps.db, owner, { ...expected, when: "packed again" });
    clock.set(NOON);
  });

  test("is in the audit log with what was found as soon as anything is deleted", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const owner = admin.organizationId;
    const widgetId = await makeWidget(deps.db, owner);
    await view(widgetId, 1);
    await makeBooking(deps.db, owner, { widgetId, is_test: true });
    clock.set(new Date(NOON.getTime() + HOUR_MS));
    const found = { bookings: 1, visits: 1, deliveries: 0 };
    const { clearing } = await deps.db.transaction().execute(async (transaction) => {
      await lockProgress(transaction, owner);
      const clearing = askApp(app, admin, `POST /widgets/${widgetId}/clear-test-data`, {});
      await untilSomeoneWaits(deps.db);
      const left = deps.db.selectFrom("bookings").select("reference").where("widget_id", "=", widgetId);
      assert.deepEqual(await left.execute(), []);
      assert.deepEqual((await readAudit(deps.db, owner)).slice(-1), [
        { action: "widget.test_data_cleared", target: widgetId, detail: { name: "Website", ...found } },
      ]);
      return { clearing };
    });
    assert.deepEqual((await clearing).body, found);
    clock.set(NOON);
  });

  test("another organization's widget is not found", async () => {
    const admin = await signIn(testApp, { role: "admin" });
    const stranger = await signIn(testApp, { role: "admin" });
    const widgetId = await makeWidget(deps.db, admin.organizationId);
    const goLive = { connectionId: "conn_1111111111111111" };
    for (const [route, body] of Object.entries({ "go-live": goLive, "test-mode": {}, "clear-test-data": {} }))
      assert.equal((await askApp(app, stranger, `POST /widgets/${widgetId}/${route}`, body)).status, 404);
  });
});

async function view(widgetId: WidgetId, visit: number): Promise<void> {
  await recordHits(deps.db, [makeHit({ widgetId, visit, at: clock.now() })]);
}
