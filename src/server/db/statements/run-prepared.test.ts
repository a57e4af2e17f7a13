import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { createLog } from "../../lib/log/log.ts";
import { openDb, openPool } from "../connections/pool.ts";
import { FixedStatement, ofAnyLength } from "./run-prepared.ts";

const { db, url } = await createTestDatabase();

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
    await assert.rejects(statement.run(db, values as unknown as Values), /each placeholder of a statement has a value/);
});

test("a statement that reads its values while it is built fails", async () => {
  const reading = new FixedStatement<Row, Values>(({ name }) => sql<Row>`select ${`${name}`}`);
  await assert.rejects(reading.run(db, { name: "a", count: 1 }), /The statement's name is only known when it runs/);
  const listing = new FixedStatement<Row, Values>((values) => sql<Row>`select ${{ ...values }.name}`);
  await assert.rejects(listing.run(db, { name: "a", count: 1 }), /can't be listed while it is built/);
});

test("a prepared statement soon keeps its plan, however short its array is", async (context) => {
  const pool = openPool({ url, size: 1, log: createLog("silent") });
  after(() => pool.end());
  const one = openDb(pool);
  for (let call = 0; call < 10; call++)
    await sql`-- prepared: short_array
      select name from unnest(${ofAnyLength(["org_x"], "text[]")}) as sought (id) join organizations using (id)`.execute(
      one,
    );
  if (pool.engine === "citus") return context.skip("Citus plans for the parameters");
  const { rows } = await sql`select generic_plans, custom_plans from pg_prepared_statements
    where name = 'short_array'`.execute(one);
  assert.deepEqual(rows, [{ generic_plans: 5, custom_plans: 5 }]);
});
