import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import type { AppDeliveryDetail } from "#contract/app/deliveries.ts";
import type { AddedEndpoint, AppEndpoint, EndpointStatistics, RotatedSecret } from "#contract/app/endpoints.ts";
import type { EndpointId } from "#contract/ids.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeWidget } from "../../../../test/support/builders.ts";
import {
  book,
  changeEndpoints,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  readDelivery,
  readEndpoint,
  startReplying,
  verify,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { sweepExpired } from "../../operations/retention.ts";
import { addUpAttempts } from "../log/statistics.ts";

// What owners choose for an endpoint: widgets, event types, headers, rate, secrets; and what the log shows of it.

const service = await createWebhookService();
const { app, deps, clock, loop } = service;

async function makeTeam() {
  const business = await makeBusiness(deps);
  const admin = await signIn(service, { role: "admin", organizationId: business.owner });
  const receiver = await startReplying(() => ({}));
  const add = async (body: object) =>
    await askApp(app, admin, "POST /endpoints", { url: receiver.url, kind: "webhook", ...body });
  const change = async (id: string, body: object) => await askApp(app, admin, `PATCH /endpoints/${id}`, body);
  return { business, admin, receiver, add, change };
}

const faultsOf = ({ body }: { body: unknown }) =>
  (body as { error?: { fields?: Record<string, string> } }).error?.fields;

test("an endpoint gets the bookings of its widgets only: one channel per location", async () => {
  const { business, add, change, receiver } = await makeTeam();
  const north = await makeWidget(deps.db, business.owner);
  const south = await makeWidget(deps.db, business.owner);
  const added = (await add({ widgetIds: [north] })).body as AddedEndpoint;
  assert.deepEqual(added.endpoint.widgetIds, [north]);
  await book(deps, { ...business, widgetId: south });
  await book(deps, { ...business, widgetId: north });
  await deliverAll(loop);
  const widgets = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()).data.widget.id);
  assert.deepEqual(widgets(), [north]);
  assert.deepEqual(((await change(added.endpoint.id, { widgetIds: null })).body as AppEndpoint).widgetIds, null);
  await book(deps, { ...business, widgetId: south });
  await deliverAll(loop);
  assert.deepEqual(widgets(), [north, south]);
  const elsewhere = await makeWidget(deps.db, (await makeBusiness(deps)).owner);
  for (const widgetIds of [[], ["w_none"], [elsewhere]])
    assert.ok(faultsOf(await add({ widgetIds }))?.["widgetIds"], JSON.stringify(widgetIds));
});

test("an endpoint gets the event types it has chosen", async () => {
  const { business, add, receiver } = await makeTeam();
  const { endpoint } = (await add({ eventTypes: ["booking.erased"] })).body as AddedEndpoint;
  assert.deepEqual(endpoint.eventTypes, ["booking.erased"]);
  await book(deps, business);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 0);
  assert.ok(faultsOf(await add({ eventTypes: [] }))?.["eventTypes"]);
  assert.ok(faultsOf(await add({ eventTypes: ["booking.moved"] }))?.["eventTypes.0"] ?? true);
  assert.ok(faultsOf(await add({ kind: "slack", eventTypes: ["booking.created", "booking.erased"] }))?.["eventTypes"]);
  const changes = ["booking.cancelled", "booking.rescheduled"];
  const chat = (await add({ kind: "slack", eventTypes: changes })).body as AddedEndpoint;
  assert.deepEqual(chat.endpoint.eventTypes, changes);
});

