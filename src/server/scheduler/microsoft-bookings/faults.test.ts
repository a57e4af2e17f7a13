import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reference } from "#contract/ids.ts";
import { type FaultInjection, GRAPH_REQUEST_ID } from "../../../../test/support/scheduler/graph/graph-server.ts";
import { GRAPH_NOW, services } from "../../../../test/support/scheduler/graph/graph-world.ts";
import { openGraph } from "../../../../test/support/scheduler/graph/open-graph.ts";
import { createTimeLimit } from "../../../../test/support/scheduler/local-server.ts";
import { createTestOutbound, NO_BUDGET } from "../../../../test/support/scheduler/outbound.ts";
import { listWeek, requireBooked, requireFound, toRequest } from "../../../../test/support/scheduler/requests.ts";
import { AccountLimits } from "../account-limits.ts";
import { createMicrosoftBookings } from "./microsoft-bookings.ts";

const NEVER = new AbortController().signal;
const UPSTREAM = { requestId: GRAPH_REQUEST_ID, failure: null };

const TAKEN: FaultInjection = { reply: { status: 500, json: { error: { code: "UnknownError", message: "" } } } };
const GATEWAY: FaultInjection = { reply: { status: 504, json: {} } };

const BOOK_CASES: readonly {
  name: string;
  injections: readonly FaultInjection[];
  outcome: unknown;
  isMade: boolean;
}[] = [
  {
    name: "500, but the appointment exists: booked",
    injections: [{ ...TAKEN, creates: true }],
    outcome: "booked",
    isMade: true,
  },
  {
    name: "500, no appointment and the time still free: unavailable",
    injections: [TAKEN],
    outcome: { kind: "unavailable", retryAfterMs: null, upstream: { status: 500, ...UPSTREAM } },
    isMade: false,
  },
  {
    name: "504, but the appointment exists: booked",
    injections: [{ ...GATEWAY, creates: true }],
    outcome: "booked",
    isMade: true,
  },
  {
    name: "504 and no appointment yet: unknown",
    injections: [GATEWAY],
    outcome: { kind: "unknown", upstream: { status: 504, ...UPSTREAM } },
    isMade: false,
  },
  {
    name: "503 with a wait: unavailable, with the wait",
    injections: [{ reply: { status: 503, headers: { "Retry-After": "20" } } }],
    outcome: { kind: "unavailable", retryAfterMs: 20_000, upstream: { status: 503, ...UPSTREAM } },
    isMade: false,
  },
  {
    name: "429 with a wait that is too long for a visitor: unavailable, with the wait",
    injections: [{ reply: { status: 429, headers: { "Retry-After": "20" } } }],
    outcome: { kind: "unavailable", retryAfterMs: 20_000, upstream: { status: 429, ...UPSTREAM } },
    isMade: false,
  },
  {
    name: "403: the application lacks permission",
    injections: [{ reply: { status: 403, json: {} } }],
    outcome: { kind: "refused", reason: "credentials", upstream: { status: 403, ...UPSTREAM } },
    isMade: false,
  },
  {
    name: "401 twice: the application is unknown",
    injections: [{ reply: { status: 401 } }, { reply: { status: 401 } }],
    outcome: { kind: "refused", reason: "credentials", upstream: { status: 401, ...UPSTREAM } },
    isMade: false,
  },
  {
    name: "404: no such business",
    injections: [{ reply: { status: 404, json: {} } }],
    outcome: { kind: "refused", reason: "not_found", upstream: { status: 404, ...UPSTREAM } },
    isMade: false,
  },
  {
    name: "400 with staff and without: refused",
    injections: [{ reply: { status: 400, json: {} } }, { reply: { status: 400, json: {} } }],
    outcome: { kind: "refused", reason: "invalid", upstream: { status: 400, ...UPSTREAM } },
    isMade: false,
  },
  {
    name: "201 with a body that isn't an appointment: unknown",
    injections: [{ reply: { status: 201, text: "<html>" }, creates: true }],
    outcome: { kind: "unknown", upstream: { status: 201, requestId: GRAPH_REQUEST_ID, failure: "unreadable" } },
    isMade: true,
  },
  {
    name: "the connection closes without a reply: unknown",
    injections: [{ reply: "reset" }],
    outcome: { kind: "unknown", upstream: { status: null, requestId: null, failure: "connection_reset" } },
    isMade: false,
  },
];
for (const { name, injections, outcome, isMade } of BOOK_CASES) {
  test(`booking at Microsoft: ${name}`, async () => {
    const { system, server } = await openGraph();
    const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
    assert.ok(slot);
    const request = toRequest("check-up", slot);
    server.injectFault("POST /appointments", ...injections);
    const given = await system.book(request, NEVER);
    if (outcome === "booked") requireBooked(given);
    else assert.deepEqual(given, outcome);
    assert.equal((await system.findByReference(request, NEVER)).kind, isMade ? "found" : "absent");
    assert.equal(server.appointments.length, isMade ? 1 : 0);
  });
}

