import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { Reference } from "#contract/ids.ts";
import {
  findCalendlyBooking,
  moveCalendlyBooking,
} from "../../../../test/support/scheduler/calendly/calendly-changes.ts";
import {
  CALENDLY_REQUEST_ID,
  type FaultInjection,
  toError,
} from "../../../../test/support/scheduler/calendly/calendly-server.ts";
import { CALENDLY_NOW, eventTypes } from "../../../../test/support/scheduler/calendly/calendly-world.ts";
import { openCalendly } from "../../../../test/support/scheduler/calendly/open-calendly.ts";
import { testConformance } from "../../../../test/support/scheduler/conformance/conformance.ts";
import {
  type ExternalSubject,
  testExternalConformance,
} from "../../../../test/support/scheduler/conformance/external.ts";
import { createTimeLimit } from "../../../../test/support/scheduler/local-server.ts";
import { listWeek, requireBooked, requireFound, toRequest } from "../../../../test/support/scheduler/requests.ts";
import { until } from "../../../../test/support/until.ts";

const NEVER = new AbortController().signal;
const UPSTREAM = { requestId: CALENDLY_REQUEST_ID, failure: null };
const RATE_LIMIT_WARNING =
  "On paid plans, Calendly accepts at most 10 bookings per minute, 50 per hour and 100 per day from one user.";

async function openSubject(): Promise<ExternalSubject> {
  const { system, server } = await openCalendly();
  const find = (reference: Reference) =>
    server.bookings.find(({ tracking }) => tracking["utm_content"] === reference) ?? assert.fail();
  return {
    system,
    now: CALENDLY_NOW,
    services: {
      plain: "CHECKUP",
      asking: "FIRST",
      choosable: null,
      online: "VIDEO",
      group: null,
      notOffered: ["POLL", "GROUP", "PAID", "CALL", "DAYS", "SECRET"],
    },
    readArrived: async (reference) => {
      const booking = find(reference);
      const [answers, notes] = [booking.questions_and_answers.slice(0, -1), booking.questions_and_answers.at(-1)];
      return {
        name: booking.invitee.name,
        email: booking.invitee.email,
        notes: notes?.answer ?? "",
        answers: Object.fromEntries(answers.map(({ position, answer }) => [`q${position}`, answer])),
      };
    },
    injectBookingFault: (...injections) => server.injectFault("POST /invitees", ...injections),
    toThrottled: (seconds) => ({
      ...toError(429, "Too Many Requests"),
      headers: { "X-RateLimit-Limit": "10", "X-RateLimit-Reset": String(seconds) },
    }),
    toRejected: (request) => {
      server.injectFault("POST /invitees", {
        reply: toError(400, "Invalid Argument", [{ parameter: "invitee.email" }]),
      });
      return request;
    },
    spoilLinks: (reference) => {
      find(reference).links = "http";
    },
    withdraw: (serviceId) => void server.withdrawn.add(serviceId),
    countAppointments: () => server.bookings.length,
    cancelThere: async (reference) => {
      findCalendlyBooking(server.bookings, reference).status = "canceled";
    },
    moveThere: async (reference, startAt) => {
      moveCalendlyBooking(server.bookings, findCalendlyBooking(server.bookings, reference), startAt);
    },
  };
}

testConformance("Calendly", openSubject);
testExternalConformance("Calendly", openSubject);

test("the connection's test says which event types are not offered, and explains Calendly's limits", async () => {
  const { system } = await openCalendly();
  assert.deepEqual(requireFound(await system.verify(NEVER)), {
    businessName: "Lindenhof Dental",
    timeZone: "Europe/Berlin",
    bookingUrl: "https://calendly.com/lindenhof",
    warnings: [
      "“Vote” is not offered: it is a poll.",
      "“Class” is not offered: it is for groups.",
      "“Paid” is not offered: it requires payment.",
      "“Call back” is not offered: it asks visitors for the location.",
      "“Pick days” is not offered: a required question has an unsupported type (Which days?).",
      "“Bare” has no optional text question, so customers' notes don't reach Calendly.",
      RATE_LIMIT_WARNING,
    ],
  });
  const offered = requireFound(await system.listServices(NEVER));
  assert.deepEqual(
    offered.map(({ id }) => id),
    ["CHECKUP", "VIDEO", "FIRST", "ANY", "BARE"],
  );
});