test("custom headers are sent, sealed in the database, and masked everywhere else", async () => {
  const { business, admin, add, change, receiver } = await makeTeam();
  const { endpoint } = (await add({ headers: { "X-Api-Key": "s3cret-one", Authorization: "Bearer s3cret-two" } }))
    .body as AddedEndpoint;
  assert.deepEqual(endpoint.headerNames, ["X-Api-Key", "Authorization"]);
  await book(deps, business);
  await deliverAll(loop);
  const [request] = receiver.requests;
  assert.ok(request);
  assert.deepEqual(
    [headerOf(request, "X-Api-Key"), headerOf(request, "Authorization")],
    ["s3cret-one", "Bearer s3cret-two"],
  );
  const row = await readEndpoint(deps, endpoint.id as never);
  assert.ok(!JSON.stringify(row).includes("s3cret") && !row.headers?.includes("s3cret"));
  const { id } = await readDelivery(deps, business.owner);
  const shown = [
    endpoint,
    (await askApp(app, admin, `GET /deliveries/${id}`)).body,
    await readAudit(deps.db, business.owner),
  ];
  assert.ok(!JSON.stringify(shown).includes("s3cret"));

  // Null keeps a value that nobody can see any more; a name that is left out is deleted.
  const changed = (await change(endpoint.id, { headers: { "X-Api-Key": null, "X-Env": "live" } })).body as AppEndpoint;
  assert.deepEqual(changed.headerNames, ["X-Api-Key", "X-Env"]);
  await book(deps, business);
  await deliverAll(loop);
  const next = receiver.requests[1];
  assert.ok(next && !/^authorization/im.test(next.head));
  assert.deepEqual([headerOf(next, "X-Api-Key"), headerOf(next, "X-Env")], ["s3cret-one", "live"]);
  for (const headers of [
    { Host: "elsewhere" },
    { "Content-Length": "1" },
    { "service-signature": "x" },
    { "Webhook-Id": "x" },
    { "Transfer-Encoding": "chunked" },
    { "Bad Name": "x" },
    { "X-Break": "a\r\nX-Smuggled: b" },
    { "X-Empty": " " },
    { "X-Twice": "a", "x-twice": "b" },
    { "X-Twice": "a", X_Twice: "b" },
    { Service_Signature: "x" },
    { "service.event": "x" },
    { Webhook_Id: "x" },
    { Content_Length: "1" },
    Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`X-${n}`, "a"])),
  ])
    assert.ok(faultsOf(await add({ headers }))?.["headers"], JSON.stringify(headers));
  assert.ok(faultsOf(await add({ kind: "teams", headers: { "X-Api-Key": "x" } }))?.["headers"]);
  assert.equal((await add({ headers: { X_Api_Key: "x", "X.Service": "y" } })).status, 201);
});

test("after a change of the URL, header values that nobody entered again are not sent to it", async () => {
  const { business, add, change, receiver } = await makeTeam();
  const elsewhere = await startReplying(() => ({}));
  const { endpoint } = (await add({ headers: { "X-Api-Key": "s3cret", "X-Env": "live" } })).body as AddedEndpoint;
  const fault = "The URL has changed. Enter the values of the custom headers again, or delete them.";
  for (const kept of [{}, { headers: { "X-Api-Key": null } }, { headers: { "X-Api-Key": "new", "X-Env": null } }]) {
    const refused = await change(endpoint.id, { url: elsewhere.url, ...kept });
    assert.deepEqual([refused.status, faultsOf(refused)], [422, { headers: fault }], JSON.stringify(kept));
  }
  await book(deps, business);
  await deliverAll(loop);
  assert.deepEqual([elsewhere.requests.length, receiver.requests.length], [0, 1]);

  assert.equal((await change(endpoint.id, { url: receiver.url, description: "same" })).status, 200, "the same URL");
  assert.equal((await change(endpoint.id, { url: elsewhere.url, headers: { "X-Api-Key": "new" } })).status, 200);
  await book(deps, business);
  await deliverAll(loop);
  const [request] = elsewhere.requests;
  assert.ok(request && !request.head.includes("s3cret"));
  assert.equal(headerOf(request, "X-Api-Key"), "new");
  assert.equal((await change(endpoint.id, { url: receiver.url, headers: {} })).status, 200, "or without headers");
});

