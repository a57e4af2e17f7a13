import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { Reference } from "#contract/ids.ts";
import { testConformance } from "../../../../test/support/scheduler/conformance/conformance.ts";
import {
  type ExternalSubject,
  testExternalConformance,
} from "../../../../test/support/scheduler/conformance/external.ts";
import { changeThere } from "../../../../test/support/scheduler/graph/graph-appointments.ts";
import {
  business,
  GRAPH_NOW,
  PRACTICE,
  REMINDERS,
  services,
} from "../../../../test/support/scheduler/graph/graph-world.ts";
import { openGraph } from "../../../../test/support/scheduler/graph/open-graph.ts";
import { listWeek, requireBooked, requireFound, toRequest } from "../../../../test/support/scheduler/requests.ts";
import type { Slot } from "../scheduling-system.ts";

const NEVER = new AbortController().signal;

async function openSubject(): Promise<ExternalSubject> {
  const { system, server } = await openGraph();
  const find = (reference: Reference) =>
    server.appointments.find(({ serviceNotes }) => serviceNotes === reference) ?? assert.fail();
  return {
    system,
    now: GRAPH_NOW,
    services: {
      plain: "check-up",
      asking: "first",
      choosable: "choose",
      online: "online",
      group: { id: "group", seatCount: 3 },
      notOffered: ["hidden"],
    },
    readArrived: async (reference) => {
      const [customer] = find(reference).customers;
      assert.ok(customer);
      return {
        name: customer.name,
        email: customer.emailAddress,
        notes: customer.notes,
        answers: Object.fromEntries(customer.customQuestionAnswers.map((given) => [given.questionId, given.answer])),
      };
    },
    injectBookingFault: (...injections) => server.injectFault("POST /appointments", ...injections),
    toThrottled: (seconds) => ({ status: 429, headers: { "Retry-After": String(seconds) } }),
    toRejected: (request) => {
      const reply = { status: 400, json: { error: { code: "ErrorInvalidArgument", message: "Invalid Customer" } } };
      // Sent with staff, and once more without.
      server.injectFault("POST /appointments", { reply }, { reply });
      return request;
    },
    spoilLinks: (reference) => {
      const links = { anonymousJoinWebUrl: "javascript:alert(1)", joinWebUrl: "http://teams.example" };
      Object.assign(find(reference), links);
    },
    withdraw: (serviceId) => void server.withdrawn.add(serviceId),
    countAppointments: () => server.appointments.length,
    cancelThere: async (reference) => changeThere(server.appointments, reference, "cancel"),
    moveThere: async (reference, startAt) => changeThere(server.appointments, reference, startAt),
  };
}

testConformance("Microsoft Bookings", openSubject);
testExternalConformance("Microsoft Bookings", openSubject);

test("the connection's test shows the business, its zone from Microsoft's name, its page, and what to know", async () => {
  const { system } = await openGraph();
  assert.deepEqual(requireFound(await system.verify(NEVER)), {
    businessName: "Lindenhof Dental",
    timeZone: "Europe/Berlin",
    bookingUrl: "https://outlook.office365.com/owa/calendar/lindenhof@example.com/bookings/",
    warnings: ["“Class” is a group service: up to 3 customers can book the same time."],
  });
});

test("services hidden from customers are not offered; questions come from the service itself", async () => {
  const { system } = await openGraph();
  const offered = requireFound(await system.listServices(NEVER));
  assert.deepEqual(
    offered.map(({ id }) => id),
    ["check-up", "choose", "online", "first", "group", "fridays", "fair"],
  );
  assert.deepEqual(offered[3], {
    id: "first",
    name: "First visit",
    description: null,
    durationMinutes: 60,
    isOnline: false,
    staff: [],
    staffSelectable: false,
    questions: [
      { id: "q-what", label: "What is it about?", type: "text", options: [], required: true },
      { id: "q-pain", label: "Does it hurt?", type: "choice", options: ["Yes", "No"], required: false },
    ],
  });
});

