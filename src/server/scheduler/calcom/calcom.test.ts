import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { Reference } from "#contract/ids.ts";
import { createTestClock } from "../../../../test/support/app/app.ts";
import {
  cancelCalcomBooking,
  findCalcomBooking,
  moveCalcomBooking,
} from "../../../../test/support/scheduler/calcom/calcom-changes.ts";
import { toError } from "../../../../test/support/scheduler/calcom/calcom-error.ts";
import { BLOCKED_EMAIL, INVALID_PHONE } from "../../../../test/support/scheduler/calcom/calcom-refusals.ts";
import { CALCOM_REQUEST_ID } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { CALCOM_NOW } from "../../../../test/support/scheduler/calcom/calcom-world.ts";
import { openCalcom } from "../../../../test/support/scheduler/calcom/open-calcom.ts";
import { testConformance } from "../../../../test/support/scheduler/conformance/conformance.ts";
import {
  type ExternalSubject,
  testExternalConformance,
} from "../../../../test/support/scheduler/conformance/external.ts";
import { listWeek, requireBooked, requireFound, toRequest } from "../../../../test/support/scheduler/requests.ts";
import { RequestBudget } from "../request-budget.ts";
import type { Read } from "../scheduling-system.ts";
import { HiddenQuestions } from "./hidden-questions.ts";

const NEVER = new AbortController().signal;
const UPSTREAM = { requestId: CALCOM_REQUEST_ID, failure: null };

async function openSubject(): Promise<ExternalSubject> {
  const { system, server } = await openCalcom();
  const find = (reference: Reference) =>
    server.bookings.find(({ metadata }) => metadata["reference"] === reference) ?? assert.fail();
  return {
    system,
    now: CALCOM_NOW,
    services: {
      plain: "10",
      asking: "12",
      choosable: null,
      online: "11",
      group: null,
      notOffered: ["20", "21", "22", "23", "26", "27", "28", "29", "30", "31", "34", "50", "90"],
    },
    booksAnyMinute: true,
    readArrived: async (reference) => {
      const booking = find(reference);
      const { notes, ...responses } = booking.bookingFieldsResponses;
      const answers = Object.fromEntries(
        Object.entries(responses).map(([slug, answer]) => [slug, [answer].flat().join("\n")]),
      );
      const [attendee] = booking.attendees;
      return { name: attendee?.name ?? "", email: attendee?.email ?? "", notes: String(notes), answers };
    },
    injectBookingFault: (...injections) => server.injectFault("POST /bookings", ...injections),
    toThrottled: (seconds) => ({
      ...toError(429, "ThrottlerException", "Too many requests"),
      headers: { "X-RateLimit-Reset-Default": String(seconds) },
    }),
    toRejected: (request) => ({ ...request, customer: { ...request.customer, email: BLOCKED_EMAIL } }),
    spoilLinks: (reference) => {
      find(reference).location = "javascript:alert(1)";
    },
    withdraw: (serviceId) => void server.withdrawn.add(serviceId),
    countAppointments: () => server.bookings.length,
    cancelThere: async (reference) => {
      cancelCalcomBooking(server.bookings, findCalcomBooking(server.bookings, reference));
    },
    moveThere: async (reference, startAt) => {
      moveCalcomBooking(server.bookings, findCalcomBooking(server.bookings, reference), startAt);
    },
  };
}

testConformance("Cal.com", openSubject);
testExternalConformance("Cal.com", openSubject);

