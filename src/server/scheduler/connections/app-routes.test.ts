import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { AppConnection, ConnectionCheckResponse, SavedConnection } from "#contract/app/connections.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeWidget, NOON } from "../../../../test/support/builders.ts";
import { DIRECT_HIT } from "../../../../test/support/funnel/hits.ts";
import { type CalcomServer, startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { insertPending } from "../../bookings/flow/pending-queries.ts";
import { takeReference } from "../../bookings/flow/reference.ts";
import { settleFailed } from "../../bookings/flow/settle-booking.ts";

const testApp = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
const { app, deps } = testApp;
after(() => deps.scheduler.outbound.close());

async function serveCalcom(): Promise<CalcomServer> {
  const server = await startCalcomServer();
  after(() => server.stop());
  return server;
}

const connect = async (admin: Parameters<typeof askApp>[1], server: CalcomServer) =>
  await askApp(app, admin, "POST /connections", { kind: "calcom", name: "Practice", ...server.parts });
const list = async (member: Parameters<typeof askApp>[1]) =>
  ((await askApp(app, member, "GET /connections")).body as { data: AppConnection[] }).data;

test("a system is queried before it is connected, and its credentials are never shown", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const server = await serveCalcom();
  const { status, body } = await connect(admin, server);
  const { connection, verified } = body as SavedConnection;
  assert.equal(status, 201);
  assert.equal(verified?.businessName, "Lindenhof Dental");
  assert.deepEqual(connection, {
    id: connection.id,
    kind: "calcom",
    name: "Practice",
    settings: server.parts.settings,
    isHealthy: true,
    lastOkAt: NOON.toISOString(),
    lastError: null,
    lastErrorAt: null,
    lastErrorStatus: null,
    lastErrorRequestId: null,
    followsChanges: true,
    getsNotices: false,
    widgetCount: 0,
    createdAt: NOON.toISOString(),
    updatedAt: NOON.toISOString(),
  });
  const listed = await list(admin);
  assert.deepEqual(listed, [connection]);
  assert.ok(!JSON.stringify([body, listed]).includes(server.parts.credentials.apiKey));
  assert.deepEqual(await readAudit(deps.db, admin.organizationId), [
    { action: "connection.added", target: connection.id, detail: { name: "Practice" } },
  ]);
});

test("a connection that does not work is not saved, and the form says why", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const server = await serveCalcom();
  const wanted = { kind: "calcom", name: "Practice", ...server.parts };
  for (const [change, fields] of [
    [{ credentials: { apiKey: "cal_wrong" } }, ["credentials"]],
    [{ credentials: {} }, ["apiKey"]],
    [{ settings: { apiUrl: "nowhere" } }, ["apiUrl"]],
    [{ name: " " }, ["name"]],
    [{ kind: "fax" }, ["kind"]],
    [{ settings: "x" }, ["settings"]],
  ] as const) {
    const response = await askApp(app, admin, "POST /connections", { ...wanted, ...change });
    const { error } = response.body as { error: { fields: object } };
    assert.deepEqual([response.status, Object.keys(error.fields)], [422, fields], JSON.stringify(change));
  }
  server.injectFault("GET /me", ...Array(3).fill({ reply: { status: 503, json: {} } }));
  assert.equal((await connect(admin, server)).status, 503);
  assert.deepEqual(await list(admin), []);
});

test("a connection is renamed, given new credentials, tested, and removed once no widget uses it", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const owner = admin.organizationId;
  const server = await serveCalcom();
  const { id } = ((await connect(admin, server)).body as SavedConnection).connection;
  const change = async (body: object) => await askApp(app, admin, `PATCH /connections/${id}`, body);
  assert.equal(((await change({ name: "Annex" })).body as SavedConnection).connection.name, "Annex");
  assert.equal((await change({ settings: { apiUrl: "https://elsewhere.example" } })).status, 422, "settings alone");
  assert.equal((await change({ credentials: { apiKey: "cal_wrong" }, settings: server.parts.settings })).status, 422);
  const replaced = (await change(server.parts)).body as SavedConnection;
  assert.equal(replaced.verified?.businessName, "Lindenhof Dental");

  const widgetId = await makeWidget(deps.db, owner);
  assert.equal((await askApp(app, admin, `POST /widgets/${widgetId}/go-live`, { connectionId: id })).status, 200);

  const test = async () =>
    (await askApp(app, admin, `POST /connections/${id}/check`, { book: false })).body as ConnectionCheckResponse;
  const works = await test();
  assert.deepEqual([works.isWorking, works.steps.at(-1)?.name], [true, "free_times"]);
  server.injectFault("GET /me", { reply: { status: 401, json: {} } });
  const fails = await test();
  assert.equal(fails.isWorking, false);
  assert.match(fails.verdict, /doesn't accept this API key\./);

  assert.equal((await list(admin))[0]?.widgetCount, 1);
  assert.equal((await askApp(app, admin, `DELETE /connections/${id}`)).status, 409);
  assert.equal((await askApp(app, admin, `POST /widgets/${widgetId}/test-mode`)).status, 200);
  assert.deepEqual(await askApp(app, admin, `DELETE /connections/${id}`), { status: 204, body: null });
  assert.equal((await askApp(app, admin, `DELETE /connections/${id}`)).status, 404);
  const actions = ((await readAudit(deps.db, owner)) as { action: string }[]).map(({ action }) => action);
  assert.deepEqual(actions.filter((action) => action.startsWith("connection.")).sort(), [
    "connection.added",
    "connection.changed",
    "connection.changed",
    "connection.removed",
  ]);
});

