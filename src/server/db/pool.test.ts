import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../test/support/database.ts";

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