test("services are offered without questions when Graph doesn't let applications read them", async () => {
  const { system, server } = await openGraph();
  server.injectFault("GET /customQuestions", { reply: { status: 403, json: {} } });
  const offered = requireFound(await system.listServices(NEVER));
  assert.deepEqual(offered.find(({ id }) => id === "first")?.questions, []);
});

test("availability intervals become slots within business hours, on the policy's grid", async () => {
  const { system, server } = await openGraph();
  server.busy.push({ staffId: "s-ada", start: "2026-11-02T09:10:00.0000000", end: "2026-11-02T10:00:00.0000000" });
  const slots = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  // Berlin opens at 08:00 UTC; Ada is busy from 09:10 to 10:00.
  assert.deepEqual(toTimes(slots).slice(0, 4), [
    "2026-11-02T08:00:00.000Z",
    "2026-11-02T08:30:00.000Z",
    "2026-11-02T10:00:00.000Z",
    "2026-11-02T10:30:00.000Z",
  ]);
  assert.equal(toTimes(slots).at(-1), "2026-11-06T15:30:00.000Z");
});

test("a buffer after the appointment must be free too, even after one in the calendar", async () => {
  const { system, server } = await openGraph();
  server.busy.push({ staffId: "s-ada", start: "2026-11-02T09:10:00.0000000", end: "2026-11-02T10:00:00.0000000" });
  const slots = await listWeek(system, { now: GRAPH_NOW, serviceId: "first" });
  // From 08:00 it would take until 09:15 including its buffer.
  assert.equal(toTimes(slots)[0], "2026-11-02T10:00:00.000Z");
  const answers = [{ questionId: "q-what", question: "What is it about?", answer: "Teeth" }];
  const [first] = slots;
  assert.ok(first);
  requireBooked(await system.book({ ...toRequest("first", first), answers }, NEVER));
  const after = toTimes(await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" }));
  assert.equal(after.includes("2026-11-02T11:00:00.000Z"), false);
  assert.ok(after.includes("2026-11-02T11:30:00.000Z"));
  const tooEarly = { ...first, startAt: new Date("2026-11-02T11:00:00.000Z") };
  assert.deepEqual(await system.book(toRequest("check-up", tooEarly), NEVER), { kind: "slot_taken" });
});

test("nothing is offered before the lead time or beyond the maximum advance", async () => {
  const { system, clock } = await openGraph();
  clock.set(new Date("2026-11-02T09:15:00.000Z"));
  const [first] = await listWeek(system, { now: clock.now(), serviceId: "check-up" });
  assert.equal(first?.startAt.toISOString(), "2026-11-02T10:30:00.000Z");
  const range = { from: new Date("2026-12-20T00:00:00.000Z"), to: new Date("2027-01-19T00:00:00.000Z") };
  const far = requireFound(await system.listSlots({ serviceId: "check-up", staffId: null, ...range }, NEVER));
  assert.equal(toTimes(far).at(-1), "2027-01-01T09:00:00.000Z");
});

test("a service has only times in its own weekly hours, within those of the business", async () => {
  const { system } = await openGraph();
  const range = { from: GRAPH_NOW, to: new Date(GRAPH_NOW.getTime() + 21 * DAY_MS) };
  const slots = requireFound(await system.listSlots({ serviceId: "fridays", staffId: null, ...range }, NEVER));
  // The business is closed on Saturdays, and the service can't be booked on 13 November.
  assert.deepEqual(toTimes(slots), [
    "2026-11-06T09:15:00.000Z",
    "2026-11-06T09:45:00.000Z",
    "2026-11-06T10:15:00.000Z",
    "2026-11-20T09:15:00.000Z",
    "2026-11-20T09:45:00.000Z",
    "2026-11-20T10:15:00.000Z",
  ]);
});

test("a service bookable only on certain days has no other times", async () => {
  const { system } = await openGraph();
  const slots = await listWeek(system, { now: GRAPH_NOW, serviceId: "fair" });
  assert.deepEqual([...new Set(toTimes(slots).map((time) => time.slice(0, 10)))], ["2026-11-04", "2026-11-05"]);
  const never = { startAt: new Date("2026-11-03T09:00:00.000Z"), endAt: GRAPH_NOW, staffIds: [] };
  assert.deepEqual(await system.book(toRequest("fair", never), NEVER), { kind: "slot_taken" });
});

test("an appointment gets the service's buffers, location, reminders and self-service rule", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "first" });
  assert.ok(slot);
  const answers = [{ questionId: "q-what", question: "What is it about?", answer: "Teeth" }];
  requireBooked(await system.book({ ...toRequest("first", slot), answers }, NEVER));
  const [made] = server.appointments;
  assert.deepEqual(
    [made?.postBuffer, made?.serviceLocation, made?.reminders, made?.isCustomerAllowedToManageBooking],
    ["PT15M", PRACTICE, REMINDERS, false],
  );
});

