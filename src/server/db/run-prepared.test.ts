import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { FixedStatement } from "./run-prepared.ts";

const { db } = await createTestDatabase();

type Row = { first: string | null; second: number; again: string | null; same: string };

let builds = 0;
const statement = new FixedStatement<Row, { name: string; count: number }>(({ name, count }) => {
  builds += 1;
  return sql<Row>`-- prepared: fixed_statement
    select ${name}::text as first, ${count}::integer as second, ${name}::text as again, ${"always"}::text as same`;
});

test("a fixed statement is put together once, and gets its values by name, whatever their order", async () => {
  assert.deepEqual(await statement.run(db, { count: 1, name: "a" }), [
    { first: "a", second: 1, again: "a", same: "always" },
  ]);
  assert.deepEqual(await statement.run(db, { name: null, count: 2 }), [
    { first: null, second: 2, again: null, same: "always" },
  ]);
  assert.equal(builds, 1);
});

test("a missing value is a bug, not null", async () => {
  const values = { count: 1 } as unknown as { name: string; count: number };
  await assert.rejects(statement.run(db, values), /the statement's name has a value/);
});
