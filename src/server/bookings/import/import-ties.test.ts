import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Kysely, PostgresDialect } from "kysely";
import {
  afterOctober,
  importLines,
  makeLine,
  makeOwner,
  readTimes,
} from "../../../../test/support/bookings/import-lines.ts";
import { makeBooking, NOON } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import type { Tables } from "../../db/tables/tables.ts";

const { db, pool } = await createTestDatabase();

/** Imports lines at these offsets in milliseconds, and returns where they ended up, in line order. */
async function settle(stored: readonly number[], staged: readonly number[]): Promise<number[]> {
  const { owner, widgetId } = await makeOwner(db);
  const makeFile = (times: readonly number[]) => times.map((ms) => makeLine(widgetId, { createdAt: afterOctober(ms) }));
  const [storedFile, stagedFile] = [makeFile(stored), makeFile(staged)];
  await importLines(db, owner, { lines: storedFile });
  const before = await readTimes(db, owner);
  assert.deepEqual(await importLines(db, owner, { lines: stagedFile }), {
    imported: staged.length,
    skipped: 0,
    deleted: 0,
  });

  const after = new Map(await readTimes(db, owner));
  for (const [reference, createdAt] of before) assert.equal(after.get(reference), createdAt, "a stored booking stays");
  const start = Date.parse(afterOctober(0));
  return stagedFile.map((line) => Date.parse(String(after.get(String(line["reference"])))) - start);
}

test("createdAt is kept, whatever the order of the file", async () => {
  const { owner, widgetId } = await makeOwner(db);
  const times = [
    "2026-10-03T00:00:00.000Z",
    "2025-01-01T00:00:00.001Z",
    NOON.toISOString(),
    "2026-10-01T00:00:00.000Z",
  ];
  const lines = times.map((createdAt) => makeLine(widgetId, { createdAt }));
  await importLines(db, owner, { lines });
  assert.deepEqual(
    await readTimes(db, owner),
    lines.map((line) => [line["reference"], line["createdAt"]]).sort((a, b) => (String(a[1]) < String(b[1]) ? -1 : 1)),
  );
});

const TIES: readonly (readonly [name: string, stored: number[], staged: number[], settled: number[]])[] = [
  ["equal times in a file are shifted by a millisecond each, in line order", [], [0, 0, 0], [0, 1, 2]],
  ["times shifted by a tie keep their order", [], [0, 0, 1, 0, 5, 1], [0, 1, 3, 2, 5, 4]],
  ["a time taken by a stored booking is shifted by a millisecond", [5], [4, 5, 6], [4, 6, 7]],
  ["a time inside a run of stored bookings is shifted past the run", [0, 1, 2, 3], [0, 0, 3], [4, 5, 6]],
  ["gaps between stored bookings are used", [0, 2, 4, 6], [0, 0, 0, 0, 0], [1, 3, 5, 7, 8]],
  ["times around a run stay", [10, 11, 12, 13], [9, 11, 12, 20], [9, 14, 15, 20]],
  ["ties that reach a run jump over it", [3, 4], [0, 0, 0, 0, 0], [0, 1, 2, 5, 6]],
  ["without ties nothing moves", [100], [0, 1, 2], [0, 1, 2]],
  ["older stored bookings cause no shift", [0, 1, 2], [3, 3], [3, 4]],
];

for (const [name, stored, staged, settled] of TIES) {
  test(name, async () => {
    assert.deepEqual(await settle(stored, staged), settled);
  });
}

test("each line gets its first free millisecond", async () => {
  const times = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(times, times, async (first, staged) => {
      const stored = [...new Set(first)];
      const taken = new Set(stored);
      const expected: number[] = [];
      for (const [index, ms] of [...staged.entries()].sort((a, b) => a[1] - b[1] || a[0] - b[0])) {
        let free = ms;
        while (taken.has(free)) free += 1;
        taken.add(free);
        expected[index] = free;
      }
      assert.deepEqual(await settle(stored, staged), expected);
    }),
    { numRuns: 60, seed: 2026 },
  );
});

test("a booking made after an import comes after everything imported", async () => {
  const { owner, widgetId } = await makeOwner(db);
  await importLines(db, owner, { lines: [0, 0, 0].map(() => makeLine(widgetId, { createdAt: NOON.toISOString() })) });
  const { createdAt } = await makeBooking(db, owner, { widgetId, now: NOON });
  assert.equal(createdAt.toISOString(), "2026-11-01T12:00:00.003Z");
});

test("importing older bookings does not set the organization's clock back", async () => {
  const { owner, widgetId } = await makeOwner(db);
  await makeBooking(db, owner, { widgetId, now: NOON });
  await importLines(db, owner, { lines: [makeLine(widgetId)] });
  const { createdAt } = await makeBooking(db, owner, { widgetId, now: NOON });
  assert.equal(createdAt.toISOString(), "2026-11-01T12:00:00.001Z");
});

test("ties of several batches take one statement", async (t) => {
  let statements = 0;
  const counting = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), log: () => void statements++ });
  const { owner, widgetId } = await makeOwner(db);
  const make = (count: number, gapMs: number) =>
    Array.from({ length: count }, (_, index) => makeLine(widgetId, { createdAt: afterOctober(index * gapMs) }));
  await importLines(counting, owner, { lines: make(1, 0) });
  const usual = statements;

  /**
   * Three batches of 500 lines are staged when one line is its own batch; one more round settles the shifted ones, whose JSON is
   * then read and written in three batches.
   */
  const allowed = usual + 2 + 3 + 6;
  for (const [name, storedGapMs] of [["an unbroken run", 0] as const, ["a run with a gap after each", 2] as const]) {
    await t.test(`1,500 bookings with one timestamp over ${name} of 1,500`, async () => {
      await db.deleteFrom("bookings").where("organization_id", "=", owner).execute();
      await importLines(db, owner, { lines: make(1_500, storedGapMs) });
      statements = 0;
      await importLines(counting, owner, { lines: make(1_500, 0) });
      assert.ok(statements <= allowed, `${statements} statements, ${allowed} allowed`);
      assert.deepEqual(
        (await readTimes(db, owner)).map(([, createdAt]) => createdAt),
        Array.from({ length: 3_000 }, (_, index) => afterOctober(index)),
      );
    });
  }
});