test("a rate limit spreads deliveries over the minute, over all workers", async () => {
  const { business, add, receiver } = await makeTeam();
  const { endpoint } = (await add({ requestsPerMinute: 120 })).body as AddedEndpoint;
  assert.equal(endpoint.requestsPerMinute, 120);
  await changeEndpoints(deps, [endpoint.id as EndpointId], { is_answering: true });
  for (let count = 0; count < 7; count++) await book(deps, business);
  const counts: number[] = [];
  for (let second = 0; second < 4; second++) {
    await deliverAll(loop);
    counts.push(receiver.requests.length);
    moveClock(service, 1);
  }
  assert.deepEqual(counts, [2, 4, 6, 7]);
  for (const requestsPerMinute of [0, 6_001, -1])
    assert.ok(faultsOf(await add({ requestsPerMinute }))?.["requestsPerMinute"], String(requestsPerMinute));
  const slow = await makeTeam();
  await slow.add({ requestsPerMinute: 2 });
  for (let count = 0; count < 2; count++) await book(deps, slow.business);
  await deliverAll(loop);
  moveClock(service, 29);
  await deliverAll(loop);
  assert.equal(slow.receiver.requests.length, 1);
  moveClock(service, 1);
  await deliverAll(loop);
  assert.equal(slow.receiver.requests.length, 2);
});

test("adding the same URL again is told, also for chats, whose URLs are sealed", async () => {
  const { add, receiver } = await makeTeam();
  for (const kind of ["webhook", "slack"]) {
    const url = `${receiver.url}/${kind}`;
    const first = (await add({ kind, url })).body as AddedEndpoint;
    const second = (await add({ kind, url })).body as AddedEndpoint;
    assert.deepEqual([first.sameUrlAs, second.sameUrlAs], [null, first.endpoint.id]);
  }
});

test("chats have no signing secret, and nothing to rotate", async () => {
  const { admin, add } = await makeTeam();
  for (const kind of ["slack", "teams"]) {
    const { endpoint, secret } = (await add({ kind })).body as AddedEndpoint;
    assert.deepEqual([secret, endpoint.secretHint, endpoint.secretCreatedAt], [null, null, null]);
    assert.equal((await readEndpoint(deps, endpoint.id as never)).secret.length, 0);
    assert.equal((await askApp(app, admin, `POST /endpoints/${endpoint.id}/rotate-secret`, {})).status, 409);
  }
});

test("a secret is rotated with a chosen overlap, or at once when it was leaked", async () => {
  const { business, admin, add, receiver } = await makeTeam();
  const { endpoint, secret: first } = (await add({})).body as AddedEndpoint;
  const rotate = async (overlapHours?: number) =>
    await askApp(
      app,
      admin,
      `POST /endpoints/${endpoint.id}/rotate-secret`,
      overlapHours === undefined ? {} : { overlapHours },
    );
  const countSignatures = async () => {
    await book(deps, business);
    await deliverAll(loop);
    const request = receiver.requests.at(-1);
    assert.ok(request);
    return { request, ...verify(request, secret, clock.now()) };
  };
  let secret = first ?? "";
  for (const hours of [1, 24, 168, undefined]) {
    const { secret: next, previousSecretExpiresAt } = (await rotate(hours)).body as RotatedSecret;
    assert.equal(previousSecretExpiresAt, new Date(clock.now().getTime() + (hours ?? 24) * 3_600_000).toISOString());
    secret = next;
    const { request, signatures } = await countSignatures();
    assert.equal(signatures, 2);
    assert.equal(headerOf(request, "webhook-signature").split(" ").length, 2);
    moveClock(service, (hours ?? 24) * 3_600);
    assert.equal((await countSignatures()).signatures, 1);
  }
  const leaked = secret;
  await rotate(168);
  const { secret: safe, previousSecretExpiresAt } = (await rotate(0)).body as RotatedSecret;
  assert.equal(previousSecretExpiresAt, null);
  secret = safe;
  const { request, signatures } = await countSignatures();
  assert.equal(signatures, 1, "none of the earlier ones signs any more");
  assert.throws(() => verify(request, leaked, clock.now()));
  assert.equal((await readEndpoint(deps, endpoint.id as never)).previous_secret, null);
  assert.ok(faultsOf(await rotate(2))?.["overlapHours"]);
  const misspelled = await askApp(app, admin, `POST /endpoints/${endpoint.id}/rotate-secret`, { overlap: 0 });
  assert.ok(faultsOf(misspelled)?.["overlap"], "a leaked secret doesn't stay valid because of a misspelled field");
  const entries = (await readAudit(deps.db, business.owner)) as { action: string; detail: Record<string, string> }[];
  const details = entries.filter(({ action }) => action === "endpoint.secret_rotated");
  assert.deepEqual(
    details.map(({ detail }) => detail["overlap"]),
    ["1 h", "24 h", "168 h", "24 h", "168 h", "none"],
  );
});

