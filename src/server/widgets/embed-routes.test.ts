import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DAY_MS } from "#contract/durations.ts";
import type { ConfigResponse } from "#contract/widgets/embed-api.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { noAudit } from "../../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget, updateWidget } from "../../../test/support/builders.ts";
import { startCalcomServer } from "../../../test/support/scheduler/calcom/calcom-server.ts";
import { CalcomThrottle } from "../../../test/support/scheduler/calcom/calcom-throttle.ts";
import { addConnection } from "../scheduler/connections/connections.ts";
import { changeWidget } from "./app-queries.ts";

const { app, deps } = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
after(() => deps.scheduler.outbound.close());

for (const [path, perNetwork, perWidget] of [
  ["config", "rateLimitConfigPerMinute", "rateLimitWidgetConfigPerMinute"],
  ["slots?service=x&from=2026-11-02&to=2026-11-09", "rateLimitSlotsPerMinute", "rateLimitWidgetSlotsPerMinute"],
] as const)
  test(`/${path.split("?")[0]} is limited per minute, by network and by widget`, async () => {
    const limited = await createTestApp({ [perNetwork]: 3, [perWidget]: 4, trustProxy: 1 });
    const owner = await makeOrganization(limited.deps.db);
    const [first, second] = [await makeWidget(limited.deps.db, owner), await makeWidget(limited.deps.db, owner)];
    const ask = async (widgetId: string, from: string) => {
      const { statusCode, headers } = await limited.app.inject({
        url: `/embed-api/${widgetId}/${path}`,
        headers: { "x-forwarded-for": from },
      });
      return statusCode === 429 ? headers["retry-after"] : "answered";
    };
    const responses = [
      await ask(first, "10.0.0.1"),
      await ask(first, "10.0.0.1"),
      await ask(first, "10.0.0.1"),
      await ask(second, "10.0.0.1"),
      await ask(first, "10.0.0.2"),
      await ask(first, "10.0.0.3"),
      await ask(first, "10.0.0.4"),
      await ask(second, "10.0.0.4"),
    ];
    assert.deepEqual(responses, ["answered", "answered", "60", "60", "answered", "answered", "60", "answered"]);
    limited.clock.set(new Date(limited.clock.now().getTime() + 60_000));
    assert.equal(await ask(first, "10.0.0.1"), "answered");
  });

test("invalid parameters of /slots give 400 with the reason", async () => {
  const widgetId = await makeWidget(deps.db, await makeOrganization(deps.db));
  const { services } = (await app.inject(`/embed-api/${widgetId}/config`)).json() as ConfigResponse;
  const service = services.find(({ staffSelectable }) => staffSelectable);
  assert.ok(service);
  const ask = async (query: object) => {
    const week = { service: service.id, from: "2026-11-02", to: "2026-11-09" };
    const response = await app.inject({ url: `/embed-api/${widgetId}/slots`, query: { ...week, ...query } });
    return [response.statusCode, response.json().error?.message];
  };
  const bad = (sentence: string) => [400, `The parameter ${sentence}.`];
  assert.deepEqual(await ask({}), [200, undefined]);
  assert.deepEqual(await ask({ staff: service.staff[0]?.id }), [200, undefined]);
  assert.deepEqual(await ask({ staff: "nobody" }), bad("staff must be someone who can be booked for this service"));
  assert.deepEqual(await ask({ to: "2026-11-02" }), bad("to must be after from"));
  assert.deepEqual(await ask({ to: "2026-11-01" }), bad("to must be after from"));
  assert.deepEqual(await ask({ to: "2026-12-09" }), bad("to must not be more than 31 days after from"));
  assert.equal((await ask({ from: "soon" }))[0], 400);
  assert.equal((await ask({ service: "none" }))[0], 404);
});

