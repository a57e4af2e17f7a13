import assert from "node:assert/strict";
import { test } from "node:test";
import { toError } from "../../../../test/support/scheduler/calcom/calcom-error.ts";
import { CALCOM_REQUEST_ID, type FaultInjection } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { CALCOM_NOW, eventTypes } from "../../../../test/support/scheduler/calcom/calcom-world.ts";
import { openCalcom } from "../../../../test/support/scheduler/calcom/open-calcom.ts";
import { createTimeLimit } from "../../../../test/support/scheduler/local-server.ts";
import { listWeek, requireBooked, requireFound, toRequest } from "../../../../test/support/scheduler/requests.ts";
import { limitSystem, SCHEDULER_LIMITS } from "../limit-system.ts";

const NEVER = new AbortController().signal;
const UPSTREAM = { requestId: CALCOM_REQUEST_ID, failure: null };

const TAKEN_WORDS = [
  toError(400, "BadRequestException", "User either already has booking at this time or is not available"),
  toError(400, "BadRequestException", "One of the hosts either already has booking at this time or is not available"),
  toError(400, "BadRequestException", `Event type with id=10 can't be booked at the "start" time provided.`),
  toError(400, "BadRequestException", "Attempting to book a meeting in the past."),
  toError(409, "booking_conflict_error", "Conflict"),
  toError(409, "no_available_users_found_error", "Nobody"),
];
const BOOK_CASES: readonly { name: string; injection: FaultInjection; outcome: unknown; isMade?: boolean }[] = [
  ...TAKEN_WORDS.map((reply) => ({
    name: `${reply.status} ${(reply.json as { error: { message: string } }).error.message}`,
    injection: { reply },
    outcome: { kind: "slot_taken" },
  })),
  {
    name: "409 because of our own request: booked",
    injection: { reply: toError(409, "booking_conflict_error", "Conflict"), creates: true },
    outcome: "booked",
    isMade: true,
  },
  {
    name: "400 taken because of our own request: booked",
    injection: {
      reply: toError(400, "BadRequestException", "User either already has booking at this time or is not available"),
      creates: true,
    },
    outcome: "booked",
    isMade: true,
  },
  {
    name: "400 for another reason, the time still free: refused",
    injection: { reply: toError(400, "BadRequestException", "attendee.timeZone must be a valid IANA time-zone") },
    outcome: { kind: "refused", reason: "invalid", upstream: { status: 400, ...UPSTREAM } },
  },
  {
    name: "401: the key is unknown",
    injection: { reply: toError(401, "UnauthorizedException", "Invalid API Key") },
    outcome: { kind: "refused", reason: "credentials", upstream: { status: 401, ...UPSTREAM } },
  },
  {
    name: "403: the key's user may not book this event type",
    injection: {
      reply: toError(403, "ForbiddenException", "checkBookingRequiresAuthentication - user is not authorized"),
    },
    outcome: { kind: "refused", reason: "credentials", upstream: { status: 403, ...UPSTREAM } },
  },
  {
    name: "403 for a limit of the event type, the time still free: refused",
    injection: { reply: toError(403, "HttpException", "booking_limit_reached") },
    outcome: { kind: "refused", reason: "invalid", upstream: { status: 403, ...UPSTREAM } },
  },
  {
    name: "404: the event type is gone",
    injection: { reply: toError(404, "NotFoundException", "Event type not found") },
    outcome: { kind: "refused", reason: "not_found", upstream: { status: 404, ...UPSTREAM } },
  },
  {
    name: "429: unavailable, with the wait it asks for",
    injection: {
      reply: {
        ...toError(429, "ThrottlerException", "CustomThrottlerGuard - Too many requests. Please try again later."),
        headers: { "X-RateLimit-Limit-Default": "120", "X-RateLimit-Reset-Default": "9" },
      },
    },
    outcome: { kind: "unavailable", retryAfterMs: 9_000, upstream: { status: 429, ...UPSTREAM } },
  },
  {
    name: "500, but the booking exists: booked",
    injection: { reply: toError(500, "INTERNAL_SERVER_ERROR", "Internal"), creates: true },
    outcome: "booked",
    isMade: true,
  },
  {
    name: "500 and no booking: unavailable",
    injection: { reply: toError(500, "INTERNAL_SERVER_ERROR", "Internal") },
    outcome: { kind: "unavailable", retryAfterMs: null, upstream: { status: 500, ...UPSTREAM } },
  },
  {
    name: "502 and no booking yet: unknown",
    injection: { reply: { status: 502, text: "<html>Bad gateway</html>" } },
    outcome: { kind: "unknown", upstream: { status: 502, ...UPSTREAM } },
  },
  {
    name: "a reply in another version: unknown",
    injection: { reply: { status: 201, json: { id: 1, uid: "uid1" } }, creates: true },
    outcome: { kind: "unknown", upstream: { status: 201, requestId: CALCOM_REQUEST_ID, failure: "unreadable" } },
    isMade: true,
  },
  {
    name: "the connection closes without a reply, though the booking was made: unknown",
    injection: { reply: "reset", creates: true },
    outcome: { kind: "unknown", upstream: { status: null, requestId: null, failure: "connection_reset" } },
    isMade: true,
  },
];
for (const { name, injection, outcome, isMade = false } of BOOK_CASES) {
  test(`booking at Cal.com: ${name}`, async () => {
    const { system, server } = await openCalcom();
    const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
    assert.ok(slot);
    const request = toRequest("10", slot);
    server.injectFault("POST /bookings", injection);
    const given = await system.book(request, NEVER);
    if (outcome === "booked") requireBooked(given);
    else assert.deepEqual(given, outcome);
    assert.equal((await system.findByReference(request, NEVER)).kind, isMade ? "found" : "absent");
    assert.equal(server.bookings.length, isMade ? 1 : 0);
  });
}