test("the library of Standard Webhooks verifies a real delivery", async () => {
  const { business, receiver, add } = await makeTeam();
  const { secret } = (await add({})).body as AddedEndpoint;
  clock.set(new Date());
  await book(deps, business, { customer_name: "Zoë Quell 🦷" });
  await deliverAll(loop);
  const [request] = receiver.requests;
  assert.ok(request && secret);
  const headers = Object.fromEntries(
    ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [name, headerOf(request, name)]),
  );
  const event = new Webhook(secret).verify(request.body.toString(), headers) as { id: string };
  assert.equal(event.id, headers["webhook-id"]);
});

test("the log shows each attempt with its request, its timings and the response's headers, but not to viewers", async () => {
  const business = await makeBusiness(deps);
  const [member, viewer] = await Promise.all(
    (["member", "viewer"] as const).map((role) => signIn(service, { role, organizationId: business.owner })),
  );
  assert.ok(member && viewer);
  const receiver = await startReplying(() => ({ headers: { "X-Request-Id": "r-1", "Set-Cookie": "a=secret" } }));
  const settings = { headers: { "X-Api-Key": "s3cret" } };
  const { id: endpointId } = await makeEndpoint(deps, business, { url: receiver.url, settings });
  const reference = await book(deps, business);
  await deliverAll(loop);
  const { id, event_id } = await readDelivery(deps, business.owner);
  const read = async (who: typeof member) =>
    (await askApp(app, who, `GET /deliveries/${id}`)).body as AppDeliveryDetail;
  const [attempt] = (await read(member)).attempts;
  const [request] = receiver.requests;
  assert.ok(attempt && request);
  const t = Math.floor(clock.now().getTime() / 1_000);
  assert.deepEqual(attempt.request, {
    headers: {
      "Content-Type": "application/json",
      "User-Agent": headerOf(request, "User-Agent"),
      "Accept-Encoding": "identity",
      "Service-Event": "booking.created",
      "Service-Delivery": id,
      "Service-Signature": `t=${t},v1=…`,
      "webhook-id": event_id,
      "webhook-timestamp": String(t),
      "webhook-signature": "v1,…",
      "X-Api-Key": "…",
    },
    bodyBytes: request.body.length,
    remoteAddress: "127.0.0.1",
  });
  assert.deepEqual(attempt.responseHeaders, { "content-length": "2", "x-request-id": "r-1", "set-cookie": "…" });
  assert.ok(attempt.timings && attempt.timings.connectMs !== null && attempt.timings.firstByteMs !== null);
  const [masked] = (await read(viewer)).attempts;
  assert.deepEqual([masked?.request, masked?.responseHeaders, masked?.timings], [null, null, null]);

  const admin = await signIn(service, { role: "admin", organizationId: business.owner });
  await askApp(app, admin, `DELETE /bookings/${reference}`);
  assert.equal((await readAttempts(deps, business.owner))[0]?.detail, null, "erased with the booking");
  const statistics = (await askApp(app, viewer, `GET /endpoints/${endpointId}/statistics?period=7d`))
    .body as EndpointStatistics;
  assert.deepEqual([statistics.period, statistics.intervals.length], ["7d", 28]);
});

