import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { type BatchColumn, toBatchRows, toBatchValues } from "./batch-rows.ts";

const { db } = await createTestDatabase();

type Item = { words: string | null; count: number | null; isKept: boolean | null; at: Date | null };

const COLUMNS: readonly BatchColumn<Item>[] = [
  { name: "words", type: "text", read: (item) => item.words },
  { name: "count", type: "integer", read: (item) => item.count },
  { name: "is_kept", type: "boolean", read: (item) => item.isKept },
  { name: "at", type: "timestamptz", read: (item) => item.at },
];

test("a statement gets the items of a batch as rows, in their order", async () => {
  const items: Item[] = [
    { words: 'a "quoted", \\ text', count: -1, isKept: true, at: new Date("2026-11-15T12:00:00.123Z") },
    { words: null, count: null, isKept: null, at: null },
    { words: "", count: 0, isKept: false, at: new Date(0) },
  ];
  const read = async (batch: readonly Item[]) => {
    const rows = toBatchRows("item", COLUMNS, toBatchValues(COLUMNS, batch));
    return (await sql`select words, count, is_kept as "isKept", at from ${rows}`.execute(db)).rows;
  };
  assert.deepEqual(await read(items), items);
  assert.deepEqual(await read([]), []);
});