test("an appointment always names a free staff member, even if the visitor cannot choose", async () => {
  const { system, server } = await openGraph();
  server.busy.push({ staffId: "s-ada", start: "2026-11-02T08:00:00.0000000", end: "2026-11-02T09:00:00.0000000" });
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "choose" });
  assert.ok(slot);
  for (const serviceId of ["choose", "online"]) {
    const [free] = await listWeek(system, { now: GRAPH_NOW, serviceId });
    assert.ok(free);
    requireBooked(await system.book(toRequest(serviceId, free), NEVER));
  }
  assert.deepEqual(
    server.appointments.map(({ staffMemberIds }) => staffMemberIds),
    [["s-ben"], ["s-ben"]],
  );
});

test("when Graph rejects staff for a service that doesn't allow choosing, the appointment is made without", async () => {
  const { system, server } = await openGraph();
  server.staffRule = "only_if_selectable";
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  requireBooked(await system.book(toRequest("check-up", slot), NEVER));
  assert.equal(server.appointments.length, 1);
  const left = toTimes(await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" }));
  assert.equal(
    left.includes(slot.startAt.toISOString()),
    false,
    "the time is taken although the appointment has no staff",
  );
});

test("throttled requests are retried, and the visitor notices nothing", async () => {
  const { system, server } = await openGraph();
  server.throttledCount = 2;
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  server.throttledCount = 3;
  requireBooked(await system.book(toRequest("check-up", slot), NEVER));
  assert.equal(server.appointments.length, 1);
});

test("many simultaneous visitors never cause more than four requests at once", async () => {
  const { system } = await openGraph();
  const weeks = await Promise.all(
    Array.from({ length: 12 }, () => listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" })),
  );
  assert.ok(weeks.every(({ length }) => length > 0));
});

test("without permission to cancel, an appointment is deleted", async () => {
  const { system, server } = await openGraph();
  server.canCancel = false;
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  const request = toRequest("check-up", slot);
  const { externalId } = requireBooked(await system.book(request, NEVER));
  assert.equal(requireFound(await system.cancel({ externalId, reference: request.reference }, NEVER)), "canceled");
  assert.deepEqual(server.appointments, []);
});

test("a group service is booked with a customer created for it, who is used again by email address", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "group" });
  assert.ok(slot);
  const book = async (email: string) => {
    const request = toRequest("group", slot);
    requireBooked(await system.book({ ...request, customer: { ...request.customer, email } }, NEVER));
    return request.reference;
  };
  const references = [
    await book("pat.o'hara@example.com"),
    await book("pat.o'hara@example.com"),
    await book("x@example.com"),
  ];
  assert.deepEqual(
    server.appointments.map(({ customers }) => customers[0]?.customerId),
    ["customer-1", "customer-1", "customer-2"],
  );
  // Graph keeps the notes of a new customer only, so the staff get them.
  assert.deepEqual(
    server.appointments.map(({ serviceNotes }) => serviceNotes),
    references.map((reference) => `Please ring twice\n${reference}`),
  );
});

