import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { FixedStatement } from "./run-prepared.ts";

const { db } = await createTestDatabase();

type Row = { first: string | null; second: number; again: string | null; same: string };

let builds = 0;
type Values = { name: string | null; count: number };
const statement = new FixedStatement<Row, Values>(({ name, count }) => {
  builds += 1;
  return sql<Row>`-- prepared: fixed_statement
    select ${name}::text as first, ${count}::integer as second, ${name}::text as again, ${"always"}::text as same`;
});

test("a fixed statement is built once, and gets its values by name, whatever their order", async () => {
  assert.deepEqual(await statement.run(db, { count: 1, name: "a" }), [
    { first: "a", second: 1, again: "a", same: "always" },
  ]);
  assert.deepEqual(await statement.run(db, { name: null, count: 2 }), [
    { first: null, second: 2, again: null, same: "always" },
  ]);
  assert.equal(builds, 1);
});

test("a missing value is a bug, not null", async () => {
  for (const values of [{ count: 1 }, { count: 1, name: undefined }])
    await assert.rejects(statement.run(db, values as unknown as Values), /the statement's name has a value/);
});

test("a statement that reads its values while it is built fails", async () => {
  const reading = new FixedStatement<Row, Values>(({ name }) => sql<Row>`select ${`${name}`}`);
  await assert.rejects(reading.run(db, { name: "a", count: 1 }), /The statement's name is only known when it runs/);
  const listing = new FixedStatement<Row, Values>((values) => sql<Row>`select ${{ ...values }.name}`);
  await assert.rejects(listing.run(db, { name: "a", count: 1 }), /can't be listed while it is built/);
});
