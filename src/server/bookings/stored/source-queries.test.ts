import assert from "node:assert/strict";
import { test } from "node:test";
import { BOOKING_SOURCES_MAX, type BookingSources } from "#contract/app/bookings.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { askApp } from "../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { Followed } from "../../scheduler/scheduling-system.ts";
import { applyChange } from "../changes/apply-change.ts";
import { deleteBooking } from "./erase/erase.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;
const { db } = deps;

type Practice = { owner: OrganizationId; widgetId: WidgetId };

async function makePractice(): Promise<Practice> {
  const owner = await makeOrganization(db, { plan: "business" });
  return { owner, widgetId: await makeWidget(db, owner) };
}

type Change = "cancel" | "move";

async function book({ owner, widgetId }: Practice, source: string | null, changes: Change[] = [], columns = {}) {
  const attribution = JSON.stringify(source === null ? {} : { source });
  const { reference } = await makeBooking(db, owner, { widgetId, external_id: "b-1", attribution, ...columns });
  for (const [place, change] of changes.entries()) {
    const startAt = new Date(NOON.getTime() + (place + 20) * DAY_MS);
    const times = { startAt, endAt: new Date(startAt.getTime() + 30 * MINUTE_MS) };
    const now: Followed =
      change === "cancel"
        ? { kind: "cancelled" }
        : { kind: "confirmed", externalId: "b-2", ...times, manageUrl: null, joinUrl: null };
    const state = { owner, reference: reference as Reference, widgetId, now, claim: async () => true };
    assert.equal(await inHome(db, state.owner, (transaction) => applyChange(deps, transaction, state)), "changed");
  }
  return reference as Reference;
}

async function read({ owner }: Practice, query = "", role: "viewer" | "member" = "viewer"): Promise<BookingSources> {
  const person = await signIn(testApp, { role, organizationId: owner });
  const { status, body } = await askApp(app, person, `GET /bookings/sources?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as BookingSources;
}

const outcome = (booked: number, cancelled: number, moved: number, kept: number) => ({
  booked,
  cancelled,
  moved,
  kept,
});

test("stored bookings are counted by source: booked, cancelled, moved and kept", async () => {
  const practice = await makePractice();
  await book(practice, "google");
  await book(practice, "google", ["move"]);
  await book(practice, "google", ["move", "move", "cancel"]);
  await book(practice, "newsletter", ["cancel", "move"]);
  await book(practice, "newsletter", ["cancel"]);
  await book(practice, null);
  assert.deepEqual(await read(practice), {
    all: outcome(6, 2, 3, 4),
    sources: [
      { source: "google", ...outcome(3, 1, 2, 2) },
      { source: "newsletter", ...outcome(2, 1, 1, 1) },
      { source: "", ...outcome(1, 0, 0, 1) },
    ],
    other: null,
  });
});

test("test bookings, erased ones, other widgets, other days and other organizations are not counted", async () => {
  const [practice, other] = [await makePractice(), await makePractice()];
  await book(practice, "google", ["cancel"], { now: new Date(NOON.getTime() - 3 * DAY_MS) });
  await book(other, "google", ["cancel"]);
  await book(practice, "google", ["cancel"], { is_test: true });
  await deleteBooking(deps, practice.owner, await book(practice, "google", ["move"]));
  const branch = { ...practice, widgetId: await makeWidget(db, practice.owner) };
  await book(branch, "bing");
  const day = new Date(NOON.getTime() - DAY_MS).toISOString();
  assert.deepEqual((await read(practice, `from=${day}`)).all, outcome(1, 0, 0, 1));
  assert.deepEqual((await read(practice, `widget=${practice.widgetId}`)).all, outcome(1, 1, 0, 0));
  assert.deepEqual((await read(practice, `startFrom=${day}&startTo=${day}`)).all, outcome(0, 0, 0, 0));
  assert.deepEqual((await read(other)).sources, [{ source: "google", ...outcome(1, 1, 0, 0) }]);
});

test("sources beyond the list are counted together", async () => {
  const practice = await makePractice();
  for (let n = 0; n < BOOKING_SOURCES_MAX + 2; n++) await book(practice, `source ${String(n).padStart(3, "0")}`);
  await book(practice, "source 101", ["cancel"]);
  const { all, sources, other } = await read(practice);
  assert.deepEqual(all, outcome(BOOKING_SOURCES_MAX + 3, 1, 0, BOOKING_SOURCES_MAX + 2));
  assert.deepEqual(sources[0], { source: "source 101", ...outcome(2, 1, 0, 1) });
  assert.deepEqual([sources.length, sources.at(-1)?.source, other], [100, "source 098", outcome(2, 0, 0, 2)]);
});