test("the connection's test says which event types are not offered, and why", async () => {
  const { system } = await openCalcom();
  assert.deepEqual(requireFound(await system.verify(NEVER)), {
    businessName: "Lindenhof Dental",
    timeZone: "Europe/Berlin",
    bookingUrl: "https://cal.com/lindenhof",
    warnings: [
      "“Confirmed later” is not offered: its bookings require confirmation.",
      "“Class” is not offered: it is for groups.",
      "“Course” is not offered: it is a recurring event.",
      "“Paid” is not offered: it requires payment.",
      "“Template” is not offered: it is a managed event type.",
      "“Verified” is not offered: it requires a verified email address.",
      "“Text messages” is not offered: it requires a phone number for text messages.",
      "“Headcount” is not offered: a required question has an unsupported type (How many?).",
      "“Paid by card” is not offered: it requires payment.",
      "The event types of team “Front desk” are not offered: the key's user is not an admin of the team.",
      "“Campaign” is not offered: a required question is hidden (Promotion).",
    ],
  });
  const offered = requireFound(await system.listServices(NEVER));
  assert.deepEqual(
    offered.map(({ id, name }) => `${id} ${name}`),
    [
      "10 Check-up",
      "11 Video call",
      "12 First visit",
      "13 Family visit",
      "14 Members",
      "15 Full name",
      "24 House call",
      "25 Consent",
      "32 Free again",
      "33 Short answers",
      "35 Short notes",
      "36 Call me",
      "37 Anywhere",
      "38 Call back later",
      "39 Everything",
      "40 Any dentist",
      "41 Both dentists",
    ],
  );
});

test("event types are read one by one for hidden questions: all after a start and by the test, then once an hour", async () => {
  const { system, server, clock } = await openCalcom();
  const listRead = async (operation: () => Promise<Read<unknown>>) => {
    const before = server.requests.length;
    requireFound(await operation());
    return server.requests.slice(before).flatMap(({ path }) => /^\/v2\/event-types\/(\d+)$/.exec(path)?.[1] ?? []);
  };
  const list = () => listRead(() => system.listServices(NEVER));
  const wait = (ms: number) => clock.set(new Date(clock.now().getTime() + ms));
  const atStart = await list();
  assert.equal(new Set(atStart).size, atStart.length);
  assert.equal(atStart.length, requireFound(await system.listServices(NEVER)).length + 1, "31 isn't offered");
  wait(MINUTE_MS);
  assert.deepEqual(await list(), ["31"], "its question may be visible now");
  assert.deepEqual((await listRead(() => system.verify(NEVER))).toSorted(), atStart.toSorted());
  wait(HOUR_MS);
  assert.deepEqual((await list()).toSorted(), atStart.toSorted());
});

test("event types with hidden questions don't keep the others from being read", async () => {
  const hidden = new HiddenQuestions();
  const ids = [1, 2, 3, 4];
  for (const id of ids.slice(0, 2)) hidden.note(id, "Promotion", CALCOM_NOW);
  assert.deepEqual(hidden.listDue(ids, CALCOM_NOW), [3, 4, 1, 2]);
  for (const id of ids.slice(2)) hidden.note(id, null, CALCOM_NOW);
  assert.deepEqual(hidden.listDue(ids, CALCOM_NOW), [1, 2]);
  hidden.note(1, "Promotion", new Date(CALCOM_NOW.getTime() + 1));
  assert.deepEqual(hidden.listDue(ids, CALCOM_NOW), [2, 1]);
  const dayBefore = new Date(CALCOM_NOW.getTime() - DAY_MS);
  assert.deepEqual(hidden.listDue(ids, dayBefore), [2, 3, 4, 1], "the clock was set back");
});

test("the connection's test leaves a third of the requests for bookings, and forgets nothing that it didn't read", async () => {
  const budget = new RequestBudget(createTestClock(CALCOM_NOW), { requests: 120, windowMs: MINUTE_MS });
  const { system, server } = await openCalcom(budget);
  requireFound(await system.verify(NEVER));
  const countReads = () => server.requests.filter(({ path }) => path.startsWith("/v2/event-types/")).length;
  const before = countReads();
  while (budget.allows("first")) budget.take();
  const { warnings } = requireFound(await system.verify(NEVER));
  assert.equal(countReads(), before);
  assert.ok(warnings.includes("“Campaign” is not offered: a required question is hidden (Promotion)."));
});

