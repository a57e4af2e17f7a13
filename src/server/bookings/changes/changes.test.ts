import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MINUTE_MS } from "#contract/durations.ts";
import type { Reference, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeCaller, type TestCaller } from "../../../../test/support/app/read-api.ts";
import { makeBooking, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { findEverywhere } from "../../../../test/support/database/search-database.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { Followed } from "../../scheduler/scheduling-system.ts";
import { deleteBooking } from "../stored/erase/erase.ts";
import { applyChange } from "./apply-change.ts";
import { listChangesOf } from "./change-queries.ts";

const { app, deps } = await createTestApp();
const { db } = deps;

const START = "2026-11-05T09:00:00.000Z";
const LATER = "2026-11-06T10:00:00.000Z";
const CANCELLED: Followed = { kind: "cancelled" };

function movedTo(start: string, externalId = "b-2"): Followed {
  const startAt = new Date(start);
  return {
    kind: "confirmed",
    externalId,
    startAt,
    endAt: new Date(startAt.getTime() + 30 * MINUTE_MS),
    manageUrl: "https://s.example/manage/b-2",
    joinUrl: null,
  };
}

async function bookOne(caller: TestCaller, columns: object = {}): Promise<Reference> {
  const { reference } = await makeBooking(db, caller.owner, {
    widgetId: caller.widgetId,
    external_id: "b-1",
    ...columns,
  });
  return reference as Reference;
}

async function apply(caller: TestCaller, reference: Reference, now: Followed, widgetId: WidgetId = caller.widgetId) {
  const change = { owner: caller.owner, reference, widgetId, now, claim: async () => true };
  return await inHome(db, change.owner, (transaction) => applyChange(deps, transaction, change));
}

async function read(caller: TestCaller, path: string) {
  const response = await app.inject({ url: `/api/v1${path}`, headers: { authorization: `Bearer ${caller.key}` } });
  assert.equal(response.statusCode, 200, response.body);
  return response.json();
}

describe("a change of an appointment", () => {
  test("changes the times, the system's id and the status, and nothing else", async () => {
    const caller = await makeCaller(db);
    const reference = await bookOne(caller);
    const [before] = (await read(caller, "/bookings")).data;
    assert.equal(await apply(caller, reference, movedTo(LATER)), "changed");
    const moved = { start: LATER, end: "2026-11-06T10:30:00.000Z", manageUrl: "https://s.example/manage/b-2" };
    assert.deepEqual((await read(caller, "/bookings")).data, [{ ...before, ...moved }]);
    assert.equal(await apply(caller, reference, CANCELLED), "changed");
    assert.deepEqual((await read(caller, "/bookings")).data, [{ ...before, ...moved, status: "cancelled" }]);
    const { external_id } = await db
      .selectFrom("bookings")
      .select("external_id")
      .where("reference", "=", reference)
      .executeTakeFirstOrThrow();
    assert.equal(external_id, "b-2");
  });

  test("is listed once, newest first, with the start before it", async () => {
    const caller = await makeCaller(db);
    const reference = await bookOne(caller);
    await apply(caller, reference, movedTo(LATER));
    assert.equal(await apply(caller, reference, movedTo(LATER)), "unchanged");
    await apply(caller, reference, CANCELLED);
    assert.equal(await apply(caller, reference, CANCELLED), "unchanged");
    await apply(caller, reference, movedTo(START, "b-3"));
    const { data, nextCursor } = await read(caller, "/changes");
    const [first, second] = [
      { start: START, end: "2026-11-05T09:30:00.000Z" },
      { start: LATER, end: "2026-11-06T10:30:00.000Z" },
    ];
    const at = (ms: number) => new Date(NOON.getTime() + ms).toISOString();
    assert.deepEqual(data, [
      { reference, type: "rescheduled", status: "confirmed", ...first, previousStart: LATER, changedAt: at(2) },
      { reference, type: "cancelled", status: "cancelled", ...second, previousStart: LATER, changedAt: at(1) },
      { reference, type: "rescheduled", status: "confirmed", ...second, previousStart: START, changedAt: at(0) },
    ]);
    assert.equal(nextCursor, null);
  });

  test("has a changedAt of its own, so that pages neither skip nor repeat", async () => {
    const caller = await makeCaller(db);
    const references = await Promise.all(Array.from({ length: 7 }, () => bookOne(caller)));
    await Promise.all(references.map((reference) => apply(caller, reference, CANCELLED)));
    const pages: { data: { reference: string; changedAt: string }[]; nextCursor: string | null }[] = [];
    for (let cursor: string | null | undefined; cursor !== null; cursor = pages.at(-1)?.nextCursor)
      pages.push(await read(caller, `/changes?limit=3${cursor ? `&cursor=${cursor}` : ""}`));
    const all = pages.flatMap(({ data }) => data);
    assert.deepEqual(
      [pages.map(({ data }) => data.length), all.map(({ reference }) => reference).sort()],
      [[3, 3, 1], references.toSorted()],
    );
    const [newest] = all;
    const since = await read(caller, `/changes?since=${newest?.changedAt}`);
    assert.deepEqual(since.data, [newest], "since includes");
  });

  test("is in the booking's history in the dashboard, which other bookings don't have", async () => {
    const caller = await makeCaller(db);
    const [reference, other] = [await bookOne(caller), await bookOne(caller)];
    await apply(caller, reference, movedTo(LATER));
    await apply(caller, reference, CANCELLED);
    const history = await listChangesOf(db, caller.owner, reference);
    assert.deepEqual(history, (await read(caller, "/changes")).data);
    assert.equal(history.length, 2);
    assert.deepEqual(await listChangesOf(db, caller.owner, other), []);
  });

  test("is not seen by other organizations", async () => {
    const [caller, other] = [await makeCaller(db), await makeCaller(db)];
    const reference = await bookOne(caller);
    assert.equal(await apply(other, reference, CANCELLED), "gone");
    await apply(caller, reference, CANCELLED);
    assert.deepEqual((await read(other, "/changes")).data, []);
  });

  test("never brings back a booking that was deleted, and goes with it", async () => {
    const caller = await makeCaller(db);
    const reference = await bookOne(caller);
    await apply(caller, reference, movedTo(LATER));
    await deleteBooking(deps, caller.owner, reference);
    assert.equal(await apply(caller, reference, CANCELLED), "gone");
    assert.deepEqual((await read(caller, "/changes")).data, []);
    // The event is booking.erased.
    const left = ["public.booking_deletions", "public.booking_references", "public.webhook_events"];
    assert.deepEqual(await findEverywhere(db, reference), left);
  });

  test("writes nothing while the widget doesn't store bookings, or the booking's first event is missing", async () => {
    const caller = await makeCaller(db);
    const widgetId = await makeWidget(db, caller.owner, { collectData: false });
    const ofWidget = await bookOne({ ...caller, widgetId });
    const lacking = await bookOne(caller, { lacks_event: true });
    assert.equal(await apply(caller, ofWidget, CANCELLED, widgetId), "later");
    assert.equal(await apply(caller, lacking, CANCELLED), "later");
    assert.deepEqual((await read(caller, "/changes")).data, []);
    const { data } = await read(caller, "/bookings");
    assert.deepEqual(new Set(data.map(({ status }: { status: string }) => status)), new Set(["confirmed"]));
  });
});

test("the changes feed needs a key of a Business organization", async () => {
  assert.equal((await app.inject("/api/v1/changes")).statusCode, 401);
  const { key } = await makeCaller(db, { plan: "pro" });
  const response = await app.inject({ url: "/api/v1/changes", headers: { authorization: `Bearer ${key}` } });
  assert.equal(response.statusCode, 403);
});
