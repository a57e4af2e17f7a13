import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { Slot } from "../../../../src/server/scheduler/scheduling-system.ts";
import { listWeek, NEVER, requireBooked, toRequest, toStart } from "../requests.ts";
import type { ConformanceSubject } from "./subject.ts";

export function testSeats(open: () => Promise<ConformanceSubject>): void {
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
    const { system, now, services, booksAnyMinute } = await open();
    const [first] = await listWeek(system, { now, serviceId: services.plain });
    assert.ok(first);
    const past = new Date(now.getTime() - HOUR_MS);
    const between = new Date(first.startAt.getTime() + 7 * MINUTE_MS);
    for (const startAt of booksAnyMinute ? [past] : [past, between])
      assert.deepEqual(await system.book(toRequest(services.plain, { ...first, startAt }), NEVER), {
        kind: "slot_taken",
      });
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
}
