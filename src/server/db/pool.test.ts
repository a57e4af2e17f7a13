import assert from "node:assert/strict";
import { once } from "node:events";
import { after, describe, test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../test/support/database.ts";
import { openSilentWire } from "../../../test/support/silent-wire.ts";
import { createLog } from "../lib/log.ts";
import { type Db, openDb, openPatientDb, openPool } from "./pool.ts";

test("a connection that breaks in the middle of a statement fails that statement and nothing else", async () => {
  const { db, pool } = await createTestDatabase();
  const pid = new Promise<number>((resolve) =>
    pool.once("acquire", (client) => resolve((client as unknown as { processID: number }).processID)),
  );
  const removed = once(pool, "remove");
  const failing = assert.rejects(sql`select pg_sleep(60)`.execute(db));
  await sql`select pg_terminate_backend(${await pid})`.execute(db);
  await Promise.all([failing, removed]);
  const { rows } = await sql<{ one: number }>`select 1 as one`.execute(db);
  assert.deepEqual(rows, [{ one: 1 }]);
});

describe("a server that no longer answers", { concurrency: true }, async () => {
  const SILENCE_LIMIT_MS = 1_000;
  const LONGER_SECONDS = 2;
  const database = await createTestDatabase();
  await sql`create table notes (words text)`.execute(database.db);

  /** One connection, on a wire that can fall silent. */
  async function openOnWire() {
    const wire = await openSilentWire(database.url);
    const pool = openPool({ url: wire.url, size: 1, log: createLog("silent"), silenceLimitMs: SILENCE_LIMIT_MS });
    after(() => pool.end());
    return { wire, pool, db: openDb(pool) };
  }

  const write = (db: Db, words: string) => sql`insert into notes values (${words})`.execute(db);
  const isWritten = async (words: string) =>
    (await sql`select from notes where words = ${words}`.execute(database.db)).rows.length === 1;

  const moments = ["begin", "statement", "commit", "rollback"] as const;
  for (const moment of moments) {
    test(`is given up at a ${moment} too: the transaction fails, its connection is gone, the next one works`, async () => {
      const { wire, pool, db } = await openOnWire();
      await sql`select 1`.execute(db);
      const removed = once(pool, "remove");
      if (moment === "begin") wire.fallSilent();
      const transaction = db.transaction().execute(async (transaction) => {
        if (moment === "statement") wire.fallSilent();
        await write(transaction, moment);
        wire.fallSilent();
        if (moment === "rollback") throw new Error("changed our mind");
      });
      await assert.rejects(transaction, { message: "The database did not answer" });
      await removed;
      // What became of a commit whose answer got lost is unknown to us: this one was made.
      if (moment !== "commit") assert.equal(await isWritten(moment), false);

      wire.mend();
      await db.transaction().execute((transaction) => write(transaction, `after ${moment}`));
      assert.equal(await isWritten(`after ${moment}`), true);
    });
  }

  test("is waited for where statements may be long, and only there", async () => {
    const { pool, db } = await openOnWire();
    const takeLonger = sql`select pg_sleep(${LONGER_SECONDS})`;
    await openPatientDb(pool)
      .transaction()
      .execute((transaction) => takeLonger.execute(transaction));
    assert.equal(pool.totalCount, 1, "and the connection is used again");
    await assert.rejects(takeLonger.execute(db), { message: "The database did not answer" });
  });
});
