import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NOTES_LENGTH_MAX } from "#contract/book.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import { REFERENCE, type Reference } from "#contract/ids.ts";
import { randomId, systemRandom } from "../../lib/random.ts";
import type { Booked, BookOutcome, BookRequest, Read, Slot, UnlimitedSystem } from "../scheduling-system.ts";

// What every scheduling system must do. Each test gets a fresh subject; its services are named after what a test needs.

export type ConformanceSubject = {
  readonly system: UnlimitedSystem;
  readonly now: Date;
  readonly services: {
    /** Has free times within a week, one place in each, and no questions. */
    readonly plain: string;
    /** Has a required text question and a choice. */
    readonly asking: string;
    /** Lets the visitor choose between at least two people; null if the system never does. */
    readonly choosable: string | null;
    readonly online: string;
    /** For several people at one time; null if the system has none, or they are not offered. */
    readonly group: { readonly id: string; readonly seatCount: number } | null;
    /** Exist in the account, but a visitor could not book them with immediate confirmation. */
    readonly notOffered: readonly string[];
  };
  /** What was received with an appointment; null if the system stores nothing about customers. */
  readonly readArrived: ((reference: Reference) => Promise<Arrived>) | null;
};

type Arrived = {
  readonly name: string;
  readonly email: string;
  /** Everything a person at the business can read in the appointment. */
  readonly notes: string;
  readonly answers: Readonly<Record<string, string>>;
};

const WEEK_MS = 7 * DAY_MS;
const NEVER = new AbortController().signal;

