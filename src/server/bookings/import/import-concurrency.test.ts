import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import {
  importLines,
  makeLine,
  makeOwner,
  readTimes,
  toLines,
} from "../../../../test/support/bookings/import-lines.ts";
import { makeBooking, NOON } from "../../../../test/support/builders.ts";
import { untilSomeoneWaits } from "../../../../test/support/database/count-blocked.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import type { Db } from "../../db/connections/pool.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { TextLine } from "../../lib/text/text-lines.ts";
import { insertBooking, takeInstant } from "../stored/queries.ts";
import { importBookings } from "./import-bookings.ts";

const { db } = await createTestDatabase({ size: 20 });

test("bookings made while a file is read do not wait", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const live: string[] = [];
  async function* lines(): AsyncGenerator<readonly TextLine[]> {
    for (let count = 0; count < 1_001; count++) {
      // By then at least one batch is staged and its transaction is open.
      if (count === 1_000) {
        for (let made = 0; made < 3; made++) live.push((await makeBooking(db, owner, { widgetId })).reference);
      }
      yield* toLines([makeLine(widgetId, { createdAt: NOON.toISOString() })]);
    }
  }
  const result = await importBookings(db, owner, {
    lines: lines(),
    now: NOON,
    baseUrl: "http://localhost:3000",
    progress: () => {},
  });

  assert.deepEqual(result, { imported: 1_001, skipped: 0, deleted: 0 });
  const times = await readTimes(db, owner);
  assert.deepEqual(
    times.slice(0, 3).map(([reference]) => reference),
    live,
  );
  const noon = NOON.getTime();
  assert.deepEqual(
    times.map(([, createdAt]) => Date.parse(createdAt) - noon),
    Array.from({ length: 1_004 }, (_, ms) => ms),
  );
});

test("bookings made while rows are imported do not wait, and come after them", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const file = Array.from({ length: 50 }, () => makeLine(widgetId, { createdAt: NOON.toISOString() }));
  // An uncommitted row with the same reference blocks the import in the middle of its last statement.
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: isInTheWay, resolve: inTheWay } = Promise.withResolvers<void>();
  const blocking = db.transaction().execute(async (transaction) => {
    const reference = String(file[49]?.["reference"]);
    await insertBareBooking(transaction, owner, {
      widgetId,
      reference,
      createdAt: new Date("2020-01-01T00:00:00.000Z"),
    });
    inTheWay();
    await mayEnd;
    await sql`delete from bookings where reference = ${reference}`.execute(transaction);
  });
  await isInTheWay;
  const importing = importLines(db, owner, { lines: file });
  await untilSomeoneWaits(db);

  const first = await makeBooking(db, owner, { widgetId });
  const second = await makeBooking(db, owner, { widgetId });
  end();
  await blocking;

  assert.deepEqual(await importing, { imported: 50, skipped: 0, deleted: 0 });
  assert.deepEqual(
    [first.createdAt.toISOString(), second.createdAt.toISOString()],
    ["2026-11-01T12:00:00.050Z", "2026-11-01T12:00:00.051Z"],
  );
});

test("a booking that took its time before an import and commits during it keeps that time", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: hasTaken, resolve: taken } = Promise.withResolvers<void>();
  const live = inHome(db, owner, async (transaction) => {
    const createdAt = await takeInstant(transaction, owner, { of: "bookings", clock: { now: () => NOON } });
    taken();
    await mayCommit;
    await insertBareBooking(transaction, owner, { widgetId, reference: "SVC-ZZZZZ2", createdAt });
  });
  await hasTaken;
  const line = makeLine(widgetId, { createdAt: NOON.toISOString() });
  const importing = importLines(db, owner, { lines: [line] });
  await untilSomeoneWaits(db);
  commit();
  await live;

  assert.deepEqual(await importing, { imported: 1, skipped: 0, deleted: 0 });
  assert.deepEqual(await readTimes(db, owner), [
    ["SVC-ZZZZZ2", "2026-11-01T12:00:00.000Z"],
    [line["reference"], "2026-11-01T12:00:00.001Z"],
  ]);
});

test("simultaneous imports and bookings lose nothing and never collide", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const makeFile = () => Array.from({ length: 400 }, () => makeLine(widgetId, { createdAt: NOON.toISOString() }));
  const makeMany = async () => {
    const made: Date[] = [];
    for (let count = 0; count < 60; count++) made.push((await makeBooking(db, owner, { widgetId })).createdAt);
    return made;
  };
  const [, , ...live] = await Promise.all([
    importLines(db, owner, { lines: makeFile() }),
    importLines(db, owner, { lines: makeFile() }),
    makeMany(),
    makeMany(),
    makeMany(),
  ]);

  assert.equal((await readTimes(db, owner)).length, 2 * 400 + 3 * 60);
  for (const times of live) {
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a.getTime() - b.getTime()),
    );
  }
});

test("one file imported twice at the same time is imported once", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const lines = Array.from({ length: 300 }, () => makeLine(widgetId));
  const results = await Promise.all([1, 2, 3].map(() => importLines(db, owner, { lines })));
  assert.deepEqual(
    results.sort((a, b) => ("skipped" in a && "skipped" in b ? a.skipped - b.skipped : 0)),
    [
      { imported: 300, skipped: 0, deleted: 0 },
      { imported: 0, skipped: 300, deleted: 0 },
      { imported: 0, skipped: 300, deleted: 0 },
    ],
  );
});

test("of two organizations importing one reference at the same time, one is refused", async () => {
  const [one, other] = [await makeOwner(db), await makeOwner(db)];
  const file = Array.from({ length: 200 }, () => makeLine(one.widgetId));
  const results = await Promise.all([
    importLines(db, one.owner, { lines: file }),
    importLines(db, other.owner, { lines: file.map((line) => ({ ...line, widgetId: other.widgetId })).reverse() }),
  ]);

  const [first, second] = results.sort((a) => ("imported" in a ? -1 : 1));
  assert.deepEqual(first, { imported: 200, skipped: 0, deleted: 0 });
  assert.deepEqual(second, { line: 1, fault: "reference belongs to another organization's booking" });
  const stored = await Promise.all([one.owner, other.owner].map((owner) => readTimes(db, owner)));
  assert.deepEqual(stored.map((rows) => rows.length).sort(), [0, 200]);
});

async function insertBareBooking(
  to: Db,
  owner: OrganizationId,
  { widgetId, reference, createdAt }: { widgetId: WidgetId; reference: string; createdAt: Date },
): Promise<void> {
  await insertBooking(to, {
    organization_id: owner,
    reference: reference as Reference,
    widget_id: widgetId,
    status: "confirmed",
    created_at: createdAt,
    start_at: NOON,
    end_at: NOON,
    time_zone: "UTC",
    service_id: "svc-1",
    service_name: "Check-up",
    staff: "[]",
    customer_name: "Mara Quell",
    customer_email: "mara.quell@example.com",
    answers: "[]",
    attribution: "{}",
  });
}
