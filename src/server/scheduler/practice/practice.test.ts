import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { AppConnectionList, ConnectionCheckAnswer, SavedConnection } from "#contract/app/connections.ts";
import type { AppDeliveryPage } from "#contract/app/deliveries.ts";
import type { Overview } from "#contract/app/overview.ts";
import type { AppWidgetList } from "#contract/app/widgets.ts";
import type { ConfigAnswer } from "#contract/book.ts";
import { HOUR_MS } from "#contract/durations.ts";
import { type ConnectionId, parseConnectionId, type WidgetId } from "#contract/ids.ts";
import { createTestApp, type TestApp } from "../../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { type SignedIn, signIn } from "../../../../test/support/app/sign-in.ts";
import { makeBooking, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { visitId } from "../../../../test/support/funnel/touches.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { readReport } from "../../reports/read-report.ts";
import { openConnection } from "../open-system.ts";
import type { SchedulerDeps } from "../scheduler-deps.ts";
import { withPractice } from "./practice-outbound.ts";

const local = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
after(() => local.deps.scheduler.outbound.close());

async function connect({ app }: TestApp, admin: SignedIn, address: string) {
  const settings = { apiUrl: address, webUrl: address };
  const body = { kind: "calcom", name: "Practice", settings, credentials: { apiKey: "practice" } };
  return await askApp(app, admin, "POST /connections", body);
}

type Live = { admin: SignedIn; widgetId: WidgetId; address: string; connectionId: ConnectionId };

async function goLive(): Promise<Live> {
  const admin = await signIn(local, { role: "admin" });
  const widgetId = await makeWidget(local.deps.db, admin.organizationId);
  const { practiceUrl } = (await askApp(local.app, admin, "GET /connections")).body as AppConnectionList;
  const address = `${practiceUrl}/${widgetId}`;
  const saved = (await connect(local, admin, address)).body as SavedConnection;
  const connectionId = parseConnectionId(saved.connection.id) ?? assert.fail();
  const live = await askApp(local.app, admin, `POST /widgets/${widgetId}/go-live`, { connectionId });
  assert.equal(live.status, 200, JSON.stringify(live.body));
  return { admin, widgetId, address, connectionId };
}

async function book(
  widgetId: string,
  place = 0,
  change: object = {},
): Promise<{ reference: string; manageUrl: string }> {
  const { services } = (await local.app.inject(`/embed-api/${widgetId}/config`)).json() as ConfigAnswer;
  const [service] = services;
  const range = "from=2026-11-01&to=2026-11-15";
  const { slots } = (await local.app.inject(`/embed-api/${widgetId}/slots?service=${service?.id}&${range}`)).json();
  const made = await local.app.inject({
    method: "POST",
    url: `/embed-api/${widgetId}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": `${widgetId} ${place}` },
    payload: JSON.stringify({
      visitId: visitId(7 + place),
      serviceId: service?.id,
      start: slots[place].start,
      timeZone: "UTC",
      customer: { name: "Mara Quell", email: "mara@example.com" },
      ...change,
    }),
  });
  assert.equal(made.statusCode, 201, made.body);
  return made.json();
}

const open = (url: string, reader?: SignedIn) =>
  local.app.inject({ url: new URL(url).pathname, headers: reader?.headers ?? {} });

describe("the practice Cal.com", () => {
  test("on one's own computer, a widget goes live on it, and the appointment is in its calendar", async () => {
    const { admin, widgetId, address, connectionId } = await goLive();
    const { data } = (await askApp(local.app, admin, "GET /connections")).body as AppConnectionList;
    assert.deepEqual(
      data.map(({ isPractice }) => isPractice),
      [true],
    );
    const { reference, manageUrl } = await book(widgetId);
    assert.equal(manageUrl, `${address}/booking/${reference}`);
    assert.match((await open(address, admin)).body, new RegExp(`${reference}[\\s\\S]*Consultation \\(sample\\)`));

    const check = await askApp(local.app, admin, `POST /connections/${connectionId}/check`, { book: true });
    const { isWorking, exchanges } = check.body as ConnectionCheckAnswer;
    assert.ok(isWorking && exchanges.length > 0, JSON.stringify(check.body));
  });

  test("its calendar is shown to members of the organization only; others see at most the appointment they have the link of", async () => {
    const { admin, widgetId, address } = await goLive();
    const { reference, manageUrl } = await book(widgetId);
    const stranger = await signIn(local, { role: "owner" });
    for (const reader of [undefined, stranger]) {
      const page = await open(address, reader);
      assert.deepEqual([page.statusCode, page.body.includes(reference)], [404, false]);
      const booking = await open(manageUrl, reader);
      assert.deepEqual([booking.statusCode, booking.body.includes("View calendar")], [200, false]);
    }
    assert.match((await open(manageUrl, admin)).body, /View calendar/);
    const viewer = await signIn(local, { role: "viewer", organizationId: admin.organizationId });
    assert.match((await open(address, viewer)).body, new RegExp(reference));
  });

  test("an appointment is cancelled on its page, and only by a form of that page", async () => {
    const { widgetId } = await goLive();
    const { reference, manageUrl } = await book(widgetId);
    const cancel = (origin: string) =>
      local.app.inject({
        method: "POST",
        url: new URL(manageUrl).pathname,
        headers: { "content-type": "application/x-www-form-urlencoded", host: "localhost:3000", origin },
        payload: "",
      });
    assert.equal((await cancel("https://elsewhere.example")).statusCode, 403);
    assert.ok(!(await open(manageUrl)).body.includes("This appointment has been cancelled"));
    assert.equal((await cancel("http://localhost:3000")).statusCode, 303);
    assert.match((await open(manageUrl)).body, /This appointment has been cancelled/);
    assert.equal((await open(manageUrl.replace(reference, "SVC-222222"))).statusCode, 404);
  });

  test("clearing a widget's test data also deletes what was practised with it, in whichever calendar", async () => {
    const { admin, widgetId, connectionId } = await goLive();
    const other = await makeWidget(local.deps.db, admin.organizationId);
    await askApp(local.app, admin, `POST /widgets/${other}/go-live`, { connectionId });
    const bookings = [await book(widgetId), await book(other)];
    const clear = async (id: WidgetId) => {
      local.clock.set(new Date(NOON.getTime() + HOUR_MS));
      const { body } = await askApp(local.app, admin, `POST /widgets/${id}/clear-test-data`, {});
      local.clock.set(NOON);
      const pages = await Promise.all(bookings.map(({ manageUrl }) => open(manageUrl)));
      return [body, ...pages.map(({ statusCode }) => statusCode)];
    };
    assert.deepEqual(await clear(widgetId), [{ bookings: 1, visits: 1, deliveries: 0 }, 404, 200]);
    assert.deepEqual(await clear(other), [{ bookings: 1, visits: 1, deliveries: 0 }, 404, 404]);
  });

  test("whatever marks or leaves out a test booking does the same here", async () => {
    const { admin, widgetId } = await goLive();
    const { db } = local.deps;
    const owner = { id: admin.organizationId, plan: "business" } as const;
    for (const kind of ["teams", "slack"])
      await askApp(local.app, admin, "POST /endpoints", { kind, url: `https://127.0.0.1:9/${kind}` });
    const { widget } = (await local.app.inject(`/embed-api/${widgetId}/config`)).json() as ConfigAnswer;
    assert.deepEqual([widget.isTest, widget.isPractice], [true, true]);
    const { reference } = await book(widgetId, 0, { isTest: true, attribution: { gclid: "Cj0" } });

    const cards = await db.selectFrom("deliveries").select("card").where("organization_id", "=", owner.id).execute();
    assert.equal(cards.length, 2);
    for (const { card } of cards)
      assert.match(String(card), /Test booking: Mara Quell[\s\S]*Test: no real appointment was made/);
    const { data: log } = (await askApp(local.app, admin, "GET /deliveries")).body as AppDeliveryPage;
    assert.deepEqual(
      log.map(({ mode }) => mode),
      ["practice", "practice"],
    );
    const csv = String((await askApp(local.app, admin, "GET /bookings.csv")).body);
    assert.match(csv, new RegExp(`${reference}.*,yes\\r\\n$`));
    const ads = String((await askApp(local.app, admin, "GET /ad-conversions.csv?platform=google")).body);
    assert.ok(ads.startsWith("Google Click ID") && !ads.includes("Cj0"), ads);
    const today = Temporal.Instant.fromEpochMilliseconds(NOON.getTime()).toZonedDateTimeISO("UTC").toPlainDate();
    const monday = today.subtract({ days: today.dayOfWeek - 1 }).toString();
    local.clock.set(new Date(NOON.getTime() + HOUR_MS));
    assert.equal(await readReport(local.deps, owner, { period: "weekly", start: monday }), null);
    local.clock.set(NOON);
  });

  test("a frame that didn't say practice can't book", async () => {
    const { widgetId } = await goLive();
    await assert.rejects(book(widgetId, 0, { isTest: false }), /widget_changed/);
  });

  test("the widget and its bookings are marked for everyone, and no step of the checklist is done by practising", async () => {
    const { admin, widgetId } = await goLive();
    await book(widgetId);
    const viewer = await signIn(local, { role: "viewer", organizationId: admin.organizationId });
    assert.deepEqual((await readAudit(local.deps.db, admin.organizationId)).at(-1), {
      action: "widget.went_live",
      target: widgetId,
      detail: { name: "Website", mode: "practice" },
    });
    const read = async () => {
      const { data } = (await askApp(local.app, viewer, "GET /widgets")).body as AppWidgetList;
      const { upcoming, checklist } = (await askApp(local.app, viewer, "GET /overview")).body as Overview;
      const { hasConnection, isLive, hasLiveBooking } = checklist;
      return [data[0]?.mode, upcoming[0]?.mode, hasConnection, isLive, hasLiveBooking];
    };
    assert.deepEqual(await read(), ["practice", "practice", false, false, false]);
    local.clock.set(new Date(NOON.getTime() + HOUR_MS));
    await askApp(local.app, admin, `POST /widgets/${widgetId}/test-mode`);
    assert.deepEqual(await read(), ["test", "practice", false, false, false]);
    local.clock.set(NOON);
  });

  test("an imported booking does not tick the first live booking while the widget only practises", async () => {
    const { admin, widgetId } = await goLive();
    await makeBooking(local.deps.db, admin.organizationId, { widgetId, is_test: false });
    const { checklist } = (await askApp(local.app, admin, "GET /overview")).body as Overview;
    assert.deepEqual([checklist.isLive, checklist.hasLiveBooking], [false, false]);
  });

  test("a practice connection can't be changed into a real one", async () => {
    const { admin, connectionId } = await goLive();
    const change = { settings: {}, credentials: { apiKey: "cal_live_1" } };
    const { status, body } = await askApp(local.app, admin, `PATCH /connections/${connectionId}`, change);
    assert.equal(status, 422);
    assert.deepEqual(Object.keys((body as { error: { fields: object } }).error.fields), ["apiUrl"]);
  });

  test("another organization's calendar can't be connected", async () => {
    const { address } = await goLive();
    const stranger = await signIn(local, { role: "admin" });
    const { status, body } = await connect(local, stranger, address);
    assert.equal(status, 422, JSON.stringify(body));
  });

  test("a request that was given up gets no answer", async () => {
    const { admin, address } = await goLive();
    const { outbound } = withPractice(local.deps, admin.organizationId).scheduler;
    const request = { method: "GET", url: `${address}/v2/me`, headers: {}, body: null } as const;
    assert.equal((await outbound.send(request, new AbortController().signal)).kind, "reply");
    const reply = await outbound.send(request, AbortSignal.abort());
    assert.deepEqual(reply, { kind: "failure", code: "aborted", wasSent: false });
  });

  for (const settings of [
    { baseUrl: "https://book.example.com" },
    { host: "0.0.0.0" },
    { baseUrl: "http://localhost:3000/bookflow" },
  ])
    test(`with ${JSON.stringify(settings)}, it is neither offered nor reachable`, async () => {
      const reachable = await createTestApp(settings);
      after(() => reachable.deps.scheduler.outbound.close());
      const admin = await signIn(reachable, { role: "admin" });
      const widgetId = await makeWidget(reachable.deps.db, admin.organizationId);
      const { practiceUrl } = (await askApp(reachable.app, admin, "GET /connections")).body as AppConnectionList;
      assert.equal(practiceUrl, null);
      const { status, body } = await connect(reachable, admin, `http://localhost:3000/practice-calcom/${widgetId}`);
      assert.equal(status, 503);
      assert.match(JSON.stringify(body), /The practice Cal\.com works only while/);
      assert.equal((await reachable.app.inject(`/practice-calcom/${widgetId}`)).statusCode, 404);
    });

  test("its connections stop working, and say so, once others can reach Bookflow", async () => {
    const { admin, connectionId } = await goLive();
    const scheduler: SchedulerDeps = { ...local.deps.scheduler, practiceUrl: null, opened: new RecentMap(1) };
    const system = await openConnection({ ...local.deps, scheduler }, admin.organizationId, connectionId);
    assert.equal((await system?.verify())?.kind, "unavailable");
    const { data } = (await askApp(local.app, admin, "GET /connections")).body as AppConnectionList;
    assert.deepEqual(
      data.map(({ isHealthy, lastError }) => [isHealthy, lastError]),
      [[false, "practice_off"]],
    );
  });

  test("it is only for this computer, whatever name, proxy or tunnel leads here", async () => {
    const { admin, widgetId, address } = await goLive();
    const ask = async (headers: Record<string, string>) => {
      const connections = await local.app.inject({
        url: "/api/app/connections",
        headers: { ...admin.headers, ...headers },
      });
      const config = await local.app.inject({ url: `/embed-api/${widgetId}/config`, headers });
      const url = new URL(address).pathname;
      const page = await local.app.inject({ url, headers: { ...admin.headers, ...headers } });
      const { practiceUrl } = connections.json() as AppConnectionList;
      return [practiceUrl !== null, config.statusCode, page.statusCode];
    };
    for (const host of ["localhost:3000", "127.0.0.1", "[::1]:3000"])
      assert.deepEqual(await ask({ host }), [true, 200, 200], host);
    for (const headers of [
      { host: "book.example.com" },
      { "x-forwarded-for": "203.0.113.7" },
      { "x-forwarded-proto": "https" },
      { forwarded: "for=203.0.113.7" },
      { via: "1.1 tunnel" },
    ])
      assert.deepEqual(await ask(headers), [false, 503, 404], JSON.stringify(headers));
    const made = local.app.inject({
      method: "POST",
      url: `/embed-api/${widgetId}/bookings`,
      headers: { "content-type": "application/json", "idempotency-key": "proxy", origin: "https://book.example.com" },
      payload: JSON.stringify({
        visitId: visitId(7),
        serviceId: "101",
        start: "2026-11-05T09:00:00Z",
        timeZone: "UTC",
        customer: { name: "Mara Quell", email: "mara@example.com" },
      }),
    });
    assert.equal((await made).statusCode, 503, "a proxy that replaces the host and adds no header");
  });

  test("no other address of this machine can be reached", async () => {
    const admin = await signIn(local, { role: "admin" });
    const widgetId = await makeWidget(local.deps.db, admin.organizationId);
    for (const address of [
      "http://localhost:3000/api",
      `http://127.0.0.1:9/practice-calcom`,
      `http://10.0.0.1/practice-calcom/${widgetId}`,
      "http://localhost:3000/practice-calcom/w_123456789012",
    ])
      assert.ok((await connect(local, admin, address)).status >= 400, address);
  });
});
