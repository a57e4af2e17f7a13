import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Kysely, sql } from "kysely";
import { createTestDatabase, isCluster } from "../../../../test/support/database/database.ts";
import { createLog } from "../../lib/log/log.ts";
import { asCareful } from "../connections/careful-client.ts";
import { type Db, Pool } from "../connections/pool.ts";
import { EngineDialect } from "../engine.ts";
import type { Tables } from "../tables/tables.ts";
import { checkFirst, writeHeld } from "./checked-connections.ts";
import { MOVED } from "./home-functions.ts";

// Plain PostgreSQL with its own functions in place of those that ask Citus; homes.test.ts runs on a cluster.

const skip = isCluster() && "a cluster has these functions";
const { url, db } = await createTestDatabase();
const pool = new Pool(
  { connectionString: url, max: 1 },
  { log: createLog("silent"), statementLimitMs: 15_000, onHomeLost: () => {} },
);
after(() => pool.end());
const open = (shard: string, writes: boolean): Db =>
  new Kysely<Tables>({ dialect: new EngineDialect(pool, checkFirst(pool, shard, { writes })) });
const [writer, reader] = [open("1", true), open("1", false)];
const MOVED_SHARD = "2";

if (!skip)
  await sql`
    create table notes (words text primary key);
    create function bookflow_hold(shard bigint) returns void language plpgsql as $$
    begin
      perform pg_advisory_xact_lock_shared(shard);
      if shard = ${sql.lit(Number(MOVED_SHARD))} then raise exception 'moved' using errcode = ${sql.lit(MOVED)}; end if;
    end $$;
    create function bookflow_look(shard bigint) returns void language plpgsql as $$
    begin
      if shard = ${sql.lit(Number(MOVED_SHARD))} then raise exception 'moved' using errcode = ${sql.lit(MOVED)}; end if;
    end $$`.execute(db);

const write = (home: Db, words: string) => sql`insert into notes values (${words})`.execute(home);
const isWritten = async (words: string) =>
  (await sql`select from notes where words = ${words}`.execute(db)).rows.length === 1;
/** Others wait for a shard group that is held. */
const listHeld = (home: Db) =>
  sql`select objid::integer as shard from pg_locks where locktype = 'advisory' and mode = 'ShareLock'`.execute(home);

test("a statement or transaction that writes holds its shard group until its commit", { skip }, async () => {
  await write(writer, "alone");
  await writer.transaction().execute(async (transaction) => {
    await write(transaction, "in a transaction");
    assert.deepEqual((await listHeld(transaction)).rows, [{ shard: 1 }]);
  });
  assert.deepEqual((await listHeld(db)).rows, []);
  assert.ok((await isWritten("alone")) && (await isWritten("in a transaction")));
});

test("nothing is written or read where the shard group has moved", { skip }, async () => {
  const moved = open(MOVED_SHARD, true);
  await assert.rejects(write(moved, "moved"), { code: MOVED });
  await assert.rejects(
    moved.transaction().execute((transaction) => write(transaction, "moved")),
    { code: MOVED },
  );
  const movedReader = open(MOVED_SHARD, false);
  await assert.rejects(sql`select words from notes`.execute(movedReader), { code: MOVED });
  await assert.rejects(
    movedReader.transaction().execute((transaction) => sql`select words from notes`.execute(transaction)),
    { code: MOVED },
  );
  assert.equal(await isWritten("moved"), false);
  await write(writer, "not moved");
  assert.ok(await isWritten("not moved"));
});

test("a reader can't write, and neither can a statement whose transaction did not begin", { skip }, async () => {
  const readOnly = { code: "25006" };
  await assert.rejects(write(reader, "by a reader"), readOnly);
  await assert.rejects(
    reader.transaction().execute((transaction) => write(transaction, "by a reader")),
    readOnly,
  );
  const client = await pool.connect();
  const statement = { text: "insert into notes values ('without beginning')" };
  await assert.rejects(asCareful(client).queryTogether([{ text: "begin nonsense" }, statement, { text: "commit" }]), {
    code: "42601",
  });
  client.release();
  assert.ok(!(await isWritten("by a reader")) && !(await isWritten("without beginning")));
});

test("statements of several shard groups are written together or not at all", { skip }, async () => {
  const toWrite = (words: string) => ({ text: "insert into notes values ($1)", values: [words] });
  const run = async (shards: string[], words: string[]) => {
    const client = await pool.connect();
    return await writeHeld(asCareful(client), shards, words.map(toWrite)).finally(() => client.release());
  };
  const results = await run(["1", "3"], ["first", "second"]);
  assert.deepEqual(
    results.map(({ rowCount }) => rowCount),
    [1, 1],
  );
  await assert.rejects(run(["1", "3"], ["third", "first"]), { code: "23505" });
  await assert.rejects(run(["1", MOVED_SHARD], ["third", "fourth"]), { code: MOVED });
  assert.ok((await isWritten("second")) && !(await isWritten("third")));
});
