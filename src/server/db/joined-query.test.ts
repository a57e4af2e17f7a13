import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { sql } from "kysely";
import type pg from "pg";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { createLog } from "../lib/log/log.ts";
import { joinsNext } from "./joined-query.ts";
import { type Db, openDb, openPool } from "./pool.ts";

const database = await createTestDatabase();
await sql`create table notes (words text primary key)`.execute(database.db);

/** One connection, on which `begin` and a savepoint have run before. */
async function openOne() {
  const pool = openPool({ url: database.url, size: 1, log: createLog("silent") });
  after(() => pool.end());
  const db = openDb(pool);
  await db.transaction().execute(async (transaction) => {
    await sql`savepoint one`.execute(transaction);
    await sql`release savepoint one`.execute(transaction);
  });
  return { pool, db };
}

async function countRoundTrips(client: pg.PoolClient, run: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  const counting = () => count++;
  connection.on("readyForQuery", counting);
  await run();
  connection.off("readyForQuery", counting);
  return count;
}

const write = (db: Db, words: string) => sql`insert into notes values (${words})`.execute(db);
const isWritten = async (words: string) =>
  (await sql`select from notes where words = ${words}`.execute(database.db)).rows.length === 1;

test("texts without a result that anyone needs join the next statement", () => {
  for (const text of [
    "begin",
    "start transaction isolation level repeatable read read only",
    "savepoint fan_out",
    "release savepoint fan_out",
    "set local lock_timeout = 1000",
    "set local lock_timeout to default",
  ])
    assert.ok(joinsNext(text), text);
  for (const text of [
    "commit",
    "rollback",
    "rollback to savepoint fan_out",
    "begin; select 1",
    "select 1",
    "set lock_timeout = 1000",
    `savepoint ${"x".repeat(60)}`,
  ])
    assert.ok(!joinsNext(text), text);
});

describe("a transaction", { concurrency: true }, () => {
  test("takes no round trip for its beginning and its savepoints", async () => {
    const { pool, db } = await openOne();
    const client = await pool.connect();
    client.release();
    const count = await countRoundTrips(client, () =>
      db.transaction().execute(async (transaction) => {
        await write(transaction, "first");
        await sql`savepoint one`.execute(transaction);
        await write(transaction, "second");
        await sql`release savepoint one`.execute(transaction);
        const { rows, numAffectedRows } = await write(transaction, "third");
        assert.deepEqual({ rows, numAffectedRows }, { rows: [], numAffectedRows: 1n });
        const { rows: found } =
          await sql`select words from notes where words = any(${["first", "second"]}) order by 1`.execute(transaction);
        assert.deepEqual(found, [{ words: "first" }, { words: "second" }]);
      }),
    );
    assert.equal(count, 5, "three inserts, a select and the commit");
    assert.ok(await isWritten("third"));
  });

  test("is rolled back as a whole, also if its first statement fails", async () => {
    const { db } = await openOne();
    await write(db, "taken");
    await assert.rejects(
      db.transaction().execute(async (transaction) => {
        await write(transaction, "before the fault");
        await write(transaction, "taken");
      }),
      { code: "23505" },
    );
    assert.equal(await isWritten("before the fault"), false);
    await assert.rejects(
      db.transaction().execute((transaction) => write(transaction, "taken")),
      { code: "23505" },
    );
    await write(db, "after the fault");
    assert.ok(await isWritten("after the fault"), "the next statement is in no failed transaction");
  });

  test("goes back to a savepoint that was sent with the failed statement", async () => {
    const { db } = await openOne();
    await write(db, "taken too");
    await db.transaction().execute(async (transaction) => {
      await sql`savepoint one`.execute(transaction);
      await assert.rejects(write(transaction, "taken too"), { code: "23505" });
      await sql`rollback to savepoint one`.execute(transaction);
      await sql`release savepoint one`.execute(transaction);
      await write(transaction, "kept");
    });
    assert.ok(await isWritten("kept"));
  });

  test("may begin with several statements in one text, or have none", async () => {
    const { db } = await openOne();
    await db.transaction().execute(async (transaction) => {
      await sql`insert into notes values ('several'); insert into notes values ('statements')`.execute(transaction);
      assert.equal(await isWritten("several"), false);
    });
    assert.ok(await isWritten("statements"));
    await db.transaction().execute(async () => undefined);
    await write(db, "after none");
    assert.ok(await isWritten("after none"));
  });
});

describe("a rollback", { concurrency: true }, () => {
  test("isn't sent for a transaction whose beginning wasn't", async () => {
    const { pool, db } = await openOne();
    const client = await pool.connect();
    client.release();
    const count = await countRoundTrips(client, async () => {
      const refused = db.transaction().execute(() => Promise.reject(new Error("changed our mind")));
      await assert.rejects(refused, { message: "changed our mind" });
    });
    assert.equal(count, 0);
    await write(db, "after a rollback");
    assert.ok(await isWritten("after a rollback"));
  });

  test("is sent alone in a failed transaction", async () => {
    const { pool, db } = await openOne();
    const refused = db.transaction().execute(async (transaction) => {
      await sql`savepoint one`.execute(transaction);
      await sql`select from nowhere where ${true}`.execute(transaction).catch(() => undefined);
      await sql`release savepoint one`.execute(transaction);
      throw new Error("changed our mind");
    });
    await assert.rejects(refused, { message: "changed our mind" });
    assert.equal(pool.totalCount, 1, "and the connection is used again");
  });
});

test("a connection that is asked twice at once leaves nothing out", async () => {
  const { pool } = await openOne();
  const client = await pool.connect();
  await client.query("begin");
  await Promise.all([client.query("select 1"), client.query("savepoint one"), client.query("select 2")]);
  await client.query("rollback to savepoint one");
  await client.query("rollback");
  await client.query("begin");
  assert.throws(() => client.query("select 1", () => undefined), /waits to be sent/);
  client.release();
});

test("a statement is skipped if one that was sent with it fails", async () => {
  const { pool, db } = await openOne();
  await db.connection().execute(async (connection) => {
    await sql`release savepoint one`.execute(connection);
    await assert.rejects(write(connection, "skipped"), { code: "25P01" });
  });
  assert.equal(await isWritten("skipped"), false);
  assert.equal(pool.totalCount, 1, "and the connection is used again");
  await write(db, "not skipped");
  assert.ok(await isWritten("not skipped"));
});

test("what was not sent is not sent for the next user of the connection", async () => {
  const { pool, db } = await openOne();
  const client = await pool.connect();
  await client.query("begin");
  client.release();
  await write(db, "outside");
  assert.ok(await isWritten("outside"));
});

test("a prepared statement that could not be planned after a begin is planned again", async () => {
  const { db } = await openOne();
  const readLater = (transaction: Db) =>
    sql`-- prepared: read_later
    select words from later where words = ${"x"}`.execute(transaction);
  await assert.rejects(db.transaction().execute(readLater), { code: "42P01" });
  await sql`create table later (words text)`.execute(db);
  assert.deepEqual((await db.transaction().execute(readLater)).rows, []);
});