test("event types shared with colleagues are offered only to admins, who can find their bookings", async () => {
  const { system, server } = await openCalendly();
  const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "ANY" });
  assert.ok(slot);
  const request = toRequest("ANY", slot);
  const booked = requireBooked(await system.book(request, NEVER));
  assert.deepEqual(await system.findByReference(request, NEVER), { kind: "found", value: booked });

  server.isAdmin = false;
  const { warnings } = requireFound(await system.verify(NEVER));
  assert.ok(warnings.includes("“Any dentist” is not offered: the token's user is not an admin of the organization."));
  assert.equal((await system.listServices(NEVER)).kind, "found");
  assert.deepEqual((await system.findByReference(request, NEVER)).kind, "refused");
});

test("a booking has its host, links to reschedule and to cancel, and a link to the call", async () => {
  const { system } = await openCalendly();
  const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "VIDEO" });
  assert.ok(slot);
  assert.deepEqual(requireBooked(await system.book(toRequest("VIDEO", slot), NEVER)), {
    externalId: "event-1",
    startAt: slot.startAt,
    endAt: slot.endAt,
    service: { id: "VIDEO", name: "Video call" },
    staff: [{ id: "USER1", name: "Lindenhof Dental" }],
    manageUrl: "https://calendly.com/reschedulings/invitee-event-1",
    cancelUrl: "https://calendly.com/cancellations/invitee-event-1",
    joinUrl: "https://zoom.example/j/event-1",
  });
});

test("an event type without questions and location is booked, and found by its reference", async () => {
  const { system } = await openCalendly();
  const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "BARE" });
  assert.ok(slot);
  const request = toRequest("BARE", slot);
  requireBooked(await system.book(request, NEVER));
  assert.equal((await system.findByReference(request, NEVER)).kind, "found");
});

test("a booking whose event cannot be read afterwards is still booked", async () => {
  const { system, server } = await openCalendly();
  const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "CHECKUP" });
  assert.ok(slot);
  server.injectFault("GET /scheduled_events", { reply: { status: 503 } });
  const booked = requireBooked(await system.book(toRequest("CHECKUP", slot), NEVER));
  assert.deepEqual([booked.endAt, booked.staff, booked.joinUrl], [slot.endAt, [], null]);
});

async function openWithTenBookings() {
  const opened = await openCalendly();
  const slots = await listWeek(opened.system, { now: CALENDLY_NOW, serviceId: "CHECKUP" });
  const requests = slots.slice(0, 11).map((slot) => toRequest("CHECKUP", slot));
  for (const request of requests.slice(0, 10)) requireBooked(await opened.system.book(request, NEVER));
  const [eleventh] = requests.slice(10);
  assert.ok(eleventh);
  return { ...opened, eleventh };
}

test("the eleventh booking within a minute is not sent, and the wait is known", async () => {
  const { system, server, clock, eleventh } = await openWithTenBookings();
  const sentBefore = server.requests.length;
  clock.set(new Date(CALENDLY_NOW.getTime() + 20_000));
  assert.deepEqual(await system.book(eleventh, NEVER), {
    kind: "unavailable",
    retryAfterMs: 40_000,
    upstream: null,
  });
  assert.equal(server.requests.length, sentBefore);
  clock.set(new Date(CALENDLY_NOW.getTime() + MINUTE_MS));
  server.now = clock.now();
  requireBooked(await system.book(eleventh, NEVER));
});