test("a widget offers only the chosen services and people, in the chosen order", async () => {
  const owner = await makeOrganization(deps.db);
  const widgetId = await makeWidget(deps.db, owner);
  const offer = [
    { serviceId: "online-meeting", staffIds: null },
    { serviceId: "gone", staffIds: null },
    { serviceId: "consultation", staffIds: ["sam-rivera"] },
  ];
  await changeWidget(deps.db, owner, { id: widgetId, change: { offers: JSON.stringify({ sandbox: offer }) } });
  const { services } = (await app.inject(`/embed-api/${widgetId}/config`)).json() as ConfigResponse;
  assert.deepEqual(
    services.map(({ id, staff }) => [id, staff.map((person) => person.id)]),
    [
      ["online-meeting", []],
      ["consultation", ["sam-rivera"]],
    ],
  );
  const ask = (query: object) =>
    app.inject({ url: `/embed-api/${widgetId}/slots`, query: { from: "2026-11-02", to: "2026-11-03", ...query } });
  assert.equal((await ask({ service: "first-appointment" })).statusCode, 404);
  assert.equal((await ask({ service: "consultation", staff: "alex-kim" })).statusCode, 400);
  const { slots } = (await ask({ service: "consultation" })).json();
  assert.deepEqual(slots[0].staffIds, ["sam-rivera"]);

  const book = (serviceId: string) =>
    app.inject({
      method: "POST",
      url: `/embed-api/${widgetId}/bookings`,
      headers: { "content-type": "application/json", "idempotency-key": serviceId },
      payload: JSON.stringify({
        visitId: "00000000-0000-4000-8000-000000000001",
        serviceId,
        start: slots[0].start,
        timeZone: "UTC",
        customer: { name: "Mara Quell", email: "mara@example.com" },
      }),
    });
  assert.equal((await book("fully-booked")).statusCode, 422);
  const booked = await book("consultation");
  assert.deepEqual([booked.statusCode, booked.json().staff], [201, [{ id: "sam-rivera", name: "Sam Example" }]]);
});

test("a paused widget says so even while its scheduling system is down", async () => {
  const server = await startCalcomServer();
  after(() => server.stop());
  const owner = await makeOrganization(deps.db);
  const widgetId = await makeWidget(deps.db, owner);
  const added = await addConnection(deps, owner, { kind: "calcom", name: "Clinic", ...server.parts }, noAudit);
  assert.ok(added.kind === "added");
  await updateWidget(deps.db, widgetId, { connection_id: added.id });
  await server.stop();
  const ask = () => app.inject(`/embed-api/${widgetId}/config`);
  assert.equal((await ask()).statusCode, 503);
  await updateWidget(deps.db, widgetId, { status: "paused" });
  const response = await ask();
  assert.equal(response.statusCode, 200);
  const { widget, services } = response.json() as ConfigResponse;
  assert.deepEqual([widget.status, services], ["paused", []]);
});

test("one network cannot use up the requests that a scheduling system allows", async () => {
  const limited = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"], trustProxy: 1 });
  after(() => limited.deps.scheduler.outbound.close());
  const server = await startCalcomServer();
  after(() => server.stop());
  server.throttle = { limit: new CalcomThrottle(), nowMs: () => limited.clock.now().getTime() };
  const owner = await makeOrganization(limited.deps.db);
  const widgetId = await makeWidget(limited.deps.db, owner);
  const added = await addConnection(limited.deps, owner, { kind: "calcom", name: "Clinic", ...server.parts }, noAudit);
  assert.ok(added.kind === "added");
  await updateWidget(limited.deps.db, widgetId, { connection_id: added.id });
  const ask = async (network: string, day: number) => {
    const dayMs = limited.clock.now().getTime() + day * DAY_MS;
    const query = { service: "10", from: new Date(dayMs).toISOString(), to: new Date(dayMs + DAY_MS).toISOString() };
    const headers = { "x-forwarded-for": network };
    const { statusCode } = await limited.app.inject({ url: `/embed-api/${widgetId}/slots`, query, headers });
    return statusCode;
  };
  const countReads = () => server.requests.filter(({ path }) => path === "/v2/slots").length;
  // Times that others have just asked for take nothing.
  for (let n = 0; n < 40; n++) assert.equal(await ask("10.0.0.1", 0), 200);
  assert.equal(countReads(), 1);
  // Four a second for a minute, each for another range.
  const responses: number[] = [];
  for (let n = 1; n <= 240; n++) {
    limited.clock.set(new Date(limited.clock.now().getTime() + 250));
    responses.push(await ask("10.0.0.1", n));
  }
  assert.deepEqual(new Set(responses), new Set([200, 429]));
  assert.ok(countReads() <= 41, String(countReads()));
  assert.equal(await ask("10.0.0.2", 400), 200);
});
