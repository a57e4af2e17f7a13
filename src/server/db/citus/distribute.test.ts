import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { joinCluster } from "../../../../test/support/database/citus-cluster.ts";
import { createTestDatabase, isCluster, listDatabaseUrls } from "../../../../test/support/database/database.ts";
import { createLog } from "../../lib/log/log.ts";
import { StartError } from "../../lib/start-error.ts";
import { openDb, openPool } from "../connections/pool.ts";
import { MIGRATIONS_FOLDER, migrate } from "../migrate.ts";
import { distributeTables } from "./distribute.ts";
import { COORDINATOR_TABLES, DISTRIBUTED_TABLES, REFERENCE_TABLES, TABLES_BY_REFERENCE } from "./table-kinds.ts";

const { pool } = await createTestDatabase();
const log = createLog("silent");
const NO_CLUSTER = "no cluster: npm run cluster -- --bin DIR -- npm test -- FILE";

async function list(statement: string): Promise<string[]> {
  return (await pool.query<{ name: string }>(statement)).rows.map(({ name }) => name);
}

test("every table is of one kind on a cluster", async () => {
  const listed = [
    ...DISTRIBUTED_TABLES,
    ...TABLES_BY_REFERENCE,
    ...REFERENCE_TABLES,
    ...COORDINATOR_TABLES,
    // Read and written only by migrations, which run on the coordinator. Other servers don't know this table.
    "schema_migrations",
  ];
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
  if (!isCluster()) return context.skip(NO_CLUSTER);
  const placed = (type: string) =>
    `select table_name::text as name from citus_tables where citus_table_type = '${type}' order by 1`;
  assert.deepEqual(await list(placed("distributed")), [...DISTRIBUTED_TABLES, ...TABLES_BY_REFERENCE].sort());
  assert.deepEqual(await list(placed("reference")), [...REFERENCE_TABLES].sort());
  assert.deepEqual(
    await list(
      "select count(distinct colocation_id)::text as name from citus_tables where citus_table_type = 'distributed'",
    ),
    ["1"],
  );
  const client = await pool.connect();
  assert.deepEqual(await distributeTables(client, { log, isRepeated: true }), []);
  client.release();
});

test("a migration of several statements changes distributed tables", async (context) => {
  if (!isCluster()) return context.skip(NO_CLUSTER);
  const upgraded = await createTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), "bookflow-migrations-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const names = readdirSync(MIGRATIONS_FOLDER);
  for (const name of names) copyFileSync(new URL(name, MIGRATIONS_FOLDER), join(folder, name));
  const next = `${String(names.length + 1).padStart(4, "0")}_next.sql`;
  writeFileSync(
    join(folder, next),
    `alter table redeliveries add column extra integer;
     comment on column redeliveries.extra is 'one; two';
     create table extras (organization_id text collate "C" primary key);`,
  );
  assert.deepEqual(await migrate({ pool: upgraded.pool, log, folder: pathToFileURL(`${folder}/`) }), {
    applied: [next],
  });
  await upgraded.pool.query("insert into redeliveries (organization_id, extra) select 'org_1', 1 where false");
});

test("an existing database is moved onto a cluster only on request, all at once, and keeps its bookings", async (context) => {
  if (!isCluster()) return context.skip(NO_CLUSTER);
  const folder = MIGRATIONS_FOLDER;
  const plain = await createTestDatabase({ template: "template1" });
  await migrate({ pool: plain.pool, log, folder });
  const owner = await makeOrganization(plain.db);
  const widgetId = await makeWidget(plain.db, owner);
  const { reference } = await makeBooking(plain.db, owner, { widgetId, now: NOON });
  await joinCluster(listDatabaseUrls(new URL(plain.url).pathname.slice(1)));

  const open = () => openPool({ url: plain.url, size: 1, log });
  const asked = open();
  await assert.rejects(migrate({ pool: asked, log, folder }), StartError, "not without being asked");
  await assert.rejects(
    migrate({ pool: asked, log, folder, distributes: true }),
    StartError,
    "not while another process runs",
  );
  await asked.end();
  await plain.pool.end();

  const killed = open();
  const watcher = setInterval(async () => {
    const others =
      "select pg_terminate_backend(pid) from pg_stat_activity where query like '%create_distributed_table%'";
    await pool.query(`${others} and datname = '${new URL(plain.url).pathname.slice(1)}'`);
  }, 5);
  await assert.rejects(migrate({ pool: killed, log, folder, distributes: true }));
  clearInterval(watcher);
  await killed.end();

  const repeated = open();
  await migrate({ pool: repeated, log, folder, distributes: true });
  const db = openDb(repeated);
  assert.deepEqual(await db.selectFrom("bookings").select("reference").where("organization_id", "=", owner).execute(), [
    { reference },
  ]);
  assert.equal(
    (await repeated.query("select from citus_tables where citus_table_type = 'distributed'")).rowCount,
    DISTRIBUTED_TABLES.length + TABLES_BY_REFERENCE.length,
  );
  await repeated.end();
});