test("while requests are short, no event type is read for hidden questions; a refused booking of one still leaves it out", async () => {
  const budget = new RequestBudget(createTestClock(CALCOM_NOW), { requests: 120, windowMs: MINUTE_MS });
  for (let n = 0; n < 41; n++) budget.take();
  const { system, server } = await openCalcom(budget);
  const isOffered = async () => requireFound(await system.listServices(NEVER)).some(({ id }) => id === "31");
  assert.equal(await isOffered(), true);
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "31" });
  assert.ok(slot);
  const outcome = await system.book(toRequest("31", slot), NEVER);
  assert.ok(outcome.kind === "refused" && outcome.reason === "invalid");
  assert.equal(await isOffered(), false);
  assert.equal(server.requests.filter(({ path }) => path.startsWith("/v2/event-types/")).length, 1);
});

test("a booked time stays hidden for as long as an old list of Cal.com may still arrive, and no longer", async () => {
  const { system, clock } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  requireBooked(await system.book(toRequest("10", slot), NEVER));
  // The stand-in's own clock stands still, so its list stays as old as this.
  const isShownAfter = async (ms: number) => {
    clock.set(new Date(CALCOM_NOW.getTime() + ms));
    const slots = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
    return slots.some(({ startAt }) => startAt.getTime() === slot.startAt.getTime());
  };
  assert.deepEqual([await isShownAfter(9_999), await isShownAfter(10_000)], [false, true]);
});

test("what every visitor's frame gets has at most a million characters, and the test says so", async () => {
  const { system, server } = await openCalcom();
  const options = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(200, "x"));
  const field = { isDefault: false, type: "select", slug: "which", label: "Which?", options };
  const data = Array.from({ length: 150 }, (_, n) => ({
    id: 1_000 + n,
    title: `Service ${n}`,
    lengthInMinutes: 30,
    bookingFields: [field],
  }));
  server.hasTeams = false;
  server.injectFault("GET /event-types", { reply: { status: 200, json: { status: "success", data } } });
  const { warnings } = requireFound(await system.verify(NEVER));
  const offered = requireFound(await system.listServices(NEVER));
  assert.ok(offered.length > 40 && JSON.stringify(offered).length < 1_001_000, `${offered.length}`);
  assert.deepEqual(warnings, [`Only the first ${offered.length} event types are offered; there are 150.`]);
});

test("a server without teams offers the user's own event types", async () => {
  const { system, server } = await openCalcom();
  server.hasTeams = false;
  const offered = requireFound(await system.listServices(NEVER));
  assert.ok(offered.length > 0 && offered.every(({ id }) => Number(id) < 40));
});

test("a team's event type is booked, and found with the team", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "40" });
  assert.ok(slot);
  const request = toRequest("40", slot);
  const booked = requireBooked(await system.book(request, NEVER));
  assert.deepEqual(await system.findByReference(request, NEVER), { kind: "found", value: booked });
  assert.equal(server.requests.at(-1)?.path, "/v2/teams/3/bookings");
});

test("an event type for signed-in users is booked with its owner's key", async () => {
  const { system } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "14" });
  assert.ok(slot);
  requireBooked(await system.book(toRequest("14", slot), NEVER));
});

for (const [list, write] of [
  ["2026-05-01", "2026-02-25"],
  ["2026-02-25", "2026-02-25"],
  ["2024-08-13", "2024-08-13"],
] as const)
  test(`the newest version that the server knows is found and used: ${list} for lists`, async () => {
    const { system, server } = await openCalcom();
    server.versions = { list: server.versions.list.filter((version) => version <= list), write: [write] };
    const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
    assert.ok(slot);
    const request = toRequest("10", slot);
    const { externalId } = requireBooked(await system.book(request, NEVER));
    assert.equal((await system.findByReference(request, NEVER)).kind, "found");
    requireFound(await system.cancel({ externalId, reference: request.reference }, NEVER));
    requireFound(await system.verify(NEVER));
    const sent = server.requests.filter(({ path }) => path.startsWith("/v2/bookings"));
    const used = sent.map(({ method, headers }) => `${method} ${headers["cal-api-version"]}`);
    assert.ok(used.includes(`GET ${list}`));
    assert.deepEqual(new Set(used.filter((text) => text.startsWith("POST"))), new Set([`POST ${write}`]));
  });