test("a booking that waits for Calendly's limit is sent even if its timer fires a millisecond early", async () => {
  const { system, server, clock, eleventh } = await openWithTenBookings();
  const freeAtMs = CALENDLY_NOW.getTime() + MINUTE_MS;
  server.now = new Date(freeAtMs);
  // Whoever has waited for the time that is left finds that a millisecond of it is still left.
  let leftMs = 20;
  clock.now = () => {
    const now = new Date(freeAtMs - leftMs);
    leftMs = leftMs > 1 ? 1 : 0;
    return now;
  };
  requireBooked(await system.book(eleventh, NEVER));
});

test("a booking that waits for Calendly's limit is not sent if the visitor leaves", async () => {
  const { system, server, clock, eleventh } = await openWithTenBookings();
  const sentBefore = server.requests.length;
  clock.set(new Date(CALENDLY_NOW.getTime() + MINUTE_MS - 2_000));
  const leaver = new AbortController();
  const outcome = system.book(eleventh, leaver.signal);
  await until(() => getEventListeners(leaver.signal, "abort").length > 0, "it waits");
  leaver.abort();
  assert.deepEqual(await outcome, { kind: "unavailable", retryAfterMs: 2_000, upstream: null });
  assert.equal(server.requests.length, sentBefore);
});

const BOOK_CASES: readonly { name: string; injection: FaultInjection; outcome: unknown; isMade?: boolean }[] = [
  {
    name: "400 already_filled in the details: taken",
    injection: { reply: toError(400, "Invalid Argument", [{ code: "already_filled" }]) },
    outcome: { kind: "slot_taken" },
  },
  {
    name: "400 already_filled at the top: taken",
    injection: { reply: { status: 400, json: { code: "already_filled", message: "The slot is fully booked." } } },
    outcome: { kind: "slot_taken" },
  },
  {
    name: "400 for another reason, the time still free: refused",
    injection: { reply: toError(400, "Invalid Argument", [{ parameter: "invitee.email" }]) },
    outcome: { kind: "refused", reason: "invalid", upstream: { status: 400, ...UPSTREAM } },
  },
  {
    name: "403: the token lacks the scope",
    injection: { reply: toError(403, "Permission Denied") },
    outcome: { kind: "refused", reason: "credentials", upstream: { status: 403, ...UPSTREAM } },
  },
  {
    name: "404: the event type is gone",
    injection: { reply: toError(404, "Resource Not Found") },
    outcome: { kind: "refused", reason: "not_found", upstream: { status: 404, ...UPSTREAM } },
  },
  {
    name: "already filled because of our own request: booked",
    injection: { reply: toError(400, "Invalid Argument", [{ code: "already_filled" }]), creates: true },
    outcome: "booked",
    isMade: true,
  },
  {
    name: "409 because of our own request: booked",
    injection: { reply: toError(409, "Conflict"), creates: true },
    outcome: "booked",
    isMade: true,
  },
  {
    name: "409 and no booking: taken",
    injection: { reply: toError(409, "Conflict") },
    outcome: { kind: "slot_taken" },
  },
  {
    name: "500, but the booking exists: booked",
    injection: { reply: toError(500, "Internal Server Error"), creates: true },
    outcome: "booked",
    isMade: true,
  },
  {
    name: "500 and no booking: unavailable",
    injection: { reply: toError(500, "Internal Server Error") },
    outcome: { kind: "unavailable", retryAfterMs: null, upstream: { status: 500, ...UPSTREAM } },
  },
  {
    name: "502 and no booking yet: unknown",
    injection: { reply: { status: 502, text: "<html>Bad gateway</html>" } },
    outcome: { kind: "unknown", upstream: { status: 502, ...UPSTREAM } },
  },
  {
    name: "201 with an unexpected body: unknown",
    injection: { reply: { status: 201, json: {} }, creates: true },
    outcome: { kind: "unknown", upstream: { status: 201, requestId: CALENDLY_REQUEST_ID, failure: "unreadable" } },
    isMade: true,
  },
  {
    name: "the connection breaks, though the booking was made: unknown",
    injection: { reply: "reset", creates: true },
    outcome: { kind: "unknown", upstream: { status: null, requestId: null, failure: "connection_reset" } },
    isMade: true,
  },
];
for (const { name, injection, outcome, isMade = false } of BOOK_CASES) {
  test(`booking at Calendly: ${name}`, async () => {
    const { system, server } = await openCalendly();
    const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "CHECKUP" });
    assert.ok(slot);
    const request = toRequest("CHECKUP", slot);
    server.injectFault("POST /invitees", injection);
    const given = await system.book(request, NEVER);
    if (outcome === "booked") requireBooked(given);
    else assert.deepEqual(given, outcome);
    assert.equal((await system.findByReference(request, NEVER)).kind, isMade ? "found" : "absent");
    assert.equal(server.bookings.length, isMade ? 1 : 0);
  });
}

