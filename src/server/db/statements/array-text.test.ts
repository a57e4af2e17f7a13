import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { toArrayText } from "./array-text.ts";

const { db } = await createTestDatabase();

test("PostgreSQL reads back null and every text it can store", async () => {
  const values = [
    ...["a", "", " ", "NULL", "null", "{}", "{a,b}", ",", '"', "\\", '\\"', '"\\', "a\nb\tc\r", "'", "''", "$1", "%s"],
    ...["ä", "😀", "\u2028", "\u0001", "a, b", "(1,2)", "\ufffd"],
    null,
  ];
  const { rows } = await sql<{ read: (string | null)[] }>`select ${toArrayText(values)}::text[] as read`.execute(db);
  assert.deepEqual(rows[0]?.read, values);
  const none = await sql<{ read: string[] }>`select ${toArrayText([])}::text[] as read`.execute(db);
  assert.deepEqual(none.rows[0]?.read, []);
});
