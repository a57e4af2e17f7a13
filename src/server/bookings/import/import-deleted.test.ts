import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import { type Booking, createClient, syncBookings } from "../../../../sdk/src/index.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeCaller } from "../../../../test/support/app/read-api.ts";
import { openWire } from "../../../../test/support/app/wire.ts";
import { importLines, makeLine } from "../../../../test/support/bookings/import-lines.ts";
import { NOON } from "../../../../test/support/builders.ts";
import { findEverywhere } from "../../../../test/support/database/search-database.ts";
import { deleteBooking, deleteExpiredBookings, eraseBookingsByEmail } from "../stored/erase/erase.ts";

const { app, deps } = await createTestApp();
const { db } = deps;
const { port } = await openWire(app);

/** A copy as the client library makes it. */
async function copyBookings(apiKey: string): Promise<Booking[]> {
  const copy = new Map<string, Booking>();
  await syncBookings(createClient({ apiKey, baseUrl: `http://127.0.0.1:${port}` }), {
    store: {
      readCheckpoint: () => null,
      upsert: (bookings) => {
        for (const booking of bookings) copy.set(booking.reference, booking);
      },
      delete: (references) => {
        for (const reference of references) copy.delete(reference);
      },
    },
  });
  return [...copy.values()];
}

type Deleted = { reference: Reference; email: string };

for (const [name, remove] of [
  ["erased by email", (owner: OrganizationId, { email }: Deleted) => eraseBookingsByEmail(deps, owner, email)],
  ["deleted", (owner: OrganizationId, { reference }: Deleted) => deleteBooking(deps, owner, reference)],
  [
    "expired",
    (owner: OrganizationId) => {
      const createdBefore = new Date("2026-09-02T00:00:00.000Z");
      return deleteExpiredBookings(db, owner, { createdBefore, limit: 10, now: NOON, random: deps.random });
    },
  ],
] as const)
  test(`importing a file again does not bring back a booking that was ${name}`, async () => {
    const { owner, widgetId, key, headers } = await makeCaller(db);
    const email = `${name.replaceAll(" ", "-")}@example.com`;
    const removed = makeLine(widgetId, {
      createdAt: "2026-09-01T00:00:00.000Z",
      customer: { name: "Mara Quell", email },
    });
    const kept = makeLine(widgetId);
    const lines = [removed, kept];
    assert.deepEqual(await importLines(db, owner, { lines }), { imported: 2, skipped: 0, deleted: 0 });
    await remove(owner, { reference: removed["reference"] as Reference, email });

    const added = makeLine(widgetId);
    const again = await importLines(db, owner, { lines: [...lines, added] });
    assert.deepEqual(again, { imported: 1, skipped: 1, deleted: 1 });
    assert.deepEqual(await findEverywhere(db, email), []);
    const { data } = (await app.inject({ url: "/api/v1/bookings", headers })).json() as { data: Booking[] };
    assert.deepEqual(
      data.map(({ reference }) => reference),
      [added["reference"], kept["reference"]],
    );
    assert.deepEqual(await copyBookings(key), data);
  });