test("statistics count an endpoint's attempts and response times by hour, quarter of a day and day", async () => {
  const business = await makeBusiness(deps);
  const viewer = await signIn(service, { role: "viewer", organizationId: business.owner });
  let status = 200;
  const receiver = await startReplying(() => ({ status }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  const other = await makeEndpoint(deps, business, { url: receiver.url });
  clock.set(new Date("2026-12-10T10:30:00.000Z"));
  await book(deps, business);
  await deliverAll(loop);
  clock.set(new Date("2026-12-10T12:10:00.000Z"));
  status = 500;
  await book(deps, business);
  await deliverAll(loop);
  await deps.db.updateTable("delivery_attempts").set({ duration_ms: 40 }).where("endpoint_id", "=", id).execute();
  const read = async (query: string) => await askApp(app, viewer, `GET /endpoints/${id}/statistics${query}`);
  const shown = async (query: string) => {
    const { intervals } = (await read(query)).body as EndpointStatistics;
    return {
      count: intervals.length,
      last: intervals.at(-1),
      filled: intervals.filter((each) => each.delivered + each.failed > 0).length,
    };
  };
  const last = { delivered: 0, failed: 1, medianMs: 40, p95Ms: 40 };
  assert.deepEqual(await shown(""), { count: 24, filled: 2, last: { from: "2026-12-10T12:00:00.000Z", ...last } });
  assert.deepEqual(await shown("?period=7d"), {
    count: 28,
    filled: 2,
    last: { from: "2026-12-10T12:00:00.000Z", ...last },
  });
  assert.deepEqual(await shown("?period=30d"), {
    count: 30,
    filled: 1,
    last: { from: "2026-12-10T00:00:00.000Z", ...last, delivered: 1 },
  });
  assert.equal((await read("?period=1y")).status, 400);
  assert.equal((await read("?perod=7d")).status, 400);
  assert.notEqual(other.id, id);
});

test("once added up, the totals of finished intervals are read instead of the attempts, and show the same", async () => {
  const business = await makeBusiness(deps);
  const viewer = await signIn(service, { role: "viewer", organizationId: business.owner });
  let status = 200;
  const receiver = await startReplying(() => ({ status }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  const other = await makeEndpoint(deps, business, { url: receiver.url });
  for (const at of ["2027-02-01T05:59:59.999Z", "2027-02-01T06:00:00.000Z", "2027-02-03T23:00:00.000Z"]) {
    clock.set(new Date(at));
    await book(deps, business);
    await deliverAll(loop);
    status = 500;
  }
  const read = async (endpoint: string, period: string) => {
    const response = await askApp(app, viewer, `GET /endpoints/${endpoint}/statistics?period=${period}`);
    return (response.body as EndpointStatistics).intervals.filter((each) => each.delivered + each.failed > 0);
  };
  const readAll = async () => [await read(id, "24h"), await read(id, "7d"), await read(other.id, "30d")];
  const countTotals = async () => {
    const totals = deps.db.selectFrom("attempt_totals").select("from_at").where("organization_id", "=", business.owner);
    return (await totals.execute()).length;
  };
  clock.set(new Date("2027-02-04T00:30:00.000Z"));
  const before = await readAll();
  const nobodyStops = new AbortController().signal;
  await addUpAttempts(deps, nobodyStops);
  assert.deepEqual(await readAll(), before, "the last interval has just ended");
  await Promise.all([addUpAttempts(deps, nobodyStops), addUpAttempts(deps, nobodyStops)]);
  assert.deepEqual(await readAll(), before);
  clock.set(new Date("2027-02-04T01:00:00.000Z"));
  await addUpAttempts(deps, nobodyStops);
  assert.deepEqual(await readAll(), before);
  // Both endpoints: an hour of the last day, three quarters of a day and two days have attempts.
  assert.equal(await countTotals(), 2 * (1 + 3 + 2));
  await deps.db.deleteFrom("delivery_attempts").where("organization_id", "=", business.owner).execute();
  assert.deepEqual(await readAll(), before, "no attempt is read");
  clock.set(new Date("2027-02-04T02:00:00.000Z"));
  await book(deps, business);
  await deliverAll(loop);
  assert.ok(((await read(id, "30d")).at(-1)?.failed ?? 0) > 0, "the present day is read from its attempts");
  clock.set(new Date("2027-03-10T00:00:00.000Z"));
  await sweepExpired(deps);
  assert.equal(await countTotals(), 0, "kept as long as the log");
});