test("a customer is created if customers can't be searched, and nothing is booked if Graph doesn't answer", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "group" });
  assert.ok(slot);
  server.injectFault("GET /customers", { reply: { status: 503 } });
  assert.equal((await system.book(toRequest("group", slot), NEVER)).kind, "unavailable");
  assert.equal(server.appointments.length, 0);
  server.injectFault("GET /customers", { reply: { status: 400, json: {} } });
  requireBooked(await system.book(toRequest("group", slot), NEVER));
});

test("the service's own information stays in the customer's email, followed by the reference", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "first" });
  assert.ok(slot);
  const request = toRequest("first", slot);
  const answers = [{ questionId: "q-what", question: "What is it about?", answer: "Tooth" }];
  requireBooked(await system.book({ ...request, answers }, NEVER));
  assert.equal(
    server.appointments[0]?.additionalInformation,
    `Please bring your insurance card.\n\nReference ${request.reference}`,
  );
});

for (const [timeZone, expected] of [
  ["Europe/Prague", "Central Europe Standard Time"],
  ["Asia/Kolkata", "India Standard Time"],
  ["America/Los_Angeles", "Pacific Standard Time"],
  ["UTC", "UTC"],
  ["Etc/GMT+3", "SA Eastern Standard Time"],
  // Windows has no such zone: that of the business is sent.
  ["Antarctica/Troll", "W. Europe Standard Time"],
] as const)
  test(`a customer's time zone is sent as Windows names it: ${timeZone}`, async () => {
    const { system, server } = await openGraph();
    const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
    assert.ok(slot);
    const request = toRequest("check-up", slot);
    requireBooked(await system.book({ ...request, customer: { ...request.customer, timeZone } }, NEVER));
    assert.equal(server.appointments[0]?.customers[0]?.timeZone, expected);
  });

test("an appointment whose times are called start and end is understood", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  const request = toRequest("check-up", slot);
  const booked = requireBooked(await system.book(request, NEVER));
  const [made] = server.appointments;
  assert.ok(made);
  const { startDateTime: start, endDateTime: end, ...rest } = made;
  const short = { ...rest, start, end };
  server.injectFault("GET /calendarView", { reply: { status: 200, json: { value: [short] } } });
  server.injectFault("GET /appointments", { reply: { status: 200, json: short } });
  assert.deepEqual(await system.findByReference(request, NEVER), { kind: "found", value: booked });
});

test("a group of one service can't be joined by another service, nor by a class that begins at another time", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "group" });
  assert.ok(slot);
  requireBooked(await system.book(toRequest("group", slot), NEVER));
  const online = toTimes(await listWeek(system, { now: GRAPH_NOW, serviceId: "online" }));
  assert.equal(online.includes(slot.startAt.toISOString()), false);
  const [made] = server.appointments;
  assert.ok(made);
  // Moved by hand: it now overlaps two times of the grid.
  const move = (time: { dateTime: string; timeZone: string }) => ({
    ...time,
    dateTime: time.dateTime.replace(":00:00.", ":15:00.").replace(":30:00.", ":45:00."),
  });
  Object.assign(made, { startDateTime: move(made.startDateTime), endDateTime: move(made.endDateTime) });
  const left = toTimes(await listWeek(system, { now: GRAPH_NOW, serviceId: "group" }));
  assert.equal(left[0], "2026-11-02T09:00:00.000Z");
});

test("seats that were taken on Microsoft's own page count", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "group" });
  assert.ok(slot);
  requireBooked(await system.book(toRequest("group", slot), NEVER));
  Object.assign(server.appointments[0] ?? assert.fail(), { filledAttendeesCount: 2 });
  const outcomes = await Promise.all([0, 1].map(() => system.book(toRequest("group", slot), NEVER)));
  assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["booked", "slot_taken"]);
});