for (const refusesDoubleBookings of [true, false]) {
  test(`two of three visitors at once get the two free members of staff, Graph refuses double bookings: ${refusesDoubleBookings}`, async () => {
    const { system, server } = await openGraph();
    server.refusesDoubleBookings = refusesDoubleBookings;
    const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "choose" });
    assert.ok(slot);
    // With the same sum of characters, all three begin with the same member of staff.
    const requests = ["SVC-23456A", "SVC-32456A", "SVC-42356A"].map((reference) => ({
      ...toRequest("choose", slot),
      reference: reference as Reference,
    }));
    const outcomes = await Promise.all(requests.map((request) => system.book(request, NEVER)));
    assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["booked", "booked", "slot_taken"]);
    assert.deepEqual(server.appointments.map(({ staffMemberIds }) => staffMemberIds[0]).sort(), ["s-ada", "s-ben"]);
  });

  test(`a visitor who chose a taken member of staff gets nobody else, Graph refuses double bookings: ${refusesDoubleBookings}`, async () => {
    const { system, server } = await openGraph();
    server.refusesDoubleBookings = refusesDoubleBookings;
    const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "choose" });
    assert.ok(slot);
    const requests = [toRequest("choose", slot), toRequest("choose", slot)];
    const outcomes = await Promise.all(requests.map((request) => system.book({ ...request, staffId: "s-ada" }, NEVER)));
    assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["booked", "slot_taken"]);
    assert.deepEqual(
      server.appointments.map(({ staffMemberIds }) => staffMemberIds),
      [["s-ada"]],
    );
  });
}

for (const refusesDoubleBookings of [true, false]) {
  test(`five visitors take one slot at once, Graph refuses double bookings: ${refusesDoubleBookings}`, async () => {
    const { system, server, clock } = await openGraph();
    server.refusesDoubleBookings = refusesDoubleBookings;
    const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
    assert.ok(slot);
    // Like two processes, which share nothing but the calendar.
    const other = createMicrosoftBookings(
      { outbound: createTestOutbound(clock), clock, accountLimits: new AccountLimits(clock), budget: NO_BUDGET },
      server.parts,
    );
    requireFound(await other.listServices(NEVER));
    server.faults.length = 0;
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, (_, index) => (index < 3 ? system : other).book(toRequest("check-up", slot), NEVER)),
    );
    // Each process sends at most four requests at once, but together they can exceed that.
    server.faults.splice(0);
    assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), [
      "booked",
      "slot_taken",
      "slot_taken",
      "slot_taken",
      "slot_taken",
    ]);
    assert.equal(server.appointments.length, 1);
    const booked = outcomes.find((outcome) => outcome.kind === "booked");
    assert.equal(booked?.kind === "booked" && booked.booked.externalId, server.appointments[0]?.id);
  });
}

test("of two visitors at once one gets the time, if Graph accepts no staff for the service", async () => {
  const { system, server } = await openGraph();
  server.staffRule = "only_if_selectable";
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  const outcomes = await Promise.all([0, 1].map(() => system.book(toRequest("check-up", slot), NEVER)));
  assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["booked", "slot_taken"]);
  assert.deepEqual(
    server.appointments.map(({ staffMemberIds }) => staffMemberIds),
    [[]],
  );
});

test("seats of a group are counted, if Graph accepts no staff for the service", async () => {
  const { system, server } = await openGraph();
  server.staffRule = "only_if_selectable";
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "group" });
  assert.ok(slot);
  const outcomes = await Promise.all([0, 1, 2, 3].map(() => system.book(toRequest("group", slot), NEVER)));
  assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["booked", "booked", "booked", "slot_taken"]);
});

test("an appointment that lost the race but cannot be cancelled counts as booked, because it exists", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  const rival = toRequest("check-up", slot);
  server.injectFault("GET /calendarView", { reply: { status: 200, json: { value: [] } } });
  requireBooked(await system.book(rival, NEVER));
  server.injectFault("GET /calendarView", { reply: { status: 200, json: { value: [] } } });
  server.canCancel = false;
  server.injectFault("DELETE /appointments", { reply: { status: 403, json: {} } });
  requireBooked(await system.book(toRequest("check-up", slot), NEVER));
  assert.equal(server.appointments.length, 2);
});

