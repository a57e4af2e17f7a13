import assert from "node:assert/strict";
import { test } from "node:test";
import { NOTES_LENGTH_MAX } from "#contract/limits.ts";
import { listWeek, NEVER, requireBooked, requireFound, toRequest, toStart } from "../requests.ts";
import type { ConformanceSubject } from "./subject.ts";

export function testBooking(open: () => Promise<ConformanceSubject>): void {
  test("books a free slot, which is then no longer offered", async () => {
    const { system, now, services } = await open();
    const [first, ...rest] = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(first);
    const booked = requireBooked(await system.book(toRequest(services.plain, first), NEVER));
    assert.notEqual(booked.externalId, "");
    assert.equal(booked.startAt.toISOString(), first.startAt.toISOString());
    assert.equal(booked.endAt.toISOString(), first.endAt.toISOString());
    assert.equal(booked.service.id, services.plain);
    assert.notEqual(booked.service.name, "");
    const after = await listWeek(system, { now, serviceId: services.plain });
    assert.equal(after.map(toStart).includes(toStart(first)), false);
    assert.ok(after.map(toStart).includes(toStart(rest.at(-1) ?? assert.fail())));
  });

  test("finds an appointment by its reference, exactly as booked", async () => {
    const { system, now, services } = await open();
    const [first, second] = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(first && second);
    requireBooked(await system.book(toRequest(services.plain, second), NEVER));
    const request = toRequest(services.plain, first);
    assert.deepEqual(await system.findByReference(request, NEVER), { kind: "absent" });
    const booked = requireBooked(await system.book(request, NEVER));
    const { reference, serviceId, startAt } = request;
    assert.deepEqual(await system.findByReference({ reference, serviceId, startAt }, NEVER), {
      kind: "found",
      value: booked,
    });
  });

  test("receives the customer, the notes with the reference, and the answers", async (context) => {
    const { system, now, services, readArrived } = await open();
    const offered = requireFound(await system.listServices(NEVER));
    const { questions } = offered.find(({ id }) => id === services.asking) ?? assert.fail();
    const [slot] = await listWeek(system, { now, serviceId: services.asking });
    assert.ok(slot);
    const answers = questions.map(({ id, label, options }) => ({
      questionId: id,
      question: label,
      answer: options.at(-1) ?? "A chipped tooth",
    }));
    const request = { ...toRequest(services.asking, slot), answers };
    requireBooked(await system.book(request, NEVER));
    if (readArrived === null) {
      context.skip("this system keeps nothing about a customer");
      return;
    }
    const arrived = await readArrived(request.reference);
    assert.equal(arrived.name, request.customer.name);
    assert.equal(arrived.email, request.customer.email);
    for (const text of ["Please ring twice", request.reference]) assert.ok(arrived.notes.includes(text), text);
    const expected = Object.fromEntries(answers.map(({ questionId, answer }) => [questionId, answer]));
    assert.deepEqual(arrived.answers, expected);
  });

  test("gives a link for an online appointment and none for others", async () => {
    const { system, now, services } = await open();
    const [online] = await listWeek(system, { now, serviceId: services.online });
    assert.ok(online);
    const booked = requireBooked(await system.book(toRequest(services.online, online), NEVER));
    assert.equal(URL.parse(booked.joinUrl ?? "")?.protocol, "https:");
    const [plain] = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(plain);
    assert.equal(requireBooked(await system.book(toRequest(services.plain, plain), NEVER)).joinUrl, null);
  });

  test("cancels an appointment, which frees its time; cancelling twice is not an error", async () => {
    const { system, now, services } = await open();
    const [first] = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(first);
    const request = toRequest(services.plain, first);
    const { externalId } = requireBooked(await system.book(request, NEVER));
    const appointment = { externalId, reference: request.reference };
    assert.equal(requireFound(await system.cancel(appointment, NEVER)), "canceled");
    assert.deepEqual(await system.findByReference(request, NEVER), { kind: "absent" });
    const again = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(again.map(toStart).includes(toStart(first)));
    assert.equal(requireFound(await system.cancel(appointment, NEVER)), "canceled");
  });

  test("books with notes of any length, and the reference stays readable", async (context) => {
    const { system, now, services, readArrived } = await open();
    const [slot] = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(slot);
    const request = toRequest(services.plain, slot);
    const customer = { ...request.customer, notes: "n".repeat(NOTES_LENGTH_MAX) };
    requireBooked(await system.book({ ...request, customer }, NEVER));
    assert.equal((await system.findByReference(request, NEVER)).kind, "found");
    if (readArrived === null) return context.skip("this system keeps nothing about a customer");
    const { notes } = await readArrived(request.reference);
    assert.ok(notes.startsWith("nnn") && notes.includes(request.reference));
  });

  test("books for a customer whose phone number is unusual or wrong", async () => {
    const { system, now, services } = await open();
    const slots = await listWeek(system, { now, serviceId: services.plain });
    for (const [index, phone] of ["030 1234567", "+1 022 555 0100", "ask at the desk"].entries()) {
      const slot = slots[index];
      assert.ok(slot);
      const request = toRequest(services.plain, slot);
      requireBooked(await system.book({ ...request, customer: { ...request.customer, phone } }, NEVER));
    }
  });

  test("ignores answers to questions that the service does not ask", async (context) => {
    const { system, now, services, readArrived } = await open();
    const [slot] = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(slot);
    const request = toRequest(services.plain, slot);
    const answers = [{ questionId: "removed", question: "An old question", answer: "An old answer" }];
    requireBooked(await system.book({ ...request, answers }, NEVER));
    if (readArrived === null) return context.skip("this system keeps nothing about a customer");
    assert.deepEqual((await readArrived(request.reference)).answers, {});
  });

  test("does nothing for a caller that has left", async () => {
    const { system, now, services } = await open();
    const [slot] = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(slot);
    const request = toRequest(services.plain, slot);
    const gone = AbortSignal.abort();
    const query = { serviceId: services.plain, staffId: null, from: now, to: slot.endAt };
    for (const outcome of [
      await system.listSlots(query, gone),
      await system.findByReference(request, gone),
      await system.verify(gone),
      await system.book(request, gone),
    ]) {
      assert.equal(outcome.kind, "unavailable");
    }
    assert.deepEqual(await system.findByReference(request, NEVER), { kind: "absent" });
    requireBooked(await system.book(request, NEVER));
  });
}
