import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { addCalcomBooking } from "../../../../test/support/scheduler/calcom/calcom-changes.ts";
import { CALCOM_NOW, teams } from "../../../../test/support/scheduler/calcom/calcom-world.ts";
import { openCalcom } from "../../../../test/support/scheduler/calcom/open-calcom.ts";
import { requireFound } from "../../../../test/support/scheduler/requests.ts";
import type { KnownAppointment } from "../scheduling-system.ts";

const NEVER = new AbortController().signal;
const START_AT = new Date(CALCOM_NOW.getTime() + DAY_MS);
const END_AT = new Date(START_AT.getTime() + 30 * MINUTE_MS);

const VERSIONS = {
  "in the order of change": { list: ["2024-08-13"], write: ["2024-08-13"] },
  "with a cursor": { list: ["2026-05-01"], write: ["2026-02-25"] },
};

/** Appointments that are known at another time than they have now, by the minutes after CALCOM_NOW at which they were moved. */
async function openMoved(versions: { list: string[]; write: string[] }, minutes: readonly number[]) {
  const { system, server } = await openCalcom();
  server.versions = versions;
  const known: KnownAppointment[] = minutes.map((minute, index) => {
    const uid = `uid${index}`;
    const updatedAt = new Date(CALCOM_NOW.getTime() + minute * MINUTE_MS);
    addCalcomBooking(server.bookings, { reference: `SVC-${index}`, uid, startAt: START_AT, endAt: END_AT, updatedAt });
    return { externalId: uid, startAt: CALCOM_NOW, endAt: START_AT, isCancelled: false };
  });
  const list = async (since: Date) => {
    assert.ok(system.listChanged);
    const before = server.requests.length;
    const { externalIds, until } = requireFound(await system.listChanged({ since, known }, NEVER));
    assert.ok(until);
    const reads = server.requests.slice(before).filter(({ query }) => "afterUpdatedAt" in query).length;
    assert.ok(reads <= 30, "the account keeps requests for bookings");
    return { externalIds: externalIds.toSorted(), until };
  };
  /** Until a turn finds nothing new. */
  const listInTurns = async () => {
    const seen = new Set<string>();
    for (let since = CALCOM_NOW; ; ) {
      const { externalIds, until } = await list(since);
      for (const id of externalIds) seen.add(id);
      if (until <= since) return [...seen].toSorted();
      since = until;
    }
  };
  return { server, list, listInTurns, all: known.map(({ externalId }) => externalId).toSorted() };
}

/** Every few numbers, so that the order of change isn't the order of creation. */
function shuffled(count: number): number[] {
  return Array.from({ length: count }, (_, index) => (index * 7) % count);
}

for (const [order, versions] of Object.entries(VERSIONS)) {
  test(`lists every change of several pages at once ${order}`, async () => {
    const { list, all } = await openMoved(versions, shuffled(230));
    const until = new Date(CALCOM_NOW.getTime() + 229 * MINUTE_MS);
    assert.deepEqual(await list(CALCOM_NOW), { externalIds: all, until });
  });

  test(`lists changes of one instant on several pages ${order}`, async () => {
    for (const counts of [
      [50, 60, 40],
      [0, 100, 0],
      [30, 730, 30],
    ]) {
      const minutes = counts.flatMap((count, minute) => Array.from({ length: count }, () => minute + 1));
      const { listInTurns, all } = await openMoved(versions, minutes);
      assert.deepEqual(await listInTurns(), all, String(counts));
    }
  });

  test(`lists a great many changes in several turns ${order}`, async () => {
    for (const perMinute of [1, 600]) {
      const minutes = shuffled(1_700).map((number) => (number + 1) / perMinute);
      const { listInTurns, all } = await openMoved(versions, minutes);
      assert.deepEqual(await listInTurns(), all, `${perMinute} a minute`);
    }
  });

  test(`loses no change when another booking changes between two pages ${order}`, async () => {
    const { server, list, all } = await openMoved(versions, [...Array(150).keys()]);
    await list(new Date(CALCOM_NOW.getTime() + DAY_MS));
    const changeFirst = () => {
      const [first] = server.bookings;
      assert.ok(first);
      server.bookings[0] = { ...first, updatedAt: new Date(CALCOM_NOW.getTime() + 200 * MINUTE_MS).toISOString() };
    };
    server.injectFault("GET /bookings", { creates: true, onArrival: changeFirst });
    assert.deepEqual((await list(CALCOM_NOW)).externalIds, all);
  });
}

test("lists changes of a team's bookings, and goes on where the list that isn't read to its end stopped", async () => {
  for (const versions of Object.values(VERSIONS)) {
    const { server, listInTurns, all } = await openMoved(versions, shuffled(1_300));
    const teamsType = teams[0]?.eventTypes[0];
    assert.ok(teamsType);
    for (const booking of server.bookings.slice(0, 1_200)) booking.eventTypeId = teamsType.id;
    assert.deepEqual(await listInTurns(), all);
  }
});

test("a page that says there are more, but not where, is unreadable", async () => {
  const { system, server } = await openCalcom();
  await system.verify(NEVER);
  const json = { status: "success", data: [], pagination: { hasMore: true, nextCursor: null } };
  server.injectFault("GET /bookings", { reply: { status: 200, json } });
  const read = await system.listChanged?.({ since: CALCOM_NOW, known: [] }, NEVER);
  assert.equal(read?.kind, "unavailable");
});

for (const [what, versions, page] of [
  ["with one cursor again and again", VERSIONS["with a cursor"], { pagination: { hasMore: true, nextCursor: "1" } }],
  ["of full pages without times, in the order of change", VERSIONS["in the order of change"], {}],
] as const)
  test(`a list ${what} is given up`, async () => {
    const { system, server } = await openCalcom();
    server.versions = { list: [...versions.list], write: [...versions.write] };
    await system.verify(NEVER);
    const booking = { uid: "uid1", status: "accepted", start: START_AT.toISOString(), end: END_AT.toISOString() };
    const json = { status: "success", data: Array(100).fill(booking), ...page };
    server.injectFault("GET /bookings", ...Array(300).fill({ reply: { status: 200, json } }));
    const before = server.requests.length;
    const read = await system.listChanged?.({ since: CALCOM_NOW, known: [] }, NEVER);
    assert.equal(read?.kind, "unavailable");
    assert.ok(server.requests.length - before <= 100);
  });

test("a page with more bookings than were asked for, or with an id of any length, is unreadable", async () => {
  const { system, server } = await openCalcom();
  await system.verify(NEVER);
  const booking = { uid: "uid1", status: "accepted", start: START_AT.toISOString(), end: END_AT.toISOString() };
  for (const data of [Array(1_000).fill(booking), [{ ...booking, rescheduledFromUid: "u".repeat(2_000) }]]) {
    server.injectFault("GET /bookings", { reply: { status: 200, json: { status: "success", data } } });
    const read = await system.listChanged?.({ since: CALCOM_NOW, known: [] }, NEVER);
    assert.equal(read?.kind, "unavailable", String(data.length));
  }
});