test("a 404 from Calendly for a time that is gone means that it was taken", async () => {
  const { system, server } = await openCalendly();
  const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "CHECKUP" });
  assert.ok(slot);
  requireBooked(await system.book(toRequest("CHECKUP", slot), NEVER));
  server.injectFault("POST /invitees", { reply: toError(404, "Resource Not Found") });
  assert.deepEqual(await system.book(toRequest("CHECKUP", slot), NEVER), { kind: "slot_taken" });
});

test("a round robin is booked without a location, because each host has their own", async () => {
  const { system, server } = await openCalendly();
  const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "ANY" });
  assert.ok(slot);
  requireBooked(await system.book(toRequest("ANY", slot), NEVER));
  const sent = server.requests.find(({ method }) => method === "POST");
  assert.equal("location" in JSON.parse(sent?.body ?? ""), false);
});

test("after a 409 from Calendly, which then can't be queried, the outcome is unknown", async () => {
  const { system, server } = await openCalendly();
  const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "CHECKUP" });
  assert.ok(slot);
  server.injectFault("POST /invitees", { reply: toError(409, "Conflict"), creates: true });
  server.injectFault("GET /scheduled_events", { reply: { status: 503 } });
  const outcome = await system.book(toRequest("CHECKUP", slot), NEVER);
  assert.deepEqual(outcome, { kind: "unknown", upstream: { status: 409, ...UPSTREAM } });
});

test("a timeout while Calendly is silent has an unknown outcome, and the booking is found later", async () => {
  const { system, server } = await openCalendly();
  const [slot] = await listWeek(system, { now: CALENDLY_NOW, serviceId: "CHECKUP" });
  assert.ok(slot);
  const request = toRequest("CHECKUP", slot);
  const limit = createTimeLimit();
  server.injectFault("POST /invitees", { reply: "hang", creates: true, onArrival: limit.runOut });
  const outcome = await system.book(request, limit.signal);
  assert.deepEqual(outcome, { kind: "unknown", upstream: { status: null, requestId: null, failure: "timeout" } });
  assert.equal((await system.findByReference(request, NEVER)).kind, "found");
});

test("available times that no event type has are refused", async () => {
  const { system, server } = await openCalendly();
  const range = { from: CALENDLY_NOW, to: new Date(CALENDLY_NOW.getTime() + DAY_MS) };
  const collection = Array.from({ length: 200_000 }, () => ({ start_time: "" }));
  server.injectFault("GET /event_type_available_times", { reply: { status: 200, json: { collection } } });
  const read = await system.listSlots({ serviceId: "CHECKUP", staffId: null, ...range }, NEVER);
  assert.ok(read.kind === "unavailable", read.kind);
  assert.equal(read.upstream?.failure, "unreadable");
});

test("an event type that would end after the last possible date is unreadable", async () => {
  const { system, server } = await openCalendly();
  const collection = [{ ...eventTypes[0], duration: 1e300 }];
  server.injectFault("GET /event_types", { reply: { status: 200, json: { collection } } });
  const read = await system.listServices(NEVER);
  assert.ok(read.kind === "unavailable", read.kind);
  assert.equal(read.upstream?.failure, "unreadable");
});