test("a server that knows none of the versions is named as the reason, and nothing is booked", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  server.versions = { list: ["2031-01-01"], write: ["2031-01-01"] };
  server.hasTeams = false;
  const verdict = await system.verify(NEVER);
  assert.equal(verdict.kind === "refused" && verdict.reason, "version");
  assert.equal((await (await openCalcom()).system.book(toRequest("31", slot), NEVER)).kind, "refused");
});

test("texts beyond a limit that the API doesn't show are shortened or moved to the notes, once", async () => {
  const { system, server } = await openCalcom();
  const [slot, next] = await listWeek(system, { now: CALCOM_NOW, serviceId: "33" });
  assert.ok(slot && next);
  const request = toRequest("33", slot);
  const [long, longer] = ["a".repeat(121), "b".repeat(150)];
  const answers = [
    { questionId: "history", question: "History", answer: long },
    { questionId: "what", question: "What is it about?", answer: "Tooth" },
  ];
  requireBooked(await system.book({ ...request, answers }, NEVER));
  assert.deepEqual(server.bookings[0]?.bookingFieldsResponses, {
    what: "Tooth",
    notes: `Please ring twice\nHistory: ${long}\n${request.reference}`,
  });
  const both = [{ questionId: "what", question: "What is it about?", answer: longer }];
  const second = toRequest("33", next);
  requireBooked(await system.book({ ...second, answers: both }, NEVER));
  assert.deepEqual(server.bookings[1]?.bookingFieldsResponses, {
    what: "b".repeat(50),
    notes: `Please ring twice\nWhat is it about?: ${longer}\n${second.reference}`,
  });
  assert.equal(server.requests.filter(({ method }) => method === "POST").length, 4);
});

test("notes beyond a limit that the API doesn't show are left out, except for the reference", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "35" });
  assert.ok(slot);
  const request = toRequest("35", slot);
  requireBooked(await system.book({ ...request, customer: { ...request.customer, notes: "a".repeat(121) } }, NEVER));
  assert.deepEqual(server.bookings[0]?.bookingFieldsResponses, { notes: request.reference });
});

/** Books an event type with these answers and returns what Cal.com got. */
async function bookWith(serviceId: string, answers: Record<string, string>) {
  const { system, server } = await openCalcom();
  const service = requireFound(await system.listServices(NEVER)).find(({ id }) => id === serviceId);
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId });
  assert.ok(service && slot);
  const given = service.questions.flatMap(({ id, label }) =>
    answers[id] === undefined ? [] : [{ questionId: id, question: label, answer: answers[id] }],
  );
  requireBooked(await system.book({ ...toRequest(serviceId, slot), answers: given }, NEVER));
  const { location, bookingFieldsResponses, attendee } = JSON.parse(server.requests.at(-1)?.body ?? "");
  const { notes: _, ...responses } = bookingFieldsResponses;
  return { service, location, responses, phoneNumber: attendee.phoneNumber };
}

test("a title, phone numbers, several choices and a tick are asked for and sent as Cal.com expects them", async () => {
  const { service, responses } = await bookWith("39", {
    title: "A tooth",
    mobile: "+49 171 1234567",
    symptoms: "Pain\nSwelling, redness",
    terms: "Yes",
  });
  assert.deepEqual(
    service.questions.map(({ id, label, type, options, required }) => [id, label, type, options.length, required]),
    [
      ["title", "What is this meeting about?", "text", 0, true],
      ["mobile", "Mobile", "phone", 0, true],
      ["symptoms", "Symptoms", "choices", 3, true],
      ["terms", "Terms", "tick", 0, true],
    ],
  );
  assert.deepEqual(responses, {
    title: "A tooth",
    mobile: "+491711234567",
    symptoms: ["Pain", "Swelling, redness"],
    terms: true,
  });
});

test("a call to the visitor's phone and a required phone number use the number that the form asks for", async () => {
  const call = await bookWith("36", {});
  assert.deepEqual([call.service.phoneRequired, call.service.questions], [true, []]);
  assert.deepEqual(call.location, { type: "attendeePhone", phone: "+49301234567" });
  const callBack = await bookWith("38", {});
  assert.deepEqual(
    [callBack.service.phoneRequired, callBack.location, callBack.phoneNumber],
    [true, undefined, "+49301234567"],
  );
  assert.equal((await bookWith("10", {})).service.phoneRequired, undefined);
});