test("while a booking's outcome is unknown, a connection gets new credentials but no other account", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const [server, elsewhere] = [await serveCalcom(), await serveCalcom()];
  const { id } = ((await connect(admin, server)).body as SavedConnection).connection;
  const unsettled = await leaveUnsettled(admin.organizationId, id as ConnectionId);
  const change = async (body: object) => await askApp(app, admin, `PATCH /connections/${id}`, body);

  const refused = await change({ name: "Annex", ...elsewhere.parts });
  const message = "A booking through this connection isn't confirmed yet. Try again in half an hour.";
  assert.deepEqual(refused, { status: 409, body: { error: { code: "conflict", message } } });
  assert.deepEqual((await list(admin))[0]?.settings, server.parts.settings);
  assert.equal((await change(server.parts)).status, 200);
  const settings = { ...server.parts.settings, webUrl: "https://cal.lindenhof.example" };
  assert.equal((await change({ ...server.parts, settings })).status, 200, "the same account");

  await settleFailed(deps, { ...unsettled, failure: "lost" });
  assert.equal((await change(elsewhere.parts)).status, 200);
  const actions = (await readAudit(deps.db, admin.organizationId)).length;
  assert.equal(actions, 4, "the refused change is not logged");
});

async function leaveUnsettled(owner: OrganizationId, connectionId: ConnectionId) {
  const reference = await takeReference(deps.db, owner, deps.random);
  const widgetId = await makeWidget(deps.db, owner);
  await insertPending(deps.db, owner, {
    reference,
    widget_id: widgetId,
    asked_in: connectionId,
    keyHash: Buffer.from(reference),
    visitHash: Buffer.from(reference),
    service_id: "10",
    start_at: NOON,
    askingUntil: NOON,
    hit: DIRECT_HIT,
    copy: null,
    now: NOON,
  });
  return { owner, reference, widgetId, hit: DIRECT_HIT };
}

test("a check shows its steps and requests, books only when asked to, and shows no secret", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const server = await serveCalcom();
  const { id } = ((await connect(admin, server)).body as SavedConnection).connection;
  const check = async (body: object) => await askApp(app, admin, `POST /connections/${id}/check`, body);
  const looked = (await check({ book: false })).body as ConnectionCheckResponse;
  assert.deepEqual([looked.isWorking, looked.steps.length, server.bookings.length], [true, 3, 0]);
  const booked = (await check({ book: true })).body as ConnectionCheckResponse;
  assert.equal(booked.verdict, "This connection works: a test appointment was booked, found and cancelled.");
  assert.deepEqual(
    server.bookings.map(({ status }) => status),
    ["cancelled"],
  );
  assert.ok(booked.exchanges.some(({ method, status }) => method === "POST" && status === 201));
  assert.ok(!JSON.stringify(booked).includes(server.parts.credentials.apiKey));
  assert.equal((await check({})).status, 422);
});

test("a test booking is made for the address that is named, and a wrong address books nothing", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const server = await serveCalcom();
  const { id } = ((await connect(admin, server)).body as SavedConnection).connection;
  const check = async (body: object) => await askApp(app, admin, `POST /connections/${id}/check`, body);
  const wrong = await check({ book: true, email: "nonsense" });
  assert.deepEqual([wrong.status, server.bookings.length], [422, 0]);
  assert.deepEqual(Object.keys((wrong.body as { error: { fields: object } }).error.fields), ["email"]);
  const booked = (await check({ book: true, email: " Ada@Example.com " })).body as ConnectionCheckResponse;
  assert.deepEqual([booked.isWorking, booked.email], [true, "ada@example.com"]);
  assert.deepEqual(
    server.bookings.map(({ attendees }) => attendees[0]?.email),
    ["ada@example.com"],
  );
});

test("test bookings are limited by organization, checks without one are not", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const server = await serveCalcom();
  const { id } = ((await connect(admin, server)).body as SavedConnection).connection;
  const check = async (body: object) => await askApp(app, admin, `POST /connections/${id}/check`, body);
  for (const _ of [1, 2, 3]) assert.equal((await check({ book: true })).status, 200);
  const { status, body } = await check({ book: true });
  const { error } = body as { error: { code: string } };
  assert.deepEqual([status, error.code, server.bookings.length], [429, "rate_limited", 3]);
  assert.equal((await check({ book: false })).status, 200);
  const other = await signIn(testApp, { role: "admin" });
  const { id: theirs } = ((await connect(other, await serveCalcom())).body as SavedConnection).connection;
  assert.equal((await askApp(app, other, `POST /connections/${theirs}/check`, { book: true })).status, 200);
});

test("another organization's connection is not found, and cannot be assigned to a widget", async () => {
  const mine = await signIn(testApp, { role: "owner" });
  const theirs = await signIn(testApp, { role: "owner" });
  const server = await serveCalcom();
  const { id } = ((await connect(theirs, server)).body as SavedConnection).connection;
  assert.equal((await askApp(app, mine, `DELETE /connections/${id}`)).status, 404);
  assert.equal((await askApp(app, mine, `POST /connections/${id}/check`, { book: false })).status, 404);
  assert.equal((await askApp(app, mine, `PATCH /connections/${id}`, { name: "Mine" })).status, 404);
  const widgetId = await makeWidget(deps.db, mine.organizationId);
  assert.equal((await askApp(app, mine, `POST /widgets/${widgetId}/go-live`, { connectionId: id })).status, 422);
  assert.deepEqual(await list(mine), []);
});