test("an appointment has no manage link, whatever selfServiceAppointmentId says", async () => {
  const { system } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "online" });
  assert.ok(slot);
  const booked = requireBooked(await system.book(toRequest("online", slot), NEVER));
  assert.deepEqual(booked, {
    externalId: "appointment-1",
    startAt: slot.startAt,
    endAt: slot.endAt,
    service: { id: "online", name: "Video call" },
    staff: [{ id: "s-ben", name: "Ben Sommer" }],
    manageUrl: null,
    joinUrl: "https://teams.example/anonymous",
  });
});

test("one token is shared until shortly before it expires", async () => {
  const { system, server, clock } = await openGraph();
  const countTokens = () => server.requests.filter(({ path }) => path.endsWith("/token")).length;
  await Promise.all(Array.from({ length: 10 }, () => system.listServices(NEVER)));
  assert.equal(countTokens(), 1);
  clock.set(new Date(GRAPH_NOW.getTime() + (3599 - 301) * 1_000));
  await system.listServices(NEVER);
  assert.equal(countTokens(), 1);
  clock.set(new Date(GRAPH_NOW.getTime() + (3599 - 299) * 1_000));
  await system.verify(NEVER);
  assert.equal(countTokens(), 2);
});

test("a revoked token is replaced, and the request is sent once more", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  server.injectFault("POST /appointments", { reply: { status: 401, json: {} } });
  requireBooked(await system.book(toRequest("check-up", slot), NEVER));
  assert.equal(server.appointments.length, 1);
});

test("services are requested once a minute", async () => {
  const { system, server, clock } = await openGraph();
  const count = () => server.requests.filter(({ path }) => path.endsWith("/staffMembers")).length;
  await system.listServices(NEVER);
  await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.equal(count(), 1);
  clock.set(new Date(GRAPH_NOW.getTime() + MINUTE_MS));
  await system.listServices(NEVER);
  assert.equal(count(), 2);
});

test("paging links are followed only to Graph: the token is not sent to another host", async () => {
  const { system, server } = await openGraph();
  const elsewhere = { value: [], "@odata.nextLink": "http://127.0.0.1:1/v1.0/stolen" };
  server.injectFault("GET /staffMembers", { reply: { status: 200, json: elsewhere } });
  const upstream = { status: null, requestId: null, failure: "unreadable" };
  assert.deepEqual(await system.listServices(NEVER), { kind: "unavailable", retryAfterMs: null, upstream });
});

test("an incomplete search does not report an appointment as missing", async () => {
  const { system, server } = await openGraph();
  const [slot] = await listWeek(system, { now: GRAPH_NOW, serviceId: "check-up" });
  assert.ok(slot);
  const request = toRequest("check-up", slot);
  requireBooked(await system.book(request, NEVER));
  const [made] = server.appointments;
  assert.ok(made);
  const sought = { ...request, reference: "SVC-222222" as typeof request.reference };
  assert.deepEqual(await system.findByReference(sought, NEVER), { kind: "absent" });

  // More appointments for one service at one time than are read one by one.
  for (let n = 2; n <= 21; n++) server.appointments.push({ ...made, id: `appointment-${n}` });
  assert.equal((await system.findByReference(sought, NEVER)).kind, "unavailable");

  // More pages than are read.
  server.appointments.length = 1;
  const next = `${server.parts.settings.graphUrl}/solutions/bookingBusinesses/${server.parts.settings.businessId}/calendarView`;
  const page = { reply: { status: 200, json: { value: [], "@odata.nextLink": next } } };
  server.injectFault("GET /calendarView", ...Array.from({ length: 20 }, () => page));
  assert.equal((await system.findByReference(sought, NEVER)).kind, "unavailable");
});

