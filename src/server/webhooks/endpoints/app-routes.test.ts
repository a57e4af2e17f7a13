import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AppDelivery, AppDeliveryDetail } from "#contract/app/deliveries.ts";
import type { AddedEndpoint, AppEndpoint } from "#contract/app/endpoints.ts";
import type { MemberRole } from "#contract/app/role.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { EndpointId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { type SignedIn, signIn } from "../../../../test/support/app/sign-in.ts";
import { NOON } from "../../../../test/support/builders.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  startReplying,
  verify,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { deleteBooking } from "../../bookings/stored/erase/erase.ts";
import { editEndpoint } from "./endpoints.ts";

const service = await createWebhookService();
const { app, deps, clock, loop } = service;
const { db } = deps;

async function makeTeam(role: MemberRole = "admin", plan: Plan = "pro"): Promise<Business & { member: SignedIn }> {
  const business = await makeBusiness(deps, plan);
  return { ...business, member: await signIn(service, { role, organizationId: business.owner }) };
}

const listEndpoints = async (member: SignedIn) =>
  ((await askApp(app, member, "GET /endpoints")).body as { data: AppEndpoint[] }).data;
const listDeliveries = async (member: SignedIn, query = "") =>
  (await askApp(app, member, `GET /deliveries${query}`)).body as { data: AppDelivery[]; nextCursor: string | null };