test("the visitor's address, or a place that they choose, is asked for and sent as the location", async () => {
  const home = await bookWith("24", { "location:visitor": "Lindenstrasse 1" });
  assert.deepEqual(home.service.questions[0]?.label, "Your address");
  assert.deepEqual([home.location, home.responses], [{ type: "attendeeAddress", address: "Lindenstrasse 1" }, {}]);
  const anywhere = await bookWith("37", { "location:visitor": "Café" });
  assert.deepEqual(anywhere.location, { type: "attendeeDefined", location: "Café" });
});

test("a required phone number that Cal.com rejects is never left out", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "36" });
  assert.ok(slot);
  const request = toRequest("36", slot);
  const customer = { ...request.customer, phone: INVALID_PHONE };
  assert.equal((await system.book({ ...request, customer }, NEVER)).kind, "refused");
  assert.equal(server.requests.filter(({ method }) => method === "POST").length, 1);
});

test("a customer who already has the time with a round robin gets no second booking", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "40" });
  assert.ok(slot);
  const first = toRequest("40", slot);
  requireBooked(await system.book(first, NEVER));
  assert.deepEqual(await system.book(toRequest("40", slot), NEVER), { kind: "slot_taken" });
  requireBooked(await system.book(first, NEVER));
  assert.equal(server.bookings.length, 1);
});

test("a booking is accepted, with its host, the page to manage it and the link to the call", async () => {
  const { system } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "11" });
  assert.ok(slot);
  assert.deepEqual(requireBooked(await system.book(toRequest("11", slot), NEVER)), {
    externalId: "uid1",
    startAt: slot.startAt,
    endAt: slot.endAt,
    service: { id: "11", name: "Video call" },
    staff: [{ id: "7", name: "Lindenhof Dental" }],
    manageUrl: "https://app.cal.com/booking/uid1",
    joinUrl: "https://app.cal.com/video/uid1",
  });
});

test("a phone number in a format Cal.com refuses goes into the notes instead", async () => {
  const { system, server } = await openCalcom();
  const [first, second] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(first && second);
  const request = toRequest("10", first);
  requireBooked(await system.book(request, NEVER));
  const local = { ...toRequest("10", second), customer: { ...request.customer, phone: "030 1234567", locale: "hu" } };
  requireBooked(await system.book(local, NEVER));
  const [international, national] = server.bookings;
  assert.equal(international?.attendees[0]?.phoneNumber, "+49301234567");
  assert.equal(international?.attendees[0]?.language, "de");
  assert.equal(national?.attendees[0]?.phoneNumber, undefined);
  assert.equal(national?.attendees[0]?.language, undefined);
  const notes = `Please ring twice\n030 1234567\n${local.reference}`;
  assert.equal(national?.bookingFieldsResponses["notes"], notes);
});

test("a valid-looking phone number that Cal.com rejects goes into the notes, and the booking succeeds", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  const request = toRequest("10", slot);
  requireBooked(await system.book({ ...request, customer: { ...request.customer, phone: INVALID_PHONE } }, NEVER));
  const notes = `Please ring twice\n${INVALID_PHONE}\n${request.reference}`;
  assert.equal(server.bookings[0]?.bookingFieldsResponses["notes"], notes);
  assert.equal(server.bookings.length, 1);
});

test("answers that Cal.com would reject go into the notes", async () => {
  const { system, server } = await openCalcom();
  const offered = requireFound(await system.listServices(NEVER)).find(({ id }) => id === "13");
  assert.deepEqual(
    offered?.questions.map(({ id, type, required }) => [id, type, required]),
    [
      ["guests-count", "number", false],
      ["website", "text", false],
    ],
  );
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "13" });
  assert.ok(slot);
  const request = toRequest("13", slot);
  const answers = [
    { questionId: "guests-count", question: "How many?", answer: "2.5" },
    { questionId: "website", question: "Website", answer: "none at all" },
  ];
  requireBooked(await system.book({ ...request, answers }, NEVER));
  const notes = `Please ring twice\nHow many?: 2.5\nWebsite: none at all\n${request.reference}`;
  assert.deepEqual(server.bookings[0]?.bookingFieldsResponses, { notes });
});