test("lists that no business has are refused", async () => {
  const { system, server } = await openGraph();
  requireFound(await system.listServices(NEVER));
  const range = { from: GRAPH_NOW, to: new Date(GRAPH_NOW.getTime() + 7 * DAY_MS) };
  const time = (n: number) => ({ dateTime: new Date(GRAPH_NOW.getTime() + n * 1_000).toISOString(), timeZone: "UTC" });
  const appointment = (n: number) => ({
    id: `a${n}`,
    startDateTime: time(n * 20),
    endDateTime: time(n * 20 + 10),
    staffMemberIds: ["s-ada"],
  });
  const items = Array.from({ length: 20_000 }, (_, n) => ({
    status: n % 2 === 0 ? "available" : "busy",
    startDateTime: time(n * 30),
    endDateTime: time(n * 30 + 29),
  }));
  server.injectFault("POST /getStaffAvailability", {
    reply: { status: 200, json: { value: [{ staffId: "s-ada", availabilityItems: items }] } },
  });
  server.injectFault("GET /calendarView", {
    reply: { status: 200, json: { value: Array.from({ length: 15_000 }, (_, n) => appointment(n)) } },
  });
  const read = await system.listSlots({ serviceId: "check-up", staffId: null, ...range }, NEVER);
  assert.equal(read.kind, "found");
  server.injectFault("GET /calendarView", {
    reply: { status: 200, json: { value: Array.from({ length: 20_001 }, (_, n) => appointment(n)) } },
  });
  assert.equal((await system.listSlots({ serviceId: "check-up", staffId: null, ...range }, NEVER)).kind, "unavailable");
});

for (const [startTime, endTime] of [
  ["25:00:00", "26:00:00"],
  ["09:00:00", "24:00:00"],
  ["nine", ""],
] as const) {
  test(`opening hours from “${startTime}” to “${endTime}” are unreadable, and nothing throws`, async () => {
    const { system, server } = await openGraph();
    const businessHours = [{ day: "monday", timeSlots: [{ startTime, endTime }] }];
    server.injectFault("GET /", { reply: { status: 200, json: { ...business, businessHours } } });
    const range = { from: GRAPH_NOW, to: new Date(GRAPH_NOW.getTime() + DAY_MS) };
    const read = await system.listSlots({ serviceId: "check-up", staffId: null, ...range }, NEVER);
    assert.ok(read.kind === "unavailable", read.kind);
    assert.equal(read.upstream?.failure, "unreadable");
  });
}

for (const change of [
  { defaultDuration: "PT99999999999H" },
  { preBuffer: "PT99999999999H" },
  { postBuffer: "P99999999D" },
]) {
  test(`available times of a service with ${JSON.stringify(change)} can be read, and nothing throws`, async () => {
    const { system, server } = await openGraph();
    const service = { ...services[0], ...change };
    const responses = [{ value: [service] }, service].map((json) => ({ reply: { status: 200, json } }));
    server.injectFault("GET /services", ...responses);
    const range = { from: GRAPH_NOW, to: new Date(GRAPH_NOW.getTime() + 2 * DAY_MS) };
    const read = await system.listSlots({ serviceId: "check-up", staffId: null, ...range }, NEVER);
    assert.equal(read.kind, "found");
  });
}

test("times in an unknown zone are not guessed", async () => {
  const { system, server } = await openGraph();
  const time = (dateTime: string) => ({ dateTime, timeZone: "(UTC-07:00) Mars, Olympus" });
  const item = {
    status: "available",
    startDateTime: time("2026-11-02T00:00:00"),
    endDateTime: time("2026-11-03T00:00:00"),
  };
  server.injectFault("POST /getStaffAvailability", {
    reply: { status: 200, json: { value: [{ staffId: "s-ada", availabilityItems: [item] }] } },
  });
  const range = { from: GRAPH_NOW, to: new Date(GRAPH_NOW.getTime() + DAY_MS) };
  const read = await system.listSlots({ serviceId: "check-up", staffId: null, ...range }, NEVER);
  assert.equal(read.kind, "unavailable");
});

function toTimes(slots: readonly Slot[]): string[] {
  return slots.map(({ startAt }) => startAt.toISOString());
}