describe("endpoints", () => {
  test("are added with a secret that is shown once and signs deliveries", async () => {
    const { member, ...business } = await makeTeam();
    const receiver = await startReplying(() => ({ status: 200 }));
    const wanted = { url: receiver.url, kind: "webhook", description: "Warehouse" };
    const { status, body } = await askApp(app, member, "POST /endpoints", wanted);
    const { endpoint, secret, sameUrlAs } = body as AddedEndpoint;
    assert.deepEqual([status, sameUrlAs], [201, null]);
    assert.ok(secret);
    assert.match(secret, /^whsec_/);
    const now = clock.now().toISOString();
    assert.deepEqual(endpoint, {
      id: endpoint.id,
      ...wanted,
      status: "enabled",
      disabledReason: null,
      disabledAt: null,
      secretHint: secret.slice(-4),
      secretCreatedAt: now,
      previousSecretExpiresAt: null,
      eventTypes: ["booking.created"],
      widgetIds: null,
      services: null,
      channels: null,
      sources: null,
      campaigns: null,
      reportsExpiry: false,
      headerNames: [],
      requestsPerMinute: null,
      health: {
        condition: "idle",
        lastAttemptAt: null,
        lastSuccessAt: null,
        lastStatus: null,
        failingSince: null,
        pausedUntil: null,
        lastDay: { delivered: 0, failed: 0, lastFailureAt: null },
      },
      notices: [],
      createdAt: now,
    });
    await book(deps, business);
    await deliverAll(loop);
    const [request] = receiver.requests;
    assert.ok(request);
    verify(request, secret, clock.now());
    const listed = await listEndpoints(member);
    assert.ok(!JSON.stringify(listed).includes(secret));
    const { condition, lastStatus, lastDay } = listed[0]?.health ?? {};
    assert.deepEqual(
      { condition, lastStatus, lastDay },
      {
        condition: "healthy",
        lastStatus: 200,
        lastDay: { delivered: 1, failed: 0, lastFailureAt: null },
      },
    );
    assert.deepEqual(await readAudit(db, business.owner), [
      { action: "endpoint.added", target: endpoint.id, detail: { name: "Warehouse" } },
    ]);
  });

  test("have health that counts a day's attempts and says since when they fail", async () => {
    const { member, ...business } = await makeTeam("viewer");
    const receiver = await startReplying(() => ({ status: 500 }));
    await makeEndpoint(deps, business, { url: receiver.url });
    await book(deps, business);
    const at = clock.now().toISOString();
    await deliverAll(loop);
    const [failing] = await listEndpoints(member);
    assert.deepEqual(
      [failing?.health.condition, failing?.health.failingSince, failing?.health.lastDay],
      ["failing", at, { delivered: 0, failed: 1, lastFailureAt: at }],
    );
    moveClock(service, 24 * 3_600 + 1);
    const [later] = await listEndpoints(member);
    assert.deepEqual(later?.health.lastDay, { delivered: 0, failed: 0, lastFailureAt: null });
  });

  test("with an unusable address or an over-long description are refused with an error at the field", async () => {
    const { member } = await makeTeam();
    for (const [body, field] of [
      [{ url: "ftp://example.com", kind: "webhook" }, "url"],
      [{ url: "https://10.0.0.1/x", kind: "webhook" }, "url"],
      [{ url: "nonsense", kind: "slack" }, "url"],
      [{ kind: "webhook" }, "url"],
      [{ url: "https://example.com", kind: "fax" }, "kind"],
      [{ url: "https://example.com", kind: "webhook", description: "x".repeat(201) }, "description"],
    ] as const) {
      const response = await askApp(app, member, "POST /endpoints", body);
      const { error } = response.body as { error: { fields: Record<string, string> } };
      assert.deepEqual([response.status, Object.keys(error.fields)], [422, [field]], JSON.stringify(body));
    }
    assert.deepEqual(await listEndpoints(member), []);
  });

  test("are edited, turned off and on, and removed, with a log entry each time", async () => {
    const { member, ...business } = await makeTeam();
    const receiver = await startReplying(() => ({ status: 200 }));
    const { id } = await makeEndpoint(deps, business, { url: receiver.url });
    const change = async (body: object) =>
      (await askApp(app, member, `PATCH /endpoints/${id}`, body)).body as AppEndpoint;
    assert.equal((await change({ description: "CRM", url: `${receiver.url}/new` })).url, `${receiver.url}/new`);
    const off = await change({ isEnabled: false });
    assert.deepEqual([off.status, off.disabledReason, off.description], ["disabled", "manual", "CRM"]);
    assert.equal((await askApp(app, member, `POST /endpoints/${id}/test`)).status, 409);
    assert.equal((await change({ isEnabled: true })).status, "enabled");
    assert.equal((await askApp(app, member, `PATCH /endpoints/${id}`, { url: "nowhere" })).status, 422);
    assert.deepEqual(await askApp(app, member, `DELETE /endpoints/${id}`), { status: 204, body: null });
    assert.equal((await askApp(app, member, `DELETE /endpoints/${id}`)).status, 404);
    assert.deepEqual(await listEndpoints(member), []);
    const host = new URL(receiver.url).host;
    const entry = (action: string, detail: object) => ({ action, target: id, detail: { name: "CRM", ...detail } });
    const entries = (await readAudit(db, business.owner)).map((each) => JSON.stringify(each)).sort();
    assert.deepEqual(
      entries.map((each) => JSON.parse(each)),
      [
        entry("endpoint.changed", { formerName: host, changed: "description, url" }),
        entry("endpoint.changed", { status: "disabled" }),
        entry("endpoint.changed", { status: "enabled" }),
        entry("endpoint.removed", {}),
      ],
    );
  });

  test("change all fields of one request together, with one log entry", async () => {
    const { member, ...business } = await makeTeam();
    const receiver = await startReplying(() => ({ status: 200 }));
    const { id } = await makeEndpoint(deps, business, { url: receiver.url });
    const change = (body: object) => askApp(app, member, `PATCH /endpoints/${id}`, body);
    const { status, body } = await change({ description: "CRM", isEnabled: false, was: { description: "" } });
    const { description, status: condition } = body as AppEndpoint;
    assert.deepEqual([status, description, condition], [200, "CRM", "disabled"]);
    const conflict = await change({ description: "ERP", isEnabled: true, was: { description: "" } });
    assert.equal(conflict.status, 409);
    assert.equal((await change({ url: "nowhere", isEnabled: true })).status, 422);
    assert.equal((await listEndpoints(member))[0]?.status, "disabled", "nothing of a refused request is done");
    assert.equal((await change({})).status, 200);
    const { error } = (await change({ channel: ["Email"] })).body as { error: { fields?: object } };
    assert.deepEqual(error.fields, { channel: "Unknown field." });
    const detail = { name: "CRM", formerName: new URL(receiver.url).host, changed: "description", status: "disabled" };
    assert.deepEqual(await readAudit(db, business.owner), [{ action: "endpoint.changed", target: id, detail }]);
  });

  test("show a rotated secret once, and the old one signs for another day", async () => {
    const { member, ...business } = await makeTeam();
    const receiver = await startReplying(() => ({ status: 200 }));
    const { id, secret } = await makeEndpoint(deps, business, { url: receiver.url });
    const { body } = await askApp(app, member, `POST /endpoints/${id}/rotate-secret`, {});
    const rotated = body as { secret: string; previousSecretExpiresAt: string };
    assert.equal(Date.parse(rotated.previousSecretExpiresAt) - clock.now().getTime(), DAY_MS);
    assert.equal((await listEndpoints(member))[0]?.previousSecretExpiresAt, rotated.previousSecretExpiresAt);
    await askApp(app, member, `POST /endpoints/${id}/test`);
    await deliverAll(loop);
    const [request] = receiver.requests;
    assert.ok(request);
    for (const each of [secret, rotated.secret]) verify(request, each, clock.now());
  });

  test("never show a chat's address, which is a password; viewers see no address's path", async () => {
    const { member, ...business } = await makeTeam();
    const viewer = await signIn(service, { role: "viewer", organizationId: business.owner });
    const receiver = await startReplying(() => ({ status: 200 }));
    const secretPath = "/T000/B000/xyzzyq";
    for (const kind of ["slack", "webhook"] as const)
      await makeEndpoint(deps, business, { url: receiver.url + secretPath, kind });
    const kinds = (endpoints: AppEndpoint[]) =>
      endpoints.filter(({ url }) => url.includes("xyzz")).map(({ kind }) => kind);
    assert.deepEqual(kinds(await listEndpoints(member)), ["webhook"]);
    assert.deepEqual(kinds(await listEndpoints(viewer)), []);
  });

  test("cannot be added, used or changed without the plan, but can be seen, turned off and removed", async () => {
    const { member, ...business } = await makeTeam();
    const receiver = await startReplying(() => ({ status: 200 }));
    const { id } = await makeEndpoint(deps, business, { url: receiver.url });
    await db.updateTable("organizations").set({ plan: "free" }).where("id", "=", business.owner).execute();
    for (const [route, body] of [
      ["POST /endpoints", { url: receiver.url, kind: "webhook" }],
      [`PATCH /endpoints/${id}`, { description: "x" }],
      [`POST /endpoints/${id}/test`, undefined],
      [`POST /endpoints/${id}/rotate-secret`, {}],
      [`POST /endpoints/${id}/retry`, undefined],
      ["POST /redeliveries", { from: "2026-01-01" }],
      ["POST /deliveries/11111111-2222-4333-8444-555555555555/redeliver", undefined],
    ] as const) {
      const response = await askApp(app, member, route, body);
      assert.deepEqual(response.status, 403, route);
      assert.equal((response.body as { error: { code: string } }).error.code, "plan_required");
    }
    assert.equal((await listEndpoints(member)).length, 1);
    const turn = (isEnabled: boolean) => askApp(app, member, `PATCH /endpoints/${id}`, { isEnabled });
    assert.equal((await turn(false)).status, 200);
    assert.equal((await turn(true)).status, 403, "but not turned on again");
    assert.equal((await listEndpoints(member))[0]?.status, "disabled");
    assert.equal((await askApp(app, member, `DELETE /endpoints/${id}`)).status, 204);
  });
});

