import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reference } from "#contract/ids.ts";
import type {
  Booked,
  BookRequest,
  KnownAppointment,
  Slot,
} from "../../../../src/server/scheduler/scheduling-system.ts";
import { listWeek, NEVER, requireBooked, requireFound, toRequest } from "../requests.ts";
import type { ConformanceSubject } from "./subject.ts";

export function testChanges(open: () => Promise<ConformanceSubject>): void {
  const openBooked = async () => {
    const subject = await open();
    const [first, second, third] = await listWeek(subject.system, {
      now: subject.now,
      serviceId: subject.services.plain,
    });
    assert.ok(first && second && third);
    const request = toRequest(subject.services.plain, first);
    const booked = requireBooked(await subject.system.book(request, NEVER));
    const follow = async (known: Pick<Booked, "externalId" | "startAt"> = booked) =>
      requireFound(await subject.system.follow({ ...toSought(request), ...known }, NEVER));
    const expectAt = async (slot: Slot, known?: Pick<Booked, "externalId" | "startAt">) => {
      const now = await follow(known);
      assert.ok(now.kind === "confirmed", now.kind);
      assert.deepEqual([now.startAt, now.endAt], [slot.startAt, slot.endAt]);
      return now;
    };
    return { ...subject, first, second, third, booked, reference: request.reference as Reference, follow, expectAt };
  };
  const toSought = ({ reference, serviceId }: BookRequest) => ({ reference, serviceId });

  test("follows an appointment that has not changed", async () => {
    const { first, booked, expectAt } = await openBooked();
    const now = await expectAt(first);
    assert.deepEqual(
      [now.externalId, now.manageUrl, now.joinUrl],
      [booked.externalId, booked.manageUrl, booked.joinUrl],
    );
  });

  test("follows an appointment that is cancelled", async () => {
    const { reference, cancelThere, follow } = await openBooked();
    await cancelThere(reference);
    assert.deepEqual(await follow(), { kind: "cancelled" });
  });

  test("follows an appointment that is moved, however often, from every id it has had", async () => {
    const { reference, first, second, third, moveThere, expectAt } = await openBooked();
    await moveThere(reference, second.startAt);
    const once = await expectAt(second);
    await moveThere(reference, third.startAt);
    const twice = await expectAt(third);
    await expectAt(third, once);
    await moveThere(reference, first.startAt);
    for (const known of [undefined, once, twice]) await expectAt(first, known);
  });

  test("follows an appointment that is moved and then cancelled", async () => {
    const { reference, second, moveThere, cancelThere, follow, expectAt } = await openBooked();
    await moveThere(reference, second.startAt);
    const moved = await expectAt(second);
    await cancelThere(reference);
    for (const known of [undefined, moved]) assert.deepEqual(await follow(known), { kind: "cancelled" });
  });

  test("lists the appointments that were cancelled or moved, and no others, if it has a list", async (context) => {
    const { system, now, services, cancelThere, moveThere } = await open();
    const { listChanged } = system;
    if (listChanged === null) return context.skip("this system reports every change itself");
    const slots = (await listWeek(system, { now, serviceId: services.plain })).slice(0, 5);
    const free = slots.pop();
    assert.ok(free && slots.length === 4);
    const booked: { reference: Reference; known: KnownAppointment }[] = [];
    for (const slot of slots) {
      const request = toRequest(services.plain, slot);
      const { externalId, startAt, endAt } = requireBooked(await system.book(request, NEVER));
      booked.push({ reference: request.reference, known: { externalId, startAt, endAt, isCancelled: false } });
    }
    const list = async (known: readonly KnownAppointment[]) =>
      requireFound(await listChanged({ since: now, known }, NEVER)).externalIds.toSorted();
    const all = booked.map(({ known }) => known);
    assert.deepEqual([await list(all), await list([])], [[], []]);
    const [cancelled, moved, other, kept] = booked;
    assert.ok(cancelled && moved && other && kept);
    await cancelThere(cancelled.reference);
    await moveThere(moved.reference, free.startAt);
    const expected = [cancelled.known.externalId, moved.known.externalId].toSorted();
    assert.deepEqual(await list(all), expected);
    // Once they are known, they are not listed any more.
    const follow = async ({ reference, known }: typeof moved): Promise<KnownAppointment> => {
      const sought = { reference, serviceId: services.plain, startAt: known.startAt, externalId: known.externalId };
      const state = requireFound(await system.follow(sought, NEVER));
      return state.kind === "cancelled" ? { ...known, isCancelled: true } : { ...known, ...state };
    };
    assert.deepEqual(await list(await Promise.all(booked.map(follow))), []);
  });

  test("follows what Bookflow cancels itself", async () => {
    const { system, reference, booked, follow } = await openBooked();
    requireFound(await system.cancel({ externalId: booked.externalId, reference }, NEVER));
    assert.deepEqual(await follow(), { kind: "cancelled" });
  });
}
