import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { createLog } from "../../lib/log/log.ts";
import { asCareful } from "./careful-client.ts";
import { isDatabaseUnavailable } from "./database-unavailable.ts";
import { type Db, openDb, openPool } from "./pool.ts";

const database = await createTestDatabase();
await sql`create table notes (words text primary key)`.execute(database.db);
await sql`insert into notes values ('taken')`.execute(database.db);

/** One connection. */
async function openOne() {
  const pool = openPool({ url: database.url, size: 1, log: createLog("silent") });
  after(() => pool.end());
  const client = await pool.connect();
  return { pool, client, db: openDb(pool), send: asCareful(client).queryTogether.bind(client) };
}

const BEGIN = { text: "begin" };
const COMMIT = { text: "commit" };
const toWrite = (words: string) => ({ text: "-- prepared: write\ninsert into notes values ($1)", values: [words] });
const write = (db: Db, words: string) => sql`insert into notes values (${words})`.execute(db);
const isWritten = async (words: string) =>
  (await sql`select from notes where words = ${words}`.execute(database.db)).rows.length === 1;

test("statements that are sent together run in order, and return what each returns", async () => {
  const { client, send } = await openOne();
  const counting = { text: "select count(*) as count from notes where words like $1", values: ["in order %"] };
  const results = await send([BEGIN, toWrite("in order 1"), toWrite("in order 2"), counting, COMMIT]);
  assert.deepEqual(
    results.map(({ command }) => command),
    ["BEGIN", "INSERT", "INSERT", "SELECT", "COMMIT"],
  );
  assert.deepEqual(results[3]?.rows, [{ count: 2 }]);
  client.release();
});

const FAULTS = {
  "violates a constraint": { text: "insert into notes values ('taken')", code: "23505" },
  "lost against another transaction": {
    text: "do $$ begin raise exception 'lost' using errcode = '40001'; end $$",
    code: "40001",
  },
  "took too long": { text: "set local statement_timeout = 1; select pg_sleep(60)", code: "57014" },
  "was cancelled": { text: "select pg_cancel_backend(pg_backend_pid()), pg_sleep(60)", code: "57014" },
  "ended the connection": { text: "select pg_terminate_backend(pg_backend_pid()), pg_sleep(60)", code: "57P01" },
};

for (const [name, { text, code }] of Object.entries(FAULTS))
  test(`if one of them ${name}, its error counts, the transaction has no effect, and the pool goes on`, async () => {
    const { client, db, send } = await openOne();
    const together = send([BEGIN, toWrite(`before: ${name}`), { text }, toWrite(`after: ${name}`), COMMIT]);
    // Writing to a connection that the server has ended may fail before its error is read.
    const isExpected = (error: unknown) =>
      (error instanceof pg.DatabaseError && error.code === code) || (code === "57P01" && isDatabaseUnavailable(error));
    await assert.rejects(together, isExpected).finally(() => client.release());
    await db.transaction().execute((transaction) => write(transaction, name));
    assert.deepEqual(await Promise.all([`before: ${name}`, `after: ${name}`, name].map(isWritten)), [
      false,
      false,
      true,
    ]);
  });

test("a connection is not handed on while a transaction is open on it", async () => {
  const { client, pool, db } = await openOne();
  await client.query("begin");
  await client.query("insert into notes values ('left open')");
  client.release();
  await write(db, "after one that was left open");
  assert.ok(await isWritten("after one that was left open"));
  const failed = await pool.connect();
  await failed.query("begin");
  await assert.rejects(failed.query("select 1 / 0"), { code: "22012" });
  failed.release();
  await write(db, "after one that failed");
  assert.ok(await isWritten("after one that failed"));
  assert.equal(await isWritten("left open"), false);
});

test("a connection that the server ended is not handed on", async () => {
  const { client, db } = await openOne();
  await assert.rejects(client.query("select pg_terminate_backend(pg_backend_pid())"), isDatabaseUnavailable);
  client.release();
  assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }]);
});

describe("a transaction", { concurrency: true }, () => {
  test("is rolled back as a whole, also if its first statement fails", async () => {
    const { client, pool, db } = await openOne();
    client.release();
    for (const words of [["before the fault", "taken"], ["taken"]])
      await assert.rejects(
        db.transaction().execute(async (transaction) => {
          for (const each of words) await write(transaction, each);
        }),
        { code: "23505" },
      );
    assert.equal(await isWritten("before the fault"), false);
    await write(db, "after the fault");
    assert.ok(await isWritten("after the fault"), "the next statement is in no failed transaction");
    assert.equal(pool.totalCount, 1, "and the connection is used again");
  });

  test("goes back to a savepoint", async () => {
    const { client, db } = await openOne();
    client.release();
    await db.transaction().execute(async (transaction) => {
      await sql`savepoint one; set local lock_timeout = 1000`.execute(transaction);
      await assert.rejects(write(transaction, "taken"), { code: "23505" });
      await sql`rollback to savepoint one`.execute(transaction);
      const { rows } = await sql`show lock_timeout`.execute(transaction);
      assert.deepEqual(rows, [{ lock_timeout: "0" }]);
      await write(transaction, "kept");
    });
    assert.ok(await isWritten("kept"));
  });
});

test("a prepared statement that could not be planned is planned again", async () => {
  const { client, db, send } = await openOne();
  const read = { text: "-- prepared: read_later\nselect words from later where words = $1", values: ["x"] };
  await assert.rejects(send([BEGIN, read, read, COMMIT]), { code: "42P01" });
  client.release();
  await sql`create table later (words text)`.execute(db);
  assert.deepEqual(
    (await sql`-- prepared: read_later\nselect words from later where words = ${"x"}`.execute(db)).rows,
    [],
  );
});
