import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestDatabase, isCluster } from "../../../../test/support/database.ts";
import { createLog } from "../../lib/log.ts";
import { distributeTables } from "./distribute.ts";
import { COORDINATOR_TABLES, DISTRIBUTED_TABLES, PRIVATE_TABLES, REFERENCE_TABLES } from "./table-places.ts";

const { pool } = await createTestDatabase();

async function list(statement: string): Promise<string[]> {
  return (await pool.query<{ name: string }>(statement)).rows.map(({ name }) => name);
}

test("every table has one place on a cluster", async () => {
  const listed = [...DISTRIBUTED_TABLES, ...REFERENCE_TABLES, ...COORDINATOR_TABLES, ...PRIVATE_TABLES];
  const tables = await list(
    "select tablename as name from pg_tables where schemaname = 'public' and tablename !~ '_\\d{6,}$'",
  );
  assert.deepEqual(listed.toSorted(), tables.toSorted());
});

test("every key of a distributed table contains organization_id, and so does every foreign key between them", async () => {
  const wrong = await pool.query(
    `select conrelid::regclass::text as name, conname from pg_constraint
     where conrelid = any($1::text[]::regclass[]) and contype in ('p', 'u', 'f')
       and (contype <> 'f' or confrelid = any($1::text[]::regclass[]))
       and not exists (
         select from pg_attribute
         where attrelid = conrelid and attname = 'organization_id' and attnum = any(conkey)
       )`,
    [DISTRIBUTED_TABLES],
  );
  assert.deepEqual(wrong.rows, []);
});

test("on a cluster the migration puts every table in its place, and repeating it changes nothing", async (context) => {
  if (!isCluster()) return context.skip("no cluster: npm run cluster -- --bin DIR -- npm test -- FILE");
  const placed = (type: string) =>
    `select table_name::text as name from citus_tables where citus_table_type = '${type}' order by 1`;
  assert.deepEqual(await list(placed("distributed")), [...DISTRIBUTED_TABLES].sort());
  assert.deepEqual(await list(placed("reference")), [...REFERENCE_TABLES].sort());
  assert.deepEqual(
    await list(
      "select count(distinct colocation_id)::text as name from citus_tables where citus_table_type = 'distributed'",
    ),
    ["1"],
  );
  const client = await pool.connect();
  assert.deepEqual(await distributeTables(client, createLog("silent")), []);
  client.release();
});