test("notes and long answers are cut to 1,000 characters, and the reference stays", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "12" });
  assert.ok(slot);
  const request = toRequest("12", slot);
  const answers = [{ questionId: "what", question: "What is it about?", answer: "🦷".repeat(600) }];
  const customer = { ...request.customer, notes: "n".repeat(2_000) };
  requireBooked(await system.book({ ...request, customer, answers }, NEVER));
  const [booking] = server.bookings;
  assert.ok(booking);
  const notes = String(booking.bookingFieldsResponses["notes"]);
  assert.equal(notes.length, 1_000);
  assert.ok(notes.endsWith(`n\n${request.reference}`));
  assert.equal(booking.bookingFieldsResponses["what"], "🦷".repeat(500));
});

test("a customer with a single name can book an event type that asks for first and last name", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "15" });
  assert.ok(slot);
  const request = toRequest("15", slot);
  requireBooked(await system.book({ ...request, customer: { ...request.customer, name: "Mara" } }, NEVER));
  assert.equal(server.bookings[0]?.attendees[0]?.name, "Mara –");
});

test("a blocked email address is the customer's problem, not the key's", async () => {
  const { system } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  const request = toRequest("10", slot);
  const outcome = await system.book({ ...request, customer: { ...request.customer, email: BLOCKED_EMAIL } }, NEVER);
  assert.deepEqual(outcome, { kind: "refused", reason: "invalid", upstream: { status: 403, ...UPSTREAM } });
});

test("a booking that needs the host's confirmation is cancelled and not reported as confirmed", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  server.newStatus = "pending";
  const request = toRequest("10", slot);
  const upstream = { status: 201, ...UPSTREAM };
  assert.deepEqual(await system.book(request, NEVER), { kind: "refused", reason: "not_confirmed", upstream });
  assert.equal(server.bookings[0]?.status, "cancelled");
  assert.deepEqual(await system.findByReference(request, NEVER), { kind: "absent" });
});

test("a booking awaiting confirmation is not found by its reference", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  server.newStatus = "pending";
  const request = toRequest("10", slot);
  server.injectFault("POST /bookings", { reply: { status: 500, json: {} }, creates: true });
  assert.deepEqual(await system.book(request, NEVER), { kind: "slot_taken" });
  assert.deepEqual(await system.findByReference(request, NEVER), { kind: "absent" });
});

test("an incomplete search does not report a booking as missing", async () => {
  for (const list of ["2024-08-13", "2026-05-01"]) {
    const { system, server } = await openCalcom();
    server.versions.list = [list];
    const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
    assert.ok(slot);
    const request = toRequest("10", slot);
    requireBooked(await system.book(request, NEVER));
    const [made] = server.bookings;
    assert.ok(made);
    const sought = { ...request, reference: "SVC-222222" as typeof request.reference };
    while (server.bookings.length < 99) server.bookings.push({ ...made, uid: `booking-${server.bookings.length}` });
    assert.deepEqual(await system.findByReference(sought, NEVER), { kind: "absent" });
    for (const uid of ["booking-99", "booking-100"]) server.bookings.push({ ...made, uid });
    assert.equal((await system.findByReference(sought, NEVER)).kind, "unavailable");
  }
});

test("an event type that would end after the last possible date is unreadable", async () => {
  const { system, server } = await openCalcom();
  const eventType = { id: 1, title: "Endless", lengthInMinutes: 1e300, bookingFields: [] };
  server.injectFault("GET /event-types", { reply: { status: 200, json: { status: "success", data: [eventType] } } });
  const sought = { reference: "SVC-222222" as Reference, serviceId: "1", startAt: CALCOM_NOW };
  const found = await system.findByReference(sought, NEVER);
  assert.ok(found.kind === "unavailable", found.kind);
  assert.equal(found.upstream?.failure, "unreadable");
});