test("after a 409 from Cal.com, which then can't be queried, the outcome is unknown", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  server.injectFault("POST /bookings", { reply: toError(409, "booking_conflict_error", "Conflict"), creates: true });
  server.injectFault("GET /bookings", { reply: { status: 503 } });
  const outcome = await system.book(toRequest("10", slot), NEVER);
  assert.deepEqual(outcome, { kind: "unknown", upstream: { status: 409, ...UPSTREAM } });
});

for (const isMade of [true, false]) {
  test(`a timeout while Cal.com is silent has an unknown outcome; the booking is then found: ${isMade}`, async () => {
    const { system, server } = await openCalcom();
    const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
    assert.ok(slot);
    const request = toRequest("10", slot);
    const limit = createTimeLimit();
    server.injectFault("POST /bookings", { reply: "hang", creates: isMade, onArrival: limit.runOut });
    const outcome = await system.book(request, limit.signal);
    assert.deepEqual(outcome, { kind: "unknown", upstream: { status: null, requestId: null, failure: "timeout" } });
    assert.equal((await system.findByReference(request, NEVER)).kind, isMade ? "found" : "absent");
  });
}

test("nothing is sent when Cal.com cannot be reached, so the outcome is known", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  await server.stop();
  const request = toRequest("10", slot);
  // Notices that the earlier connection is gone.
  await system.findByReference(request, NEVER);
  const upstream = { status: null, requestId: null, failure: "connection_refused" };
  const outcome = await system.book(request, NEVER);
  assert.deepEqual(outcome, { kind: "unavailable", retryAfterMs: null, upstream });
});

const toSuccess = (data: unknown): FaultInjection => ({ reply: { status: 200, json: { status: "success", data } } });
const UNREADABLE = { status: 200, requestId: CALCOM_REQUEST_ID, failure: "unreadable" };

