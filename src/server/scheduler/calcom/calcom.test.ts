import assert from "node:assert/strict";
import { test } from "node:test";
import { CALCOM_REQUEST_ID } from "../testing/calcom-server.ts";
import { CALCOM_NOW } from "../testing/calcom-world.ts";
import { listWeek, requireBooked, requireFound, testConformance, toRequest } from "../testing/conformance.ts";
import { openCalcom } from "../testing/open-calcom.ts";

const NEVER = new AbortController().signal;
const UPSTREAM = { requestId: CALCOM_REQUEST_ID, failure: null };

testConformance("cal.com", async () => {
  const { system, server } = await openCalcom();
  return {
    system,
    now: CALCOM_NOW,
    services: { plain: "10", asking: "12", choosable: null, online: "11" },
    readArrived: async (reference) => {
      const booking = server.bookings.find(({ metadata }) => metadata["reference"] === reference) ?? assert.fail();
      const { notes, ...answers } = booking.bookingFieldsResponses as Record<string, string>;
      const [attendee] = booking.attendees;
      return { name: attendee?.name ?? "", email: attendee?.email ?? "", notes: notes ?? "", answers };
    },
  };
});

test("the connection's test names every event type that is not offered, and why", async () => {
  const { system } = await openCalcom();
  assert.deepEqual(requireFound(await system.verify(NEVER)), {
    businessName: "Lindenhof Dental",
    timeZone: "Europe/Berlin",
    bookingUrl: "https://cal.com/lindenhof",
    warnings: [
      "“Confirmed later” is not offered: its bookings wait for someone to confirm them.",
      "“Class” is not offered: several people share one of its times.",
      "“Course” is not offered: it repeats.",
      "“Members” is not offered: only signed-in users may book it.",
      "“House call” is not offered: it asks the visitor for the place.",
      "“Consent” is not offered: it requires an answer of a kind that is not supported (Terms).",
      "“Template” is not offered: it is a template for members of a team.",
    ],
  });
  const offered = requireFound(await system.listServices(NEVER));
  assert.deepEqual(
    offered.map(({ id, name }) => `${id} ${name}`),
    ["10 Check-up", "11 Video call", "12 First visit", "13 Family visit"],
  );
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

test("a phone number that cal.com would refuse goes into the notes instead", async () => {
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

test("a question for a number is asked as one, and its answer arrives as one", async () => {
  const { system, server } = await openCalcom();
  const offered = requireFound(await system.listServices(NEVER)).find(({ id }) => id === "13");
  assert.deepEqual(offered?.questions, [
    { id: "guests", label: "How many?", type: "number", options: [], required: true },
  ]);
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "13" });
  assert.ok(slot);
  const answers = [{ questionId: "guests", question: "How many?", answer: "2.5" }];
  requireBooked(await system.book({ ...toRequest("13", slot), answers }, NEVER));
  assert.equal(server.bookings[0]?.bookingFieldsResponses["guests"], 2.5);
});

test("a booking that someone would have to confirm is withdrawn and not called confirmed", async () => {
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

test("a booking that waits for confirmation is not found by its reference", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  server.newStatus = "pending";
  const request = toRequest("10", slot);
  server.twist("POST /bookings", { answer: { status: 500, json: {} }, creates: true });
  assert.deepEqual(await system.book(request, NEVER), { kind: "slot_taken" });
  assert.deepEqual(await system.findByReference(request, NEVER), { kind: "absent" });
});

test("what could not be looked through to its end is not called absent", async () => {
  const { system, server } = await openCalcom();
  const [slot] = await listWeek(system, { now: CALCOM_NOW, serviceId: "10" });
  assert.ok(slot);
  const request = toRequest("10", slot);
  requireBooked(await system.book(request, NEVER));
  const [made] = server.bookings;
  assert.ok(made);
  const sought = { ...request, reference: "SVC-222222" as typeof request.reference };
  while (server.bookings.length < 99) server.bookings.push({ ...made, uid: `booking-${server.bookings.length}` });
  assert.deepEqual(await system.findByReference(sought, NEVER), { kind: "absent" });
  server.bookings.push({ ...made, uid: "booking-99" });
  assert.equal((await system.findByReference(sought, NEVER)).kind, "unavailable");
});
