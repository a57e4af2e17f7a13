import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { UnlimitedSystem } from "../../../../src/server/scheduler/scheduling-system.ts";
import { listWeek, NEVER, requireBooked, requireFound, toRequest, toStart, WEEK_MS } from "../requests.ts";
import type { ConformanceSubject } from "./subject.ts";

export function testOffer(open: () => Promise<ConformanceSubject>): void {
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

  test("refuses an unknown service", async () => {
    const { system, now } = await open();
    const query = { serviceId: "999999", staffId: null, from: now, to: new Date(now.getTime() + WEEK_MS) };
    const slot = { startAt: new Date(now.getTime() + HOUR_MS), endAt: now, staffIds: [] };
    for (const outcome of [await system.listSlots(query, NEVER), await system.book(toRequest("999999", slot), NEVER)]) {
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

  test("chooses only among the people who are offered", async (context) => {
    const { system, now, services } = await open();
    const { choosable: serviceId } = services;
    if (serviceId === null) return context.skip("this system offers no people");
    const [slot] = await listWeek(system, { now, serviceId });
    const staffId = slot?.staffIds.at(-1);
    assert.ok(slot && staffId);
    const book = () => system.book({ ...toRequest(serviceId, slot), offeredStaffIds: [staffId] }, NEVER);
    assert.deepEqual(
      requireBooked(await book()).staff.map(({ id }) => id),
      [staffId],
    );
    assert.deepEqual(await book(), { kind: "slot_taken" });
  });

  test("offers only what a visitor can book with immediate confirmation", async () => {
    const { system, services } = await open();
    // As before a connection is saved.
    requireFound(await system.verify(NEVER));
    const offered = new Set(requireFound(await system.listServices(NEVER)).map(({ id }) => id));
    assert.deepEqual(
      services.notOffered.filter((id) => offered.has(id)),
      [],
    );
  });
}

async function readDuration(system: UnlimitedSystem, serviceId: string): Promise<number> {
  const services = requireFound(await system.listServices(NEVER));
  return services.find(({ id }) => id === serviceId)?.durationMinutes ?? assert.fail(serviceId);
}