describe("deliveries", () => {
  test("are shown with their attempts, what was sent and the replies; viewers see neither body nor reply", async () => {
    const { member, ...business } = await makeTeam();
    const viewer = await signIn(service, { role: "viewer", organizationId: business.owner });
    const receiver = await startReplying((_request, count) => ({
      status: count === 1 ? 503 : 200,
      body: `hello Mara ${count}`,
    }));
    const { id: endpointId } = await makeEndpoint(deps, business, { url: receiver.url });
    const reference = await book(deps, business);
    await deliverAll(loop);
    moveClock(service, 30);
    await deliverAll(loop);
    const { data } = await listDeliveries(member);
    const [line] = data;
    assert.ok(line && typeof line.lastDurationMs === "number");
    const { attempts, body, ...rest } = (await askApp(app, member, `GET /deliveries/${line.id}`))
      .body as AppDeliveryDetail;
    assert.deepEqual(rest, line);
    assert.deepEqual(
      [
        line.reference,
        line.state,
        line.attemptCount,
        line.retriesUsed,
        line.lastStatus,
        line.endpoint.id,
        line.isErased,
      ],
      [reference, "delivered", 2, 1, 200, endpointId, false],
    );
    assert.deepEqual(
      attempts.map(({ number, result, status, reply }) => [number, result, status, reply]),
      [
        [2, "delivered", 200, "hello Mara 2"],
        [1, "failed", 503, "hello Mara 1"],
      ],
    );
    assert.equal(body, receiver.requests[1]?.body.toString());
    const seen = await askApp(app, viewer, `GET /deliveries/${line.id}`);
    assert.ok(!JSON.stringify([seen, await listDeliveries(viewer)]).match(/Mara|example\.com/));
    const masked = seen.body as AppDeliveryDetail;
    assert.deepEqual([masked.body, masked.attempts.map(({ reply }) => reply)], [null, [null, null]]);
  });

  test("are filtered and paged without gaps", async () => {
    const { member, ...business } = await makeTeam();
    const receiver = await startReplying((request) => ({
      status: request.head.startsWith("POST /hooks/bad") ? 500 : 200,
    }));
    const good = await makeEndpoint(deps, business, { url: `${receiver.url}/good` });
    await makeEndpoint(deps, business, { url: `${receiver.url}/bad` });
    for (let i = 0; i < 3; i++) await book(deps, business);
    moveClock(service, 1);
    const since = clock.now().toISOString();
    for (let i = 0; i < 2; i++) await book(deps, business);
    await deliverAll(loop);
    const follow = async (query: string) => {
      const ids: string[] = [];
      for (let cursor = ""; ; ) {
        const page = await listDeliveries(member, `?limit=3${query}${cursor}`);
        ids.push(...page.data.map(({ id }) => id));
        if (page.nextCursor === null) return [ids.length, new Set(ids).size];
        cursor = `&cursor=${page.nextCursor}`;
      }
    };
    assert.deepEqual(await follow(""), [10, 10]);
    assert.deepEqual(await follow(`&endpoint=${good.id}`), [5, 5]);
    assert.deepEqual(await follow("&state=retrying"), [5, 5]);
    assert.deepEqual(await follow(`&state=delivered&from=${since}`), [2, 2]);
    for (const [query, status] of [
      ["state=lost", 400],
      ["cursor=x", 400],
      ["cursor=2026-01-01_x", 400],
      ["from=x", 400],
      ["endpoint=x", 404],
      ["status=abc", 400],
      ["error=none", 400],
      ["widget=x", 400],
      ["sate=failed", 400],
    ] as const)
      assert.equal((await askApp(app, member, `GET /deliveries?${query}`)).status, status, query);
  });

  test("are redelivered on request, unless they are queued, erased or their endpoint is off", async () => {
    const { member, ...business } = await makeTeam("member");
    const receiver = await startReplying(() => ({ status: 200 }));
    await makeEndpoint(deps, business, { url: receiver.url });
    const reference = await book(deps, business);
    const again = async () => await askApp(app, member, `POST /deliveries/${id}/redeliver`);
    const [{ id } = { id: "" }] = (await listDeliveries(member)).data;
    const code = async () => ((await again()).body as { error: { code: string } }).error.code;
    assert.equal(await code(), "already_queued");
    await deliverAll(loop);
    assert.deepEqual(await again(), { status: 202, body: { deliveryId: id } });
    assert.equal((await listDeliveries(member)).data[0]?.pending, "manual");
    await deliverAll(loop);
    assert.equal(receiver.requests.length, 2);
    assert.deepEqual(receiver.requests[0]?.body, receiver.requests[1]?.body);
    const { id: endpointId } = (await listEndpoints(member))[0] ?? { id: "" };
    await editEndpoint(deps, business.owner, { id: endpointId as EndpointId, isEnabled: false }, noAudit);
    assert.equal(await code(), "endpoint_disabled");
    await deleteBooking(deps, business.owner, reference);
    assert.equal(await code(), "payload_erased");
    const detail = { name: reference, endpoint: new URL(receiver.url).host };
    assert.deepEqual(await readAudit(db, business.owner), [{ action: "delivery.redelivered", target: id, detail }]);
  });

  test("another organization's endpoints and deliveries are not there", async () => {
    const mine = await makeTeam();
    const theirs = await makeTeam();
    const receiver = await startReplying(() => ({ status: 200 }));
    const { id } = await makeEndpoint(deps, theirs, { url: receiver.url });
    await book(deps, theirs);
    await deliverAll(loop);
    const [{ id: deliveryId } = { id: "" }] = (await listDeliveries(theirs.member)).data;
    for (const route of [
      `DELETE /endpoints/${id}`,
      `POST /endpoints/${id}/test`,
      `GET /deliveries/${deliveryId}`,
      `POST /deliveries/${deliveryId}/redeliver`,
      `POST /deliveries/${deliveryId}/retry`,
      `POST /endpoints/${id}/retry`,
      `GET /endpoints/${id}/statistics`,
      "GET /deliveries/nonsense",
    ])
      assert.equal((await askApp(app, mine.member, route)).status, 404, route);
    assert.equal((await askApp(app, mine.member, `PATCH /endpoints/${id}`, { isEnabled: false })).status, 404);
    assert.equal((await askApp(app, mine.member, `POST /endpoints/${id}/rotate-secret`, {})).status, 404);
    assert.equal((await askApp(app, mine.member, `GET /deliveries?endpoint=${id}`)).status, 404);
    assert.equal((await listEndpoints(theirs.member))[0]?.status, "enabled");
    assert.ok(clock.now() >= NOON);
  });
});