test("after a 500 from a system that then can't be queried the outcome is unknown", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  server.injectFault("POST /appointments", TAKEN);
  server.injectFault("GET /calendarView", { reply: { status: 200, json: { value: [] } } }, { reply: { status: 503 } });
  const outcome = await system.book(toRequest("check-up", slot), NEVER);
  assert.deepEqual(outcome, { kind: "unknown", upstream: { status: 500, ...UPSTREAM } });
});

for (const isMade of [true, false]) {
  test(`a timeout while Microsoft is silent has an unknown outcome; the appointment is then found: ${isMade}`, async () => {
    const { system, server } = await openGraph();
    const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
    assert.ok(slot);
    const request = toRequest("check-up", slot);
    const limit = createTimeLimit();
    server.injectFault("POST /appointments", { reply: "hang", creates: isMade, onArrival: limit.runOut });
    const outcome = await system.book(request, limit.signal);
    assert.deepEqual(outcome, { kind: "unknown", upstream: { status: null, requestId: null, failure: "timeout" } });
    assert.equal((await system.findByReference(request, NEVER)).kind, isMade ? "found" : "absent");
  });
}

const READ_CASES: readonly { name: string; route: string; injections: readonly FaultInjection[]; expected: object }[] =
  [
    {
      name: "a wrong secret",
      route: "POST token",
      injections: [{ reply: { status: 401, json: { error: "invalid_client" } } }],
      expected: { kind: "refused", reason: "credentials", upstream: { status: 401, ...UPSTREAM }, wrong: "secret" },
    },
    {
      name: "a tenant that does not exist",
      route: "POST token",
      injections: [{ reply: { status: 400, json: { error: "invalid_request" } } }],
      expected: { kind: "refused", reason: "credentials", upstream: { status: 400, ...UPSTREAM }, wrong: "tenant" },
    },
    {
      name: "a business that does not exist",
      route: "GET /",
      injections: [{ reply: { status: 404, json: {} } }],
      expected: { kind: "refused", reason: "not_found", upstream: { status: 404, ...UPSTREAM } },
    },
    {
      name: "a missing permission to read availability",
      route: "POST /getStaffAvailability",
      injections: [{ reply: { status: 403, json: {} } }],
      expected: { kind: "refused", reason: "credentials", upstream: { status: 403, ...UPSTREAM } },
    },
    {
      name: "too many requests",
      route: "GET /services",
      injections: [{ reply: { status: 429, headers: { "Retry-After": "30" } } }],
      expected: { kind: "unavailable", retryAfterMs: 30_000, upstream: { status: 429, ...UPSTREAM } },
    },
    {
      name: "a redirect, which is not followed",
      route: "GET /",
      injections: [{ reply: { status: 302, headers: { Location: "http://127.0.0.1:1/" } } }],
      expected: { kind: "refused", reason: "invalid", upstream: { status: 302, ...UPSTREAM } },
    },
    {
      name: "a page instead of JSON",
      route: "GET /",
      injections: [{ reply: { status: 200, text: "<html>sign in</html>" } }],
      expected: {
        kind: "unavailable",
        retryAfterMs: null,
        upstream: { status: 200, requestId: GRAPH_REQUEST_ID, failure: "unreadable" },
      },
    },
  ];
for (const { name, route, injections, expected } of READ_CASES) {
  test(`the connection's test at Microsoft fails with ${name}`, async () => {
    const { system, server } = await openGraph();
    server.injectFault(route, ...injections);
    assert.deepEqual(await system.verify(NEVER), expected);
  });
}

test("of many services at Microsoft, 200 are offered, and the test says so", async () => {
  const { system, server } = await openGraph();
  const toMany = (count: number) => Array.from({ length: count }, (_, n) => ({ ...services[0], id: `service-${n}` }));
  const hidden = { ...services[0], id: "hidden", isHiddenFromCustomers: true };
  server.injectFault(
    "GET /services",
    { reply: { status: 200, json: { value: [hidden, ...toMany(203)] } } },
    ...toMany(200).map((json) => ({ reply: { status: 200, json } })),
  );
  const { warnings } = requireFound(await system.verify(NEVER));
  assert.deepEqual(warnings, ["Only the first 200 services are offered; there are 203."]);
  assert.equal(requireFound(await system.listServices(NEVER)).length, 200);
});
