import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { openSilentWire } from "../../../../test/support/database/silent-wire.ts";
import { until } from "../../../../test/support/until.ts";
import { createLog } from "../../lib/log/log.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";
import { createListen } from "./listen.ts";
import { type Db, openDb, openLongRunningDb, openPool, Pool } from "./pool.ts";

/** Not events.once, which rejects when the pool emits the error of a connection that breaks between statements. */
function untilRemoved(pool: Pool): Promise<unknown> {
  return new Promise((resolve) => pool.once("remove", resolve));
}

test("a connection that breaks mid-statement fails that statement and nothing else", async () => {
  const { db, pool } = await createTestDatabase();
  const pid = new Promise<number>((resolve) =>
    pool.once("acquire", (client) => resolve((client as unknown as { processID: number }).processID)),
  );
  const removed = untilRemoved(pool);
  const failing = assert.rejects(sql`select pg_sleep(60)`.execute(db));
  await sql`select pg_terminate_backend(${await pid}::integer)`.execute(db);
  await Promise.all([failing, removed]);
  const { rows } = await sql<{ one: number }>`select 1 as one`.execute(db);
  assert.deepEqual(rows, [{ one: 1 }]);
});

describe("a connection that stops answering", { concurrency: true }, async () => {
  const STATEMENT_LIMIT_MS = 1_000;
  const LONGER_SECONDS = 2;
  const database = await createTestDatabase();
  await sql`create table notes (words text)`.execute(database.db);

  /** One connection, on a wire that can go silent. */
  async function openOnWire() {
    const wire = await openSilentWire(database.url);
    const log = createLog("silent");
    const pool = new Pool({ max: 1, connectionString: wire.url }, { log, statementLimitMs: STATEMENT_LIMIT_MS });
    after(() => pool.end());
    return { wire, pool, db: openDb(pool) };
  }

  const write = (db: Db, words: string) => sql`insert into notes values (${words})`.execute(db);
  const isWritten = async (words: string) =>
    (await sql`select from notes where words = ${words}`.execute(database.db)).rows.length === 1;

  const moments = ["begin", "statement", "commit", "rollback"] as const;
  for (const moment of moments) {
    test(`is also abandoned at a ${moment}: the transaction fails, its connection is closed, the next one works`, async () => {
      const { wire, pool, db } = await openOnWire();
      await sql`select 1`.execute(db);
      const removed = untilRemoved(pool);
      if (moment === "begin") wire.fallSilent();
      const transaction = db.transaction().execute(async (transaction) => {
        if (moment === "statement") wire.fallSilent();
        await write(transaction, moment);
        wire.fallSilent();
        if (moment === "rollback") throw new Error("changed our mind");
      });
      await assert.rejects(transaction, { message: "The database did not respond" });
      await removed;
      // The client can't know whether a commit with a lost response succeeded: this one did.
      if (moment !== "commit") assert.equal(await isWritten(moment), false);

      wire.mend();
      await db.transaction().execute((transaction) => write(transaction, `after ${moment}`));
      assert.equal(await isWritten(`after ${moment}`), true);
    });
  }

  test("is waited for only where statements may take long", async () => {
    const { pool, db } = await openOnWire();
    const takeLonger = sql`select pg_sleep(${LONGER_SECONDS})`;
    await openLongRunningDb(pool)
      .transaction()
      .execute((transaction) => takeLonger.execute(transaction));
    assert.equal(pool.totalCount, 1, "and the connection is used again");
    await assert.rejects(takeLonger.execute(db), { message: "The database did not respond" });
  });
});

describe("a server that stops answering", { concurrency: true }, async () => {
  const database = await createTestDatabase();

  /** Two connections, on a wire that can go silent. */
  async function openOnWire() {
    const wire = await openSilentWire(database.url);
    const logged: string[] = [];
    const log = createLog("info", { write: (line) => logged.push(JSON.parse(line).name) });
    const pool = openPool({ url: wire.url, size: 2, log });
    after(() => pool.end());
    return { wire, pool, log, logged, db: openDb(pool) };
  }

  const isUnavailable = (error: unknown) => error instanceof DatabaseUnavailable;

  /** How long it took to be refused. */
  async function measureRefusal(db: Db): Promise<number> {
    const startedAt = performance.now();
    await assert.rejects(sql`select 1`.execute(db), isUnavailable);
    return performance.now() - startedAt;
  }

  const isResponding = (db: Db) =>
    sql`select 1`.execute(db).then(
      () => true,
      () => false,
    );

  const isLongRunning = async () =>
    (await sql`select from pg_stat_activity where query = 'select pg_sleep(6)'`.execute(database.db)).rows.length > 0;

  test("fails pending requests first, then every request at once, until it answers again", async () => {
    const { wire, pool, db, logged } = await openOnWire();
    const longRunningDb = openLongRunningDb(pool);
    await Promise.all([sql`select pg_sleep(0.1)`.execute(db), sql`select pg_sleep(0.1)`.execute(db)]);
    const long = sql`select pg_sleep(6)`.execute(longRunningDb);
    await until(isLongRunning, "the server has the long statement");
    wire.fallSilent();
    const waits = await Promise.all(Array.from({ length: 5 }, () => measureRefusal(db)));
    const untilKnownMs = Math.min(...waits);
    for (const each of [db, longRunningDb])
      assert.ok((await measureRefusal(each)) < untilKnownMs / 2, "now it is known");
    assert.equal(pool.silence !== null, true);

    wire.mend();
    await until(() => isResponding(db), "the server responds again");
    assert.equal(pool.silence !== null, false);
    // A long statement that was under way is waited for.
    await long;
    assert.deepEqual(logged, ["database.silent", "database.answering"]);
  });

  test("is distinguished from one that is busy with a long statement", async () => {
    const { db, pool } = await openOnWire();
    await Promise.all([sql`select pg_sleep(4)`.execute(db), sql`select pg_sleep(4)`.execute(db)]);
    assert.equal(pool.silence !== null, false);
  });

  test("does not end a process that is starting: it listens once the server answers", async () => {
    const { wire, pool, log } = await openOnWire();
    await pool.query("select 1");
    const { promise: listens, resolve } = Promise.withResolvers<void>();
    wire.fallSilent();
    const removed = untilRemoved(pool);
    const listening = createListen(log)(pool, "news", resolve);
    await removed;
    wire.mend();
    await listens;
    await listening.stop();
  });
});