for (const [name, days] of [
  ["60,000 times of one day", { "2026-11-02": toTimes(60_000, 1_000) }],
  [
    "times on more days than a month has",
    Object.fromEntries(Array.from({ length: 41 }, (_, day) => [`day-${day}`, toTimes(1, 1)])),
  ],
] as const)
  test(`a hostile reply is not read: ${name}`, async () => {
    const { system, server } = await openCalcom();
    await system.listServices(NEVER);
    server.injectFault("GET /slots", toSuccess(days));
    const range = { from: CALCOM_NOW, to: new Date(CALCOM_NOW.getTime() + 86_400_000) };
    const read = await system.listSlots({ serviceId: "10", staffId: null, ...range }, NEVER);
    assert.deepEqual(read, { kind: "unavailable", retryAfterMs: null, upstream: UNREADABLE });
  });

test("times whose end is not after their start are not offered", async () => {
  const { system, server } = await openCalcom();
  await system.listServices(NEVER);
  const start = "2026-11-02T09:00:00.000Z";
  server.injectFault("GET /slots", toSuccess({ "2026-11-02": [{ start, end: start }] }));
  assert.deepEqual(await listWeek(system, { now: CALCOM_NOW, serviceId: "10" }), []);
});

test("a hostile reply is not read: 20,000 event types", async () => {
  const { system, server } = await openCalcom();
  const small = { title: "Check-up", lengthInMinutes: 30, bookingFields: [] };
  server.injectFault("GET /event-types", toSuccess(Array.from({ length: 20_000 }, (_, id) => ({ id, ...small }))));
  const read = await system.listServices(NEVER);
  assert.deepEqual(read, { kind: "unavailable", retryAfterMs: null, upstream: UNREADABLE });
});

test("of many event types, 200 are offered with texts of limited length, and the test says so", async () => {
  const { system, server } = await openCalcom();
  server.hasTeams = false;
  const [first] = eventTypes;
  const many = Array.from({ length: 300 }, (_, id) => ({
    ...first,
    id: 1_000 + id,
    title: "T".repeat(300),
    description: "D".repeat(9_000),
  }));
  server.injectFault("GET /event-types", toSuccess(many));
  const { warnings } = requireFound(await system.verify(NEVER));
  assert.deepEqual(warnings, ["Only the first 200 event types are offered; there are 300."]);
  const services = requireFound(await system.listServices(NEVER));
  assert.equal(services.length, 200);
  assert.deepEqual([services[0]?.name.length, services[0]?.description?.length], [200, 2_000]);
});

for (const [what, change] of [
  ["whose end is before its start", { end: "2026-11-01T00:00:00.000Z" }],
  ["whose id can't be stored", { uid: "u".repeat(1_001) }],
] as const)
  test(`a booking ${what} is not believed`, async () => {
    const { system, server } = await openCalcom();
    const limited = limitSystem(system, SCHEDULER_LIMITS);
    const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
    assert.ok(slot);
    const request = toRequest("10", slot);
    requireBooked(await limited.book(request));
    const [booking] = server.bookings;
    assert.ok(booking);
    Object.assign(booking, change);
    const upstream = { status: null, requestId: null, failure: "unreadable" };
    const unreadable = { kind: "unavailable", retryAfterMs: null, upstream };
    assert.deepEqual(await limited.findByReference(request), unreadable);
    assert.deepEqual(await limited.follow({ ...request, externalId: booking.uid }), unreadable);
    server.injectFault("POST /bookings", { reply: { status: 201, json: { status: "success", data: booking } } });
    assert.deepEqual(await limited.book(request), { kind: "unknown", upstream });
  });

function toTimes(count: number, stepMs: number) {
  const startMs = Date.parse("2026-11-02T00:00:00.000Z");
  return Array.from({ length: count }, (_, n) => ({
    start: new Date(startMs + n * stepMs).toISOString(),
    end: new Date(startMs + (n + 1) * stepMs).toISOString(),
  }));
}