export function testConformance(name: string, open: () => Promise<ConformanceSubject>): void {
  describe(`${name} as a scheduling system`, () => {
    test("returns the business and its time zone", async () => {
      const { system } = await open();
      const verified = requireFound(await system.verify(NEVER));
      assert.notEqual(verified.businessName, "");
      assert.ok(verified.timeZone !== null && Intl.supportedValuesOf("timeZone").includes(verified.timeZone));
    });

    test("lists its services with what a visitor needs to know", async () => {
      const { system, services } = await open();
      const offered = requireFound(await system.listServices(NEVER));
      for (const id of [services.plain, services.asking, services.online]) {
        const service = offered.find((candidate) => candidate.id === id);
        assert.ok(service && service.name !== "" && service.durationMinutes > 0, id);
      }
      assert.equal(offered.find(({ id }) => id === services.online)?.isOnline, true);
      const { questions } = offered.find(({ id }) => id === services.asking) ?? assert.fail();
      const [text, choice] = [questions.find(({ required }) => required), questions.find((q) => q.type === "choice")];
      assert.ok(text?.type === "text" && text.label !== "" && text.options.length === 0);
      assert.ok(choice && choice.label !== "" && choice.options.length > 1);
    });

    test("offers whole slots in order, only in the requested range and only in the future", async () => {
      const { system, now, services } = await open();
      const week = await listWeek(system, { now, serviceId: services.plain });
      const duration = await readDuration(system, services.plain);
      assert.ok(week.length > 2);
      for (const [index, slot] of week.entries()) {
        assert.ok(slot.startAt instanceof Date && slot.endAt instanceof Date);
        assert.ok(slot.startAt > now && slot.startAt.getTime() < now.getTime() + WEEK_MS);
        assert.equal(slot.endAt.getTime() - slot.startAt.getTime(), duration * MINUTE_MS);
        assert.ok(index === 0 || slot.startAt > (week[index - 1]?.startAt ?? now));
      }
      const [, second, third] = week;
      assert.ok(second && third);
      const range = { serviceId: services.plain, staffId: null, from: second.startAt, to: third.startAt };
      const between = requireFound(await system.listSlots(range, NEVER));
      assert.deepEqual(between.map(toStart), [toStart(second)]);
      const past = { ...range, from: new Date(now.getTime() - WEEK_MS), to: now };
      assert.deepEqual(requireFound(await system.listSlots(past, NEVER)), []);
    });

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

    test("reports a slot as taken when it is booked again", async () => {
      const { system, now, services } = await open();
      const [first] = await listWeek(system, { now, serviceId: services.plain });
      assert.ok(first);
      requireBooked(await system.book(toRequest(services.plain, first), NEVER));
      const again = toRequest(services.plain, first);
      assert.deepEqual(await system.book(again, NEVER), { kind: "slot_taken" });
      assert.deepEqual(await system.findByReference(again, NEVER), { kind: "absent" });
    });

    test("reports a slot as taken when it was never offered", async () => {
      const { system, now, services } = await open();
      const [first] = await listWeek(system, { now, serviceId: services.plain });
      assert.ok(first);
      const never = { ...first, startAt: new Date(first.startAt.getTime() + 7 * MINUTE_MS) };
      assert.deepEqual(await system.book(toRequest(services.plain, never), NEVER), { kind: "slot_taken" });
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

    test("refuses an unknown service", async () => {
      const { system, now } = await open();
      const query = { serviceId: "999999", staffId: null, from: now, to: new Date(now.getTime() + WEEK_MS) };
      const slot = { startAt: new Date(now.getTime() + HOUR_MS), endAt: now, staffIds: [] };
      for (const outcome of [
        await system.listSlots(query, NEVER),
        await system.book(toRequest("999999", slot), NEVER),
      ]) {
        assert.ok(outcome.kind === "refused" && outcome.reason === "not_found", outcome.kind);
      }
    });

    test("refuses a person who does not offer the service", async () => {
      const { system, now, services } = await open();
      const [first] = await listWeek(system, { now, serviceId: services.plain });
      assert.ok(first);
      const query = { serviceId: services.plain, staffId: "nobody", from: now, to: first.endAt };
      const request = { ...toRequest(services.plain, first), staffId: "nobody" };
      for (const outcome of [await system.listSlots(query, NEVER), await system.book(request, NEVER)]) {
        assert.ok(outcome.kind === "refused" && outcome.reason === "invalid", outcome.kind);
      }
    });

    test("lets the visitor choose between people, if it offers them", async (context) => {
      const { system, now, services } = await open();
      const offered = requireFound(await system.listServices(NEVER));
      if (services.choosable === null) {
        assert.ok(offered.every(({ staff, staffSelectable }) => !staffSelectable && staff.length === 0));
        context.skip("this system never does");
        return;
      }
      const service = offered.find(({ id }) => id === services.choosable);
      assert.ok(service?.staffSelectable && service.staff.length > 1);
      const [slot] = await listWeek(system, { now, serviceId: service.id });
      const staffId = slot?.staffIds.at(-1);
      assert.ok(slot && staffId);
      const hers = await listWeek(system, { now, serviceId: service.id, staffId });
      assert.ok(hers.length > 0 && hers.every(({ staffIds }) => staffIds.length === 1 && staffIds[0] === staffId));
      const booked = requireBooked(await system.book({ ...toRequest(service.id, slot), staffId }, NEVER));
      assert.deepEqual(booked.staff, [service.staff.find(({ id }) => id === staffId)]);
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

    test("gives one place to one of two visitors who book at the same moment", async () => {
      const { system, now, services } = await open();
      const [first] = await listWeek(system, { now, serviceId: services.plain });
      assert.ok(first);
      const requests = [toRequest(services.plain, first), toRequest(services.plain, first)];
      const outcomes = await Promise.all(requests.map((request) => system.book(request, NEVER)));
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["booked", "slot_taken"]);
      for (const [index, request] of requests.entries()) {
        const isWinner = outcomes[index]?.kind === "booked";
        assert.equal((await system.findByReference(request, NEVER)).kind, isWinner ? "found" : "absent");
      }
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

    test("offers only what a visitor can book with immediate confirmation", async () => {
      const { system, services } = await open();
      const offered = new Set(requireFound(await system.listServices(NEVER)).map(({ id }) => id));
      assert.deepEqual(
        services.notOffered.filter((id) => offered.has(id)),
        [],
      );
    });

    test("books a time of a service for groups until its seats are taken, if it offers one", async (context) => {
      const { system, now, services } = await open();
      if (services.group === null) return context.skip("this system offers none");
      const { id, seatCount } = services.group;
      const [slot, next] = await listWeek(system, { now, serviceId: id });
      assert.ok(slot && next);
      const isOffered = async (at: Slot) =>
        (await listWeek(system, { now, serviceId: id })).map(toStart).includes(toStart(at));
      for (let booked = 0; booked < seatCount; booked++) {
        assert.ok(await isOffered(slot), `${booked} seats taken`);
        const request = toRequest(id, slot);
        requireBooked(await system.book(request, NEVER));
        assert.equal((await system.findByReference(request, NEVER)).kind, "found");
      }
      assert.equal(await isOffered(slot), false);
      assert.ok(await isOffered(next));
      assert.deepEqual(await system.book(toRequest(id, slot), NEVER), { kind: "slot_taken" });
    });

    test("gives each seat of a group to one of several visitors who book at the same moment", async (context) => {
      const { system, now, services } = await open();
      if (services.group === null) return context.skip("this system offers none");
      const { id, seatCount } = services.group;
      const [slot] = await listWeek(system, { now, serviceId: id });
      assert.ok(slot);
      const requests = Array.from({ length: seatCount + 2 }, () => toRequest(id, slot));
      const outcomes = await Promise.all(requests.map((request) => system.book(request, NEVER)));
      const counts = Map.groupBy(outcomes, ({ kind }) => kind);
      assert.deepEqual([counts.get("booked")?.length, counts.get("slot_taken")?.length], [seatCount, 2]);
      for (const [index, request] of requests.entries()) {
        const hasSeat = outcomes[index]?.kind === "booked";
        assert.equal((await system.findByReference(request, NEVER)).kind, hasSeat ? "found" : "absent");
      }
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
  });
}

export function toRequest(serviceId: string, slot: Slot): BookRequest {
  return {
    reference: randomId<Reference>(systemRandom, REFERENCE),
    serviceId,
    startAt: slot.startAt,
    staffId: null,
    customer: {
      name: "Mara Quell",
      email: "mara.quell@example.com",
      phone: "+49 30 1234567",
      notes: "Please ring twice",
      timeZone: "Europe/Prague",
      locale: "de",
    },
    answers: [],
  };
}

export async function listWeek(
  system: UnlimitedSystem,
  query: { now: Date; serviceId: string; staffId?: string },
): Promise<readonly Slot[]> {
  const { now, serviceId, staffId = null } = query;
  const range = { from: now, to: new Date(now.getTime() + WEEK_MS) };
  return requireFound(await system.listSlots({ serviceId, staffId, ...range }, NEVER));
}

export function requireFound<T>(read: Read<T>): T {
  assert.ok(read.kind === "found", JSON.stringify(read));
  return read.value;
}

export function requireBooked(outcome: BookOutcome): Booked {
  assert.ok(outcome.kind === "booked", JSON.stringify(outcome));
  return outcome.booked;
}

async function readDuration(system: UnlimitedSystem, serviceId: string): Promise<number> {
  const services = requireFound(await system.listServices(NEVER));
  return services.find(({ id }) => id === serviceId)?.durationMinutes ?? assert.fail(serviceId);
}

function toStart(slot: Slot): string {
  return slot.startAt.toISOString();
}
