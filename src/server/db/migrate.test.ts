import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createCommandLine } from "../../../test/support/app/cli.ts";
import { createTestDatabase, databaseUrl, onServer } from "../../../test/support/database/database.ts";
import { createLog } from "../lib/log/log.ts";
import { StartError } from "../lib/start-error.ts";
import { openPool, type Pool } from "./connections/pool.ts";
import { MIGRATIONS_FOLDER, migrate, requireUsableServer } from "./migrate.ts";

const log = createLog("silent");
const names = (await readdir(new URL("../../../migrations/", import.meta.url))).sort();

async function createEmptyDatabase(): Promise<{ url: string; pool: Pool }> {
  return await createTestDatabase({ template: "template1" });
}

function makeFolder(files: Record<string, string>): URL {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-migrations-"));
  after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return pathToFileURL(`${folder}/`);
}

async function listTables(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  return rows.map(({ name }) => name);
}

async function listApplied(pool: Pool): Promise<{ number: number; name: string }[]> {
  return (await pool.query("select number, name from schema_migrations order by number")).rows;
}

const isStartError = (sentence: string) => (error: unknown) => {
  assert.ok(error instanceof StartError, String(error));
  assert.equal(error.message, sentence);
  return true;
};

test("an empty database gets every migration in order, and a second start finds nothing to do", async () => {
  const { pool } = await createEmptyDatabase();
  assert.deepEqual(await migrate({ pool, log, folder: MIGRATIONS_FOLDER }), { applied: names });
  assert.deepEqual(
    await listApplied(pool),
    names.map((name, index) => ({ number: index + 1, name })),
  );
  assert.deepEqual(await migrate({ pool, log, folder: MIGRATIONS_FOLDER }), { applied: [] });
});

test("when six start at once on an empty database, one migrates and the others find it done", async () => {
  const { url, pool } = await createEmptyDatabase();
  const pools = Array.from({ length: 6 }, () => openPool({ url, size: 2, log }));
  const results = await Promise.all(pools.map((each) => migrate({ pool: each, log, folder: MIGRATIONS_FOLDER })));
  await Promise.all(pools.map((each) => each.end()));

  assert.deepEqual(
    results.map(({ applied }) => applied).sort((a, b) => b.length - a.length),
    [names, [], [], [], [], []],
  );
  assert.equal((await listApplied(pool)).length, names.length);
});

test("separate processes that start at once migrate only once", async () => {
  const { url } = await createEmptyDatabase();
  const line = createCommandLine({ DATABASE_URL: url });
  const outcomes = await Promise.all([1, 2, 3].map(() => line.run(["migrate", "--json"])));
  assert.deepEqual(
    outcomes.sort((a, b) => b.stdout.length - a.stdout.length),
    [names, [], []].map((applied) => ({ code: 0, stdout: `${JSON.stringify({ applied })}\n`, stderr: "" })),
  );
});

test("a database migrated by an older Bookflow gets the missing migrations", async () => {
  const { pool } = await createEmptyDatabase();
  const one = { "0001_one.sql": "create table one (a text);" };
  const two = { ...one, "0002_two.sql": "-- Two things.\ncreate table two (a text);\ninsert into one values ('x');" };
  assert.deepEqual(await migrate({ pool, log, folder: makeFolder(one) }), { applied: ["0001_one.sql"] });
  assert.deepEqual(await migrate({ pool, log, folder: makeFolder(two) }), { applied: ["0002_two.sql"] });
  assert.deepEqual(await listTables(pool), ["one", "schema_migrations", "two"]);
});

test("visits and their retention stay when packs with totals replace the counters", async () => {
  const { pool } = await createEmptyDatabase();
  const older = names.filter((name) => name < "0019");
  const texts = older.map((name) => [name, readFileSync(new URL(name, MIGRATIONS_FOLDER), "utf8")]);
  await migrate({ pool, log, folder: makeFolder(Object.fromEntries(texts)) });
  await pool.query(`
    insert into organizations (id, name, plan, created_at) values ('org_a', 'Practice', 'pro', '2026-11-01');
    insert into day_zones (organization_id, zone, rules, rules_release, version, sealed_before, kept_since)
      values ('org_a', 'UTC', 'UTC', '2026a', 1, '2026-11-03', '2026-10-01');
    insert into funnel_visits (organization_id, widget_id, visit_id, started_at, channel, source, campaign, page, device, country)
      values ('org_a', 'w_1', '00000000-0000-4000-8000-000000000001', '2026-11-01T10:00Z', 1, 2, 3, 4, 5, 6)`);
  await migrate({ pool, log, folder: MIGRATIONS_FOLDER });
  const { rows } = await pool.query(
    "select kept_since, packed_before, (select count(*) from funnel_visits) as visits from visit_progress",
  );
  assert.deepEqual(rows, [{ kept_since: new Date("2026-10-01T00:00:00Z"), packed_before: null, visits: 1 }]);
  assert.deepEqual(
    (await listTables(pool)).filter((name) => name.startsWith("funnel_")),
    [...["funnel_drops", "funnel_keys", "funnel_visits"]],
  );
});

test("a widget that was live on the practice Cal.com is in test mode, and what it collected there is test data", async () => {
  const { pool } = await createEmptyDatabase();
  const older = names.filter((name) => name < "0030");
  const texts = older.map((name) => [name, readFileSync(new URL(name, MIGRATIONS_FOLDER), "utf8")]);
  await migrate({ pool, log, folder: makeFolder(Object.fromEntries(texts)) });
  await pool.query(`
    insert into organizations (id, name, plan, created_at) values ('org_a', 'Clinic', 'pro', '2026-11-01');
    insert into scheduling_connections (organization_id, id, kind, name, settings, credentials, created_at, updated_at)
      select 'org_a', id, 'calcom', id, json_build_object('apiUrl', url)::jsonb, '', '2026-11-01', '2026-11-01' from (values
        ('c_practice', 'http://localhost:3000/practice-calcom/w_1'), ('c_real', 'https://api.cal.com/practice-calcom/w_1'),
        ('c_local', 'http://localhost:5555')) as given (id, url);
    insert into widgets (organization_id, id, name, business_name, template, status, collect_data, connection_id, created_at)
      select 'org_a', 'w_' || id, id, id, 'classic', 'active', true, id, '2026-11-01' from scheduling_connections;
    insert into live_periods (organization_id, widget_id, started_at, ended_at, is_practice) values
      ('org_a', 'w_c_practice', '2026-11-01', '2026-11-02', false), ('org_a', 'w_c_practice', '2026-11-02', null, true),
      ('org_a', 'w_c_real', '2026-11-02', null, false)`);
  await migrate({ pool, log, folder: MIGRATIONS_FOLDER });
  const { rows } = await pool.query(`
    select id, connection_id, (select count(*)::int from live_periods where widget_id = widgets.id) as periods
    from widgets order by id`);
  assert.deepEqual(rows, [
    { id: "w_c_local", connection_id: "c_local", periods: 0 },
    { id: "w_c_practice", connection_id: null, periods: 1 },
    { id: "w_c_real", connection_id: "c_real", periods: 1 },
  ]);
  const { rows: left } = await pool.query("select id from scheduling_connections order by id");
  assert.deepEqual(left, [{ id: "c_local" }, { id: "c_real" }]);
});

test("a database migrated by a newer Bookflow is refused with one line and not touched", async () => {
  const { pool } = await createEmptyDatabase();
  const folder = makeFolder({ "0001_one.sql": "create table one (a text);", "0002_two.sql": "select 1;" });
  await migrate({ pool, log, folder });
  const older = makeFolder({ "0001_one.sql": "create table one (a text);" });
  await assert.rejects(
    migrate({ pool, log, folder: older }),
    isStartError("The database was migrated by a newer version of Bookflow. Start that version or a newer one."),
  );
  assert.deepEqual(await listTables(pool), ["one", "schema_migrations"]);
});

test("a failed migration leaves nothing half done, and can be retried", async () => {
  const { pool } = await createEmptyDatabase();
  const one = { "0001_one.sql": "create table one (a text);" };
  const bad = "create table two (a text); insert into one values ('x'); create table one (a text);";
  const broken = makeFolder({ ...one, "0002_two.sql": bad, "0003_three.sql": "create table three (a text);" });
  const sentence = 'Migration 0002_two.sql failed and was undone: relation "one" already exists (42P07).';
  await assert.rejects(migrate({ pool, log, folder: broken }), isStartError(sentence));

  assert.deepEqual(await listTables(pool), ["one", "schema_migrations"]);
  assert.deepEqual(await listApplied(pool), [{ number: 1, name: "0001_one.sql" }]);
  assert.deepEqual((await pool.query("select a from one")).rows, []);

  const mended = makeFolder({ ...one, "0002_two.sql": "create table two (a text);" });
  assert.deepEqual(await migrate({ pool, log, folder: mended }), { applied: ["0002_two.sql"] });
});

test("a process waiting while another's migration fails tries it next", async () => {
  const { url, pool } = await createEmptyDatabase();
  const folder = makeFolder({ "0001_one.sql": "create table one (a text); select 1 / 0;" });
  const pools = Array.from({ length: 3 }, () => openPool({ url, size: 1, log }));
  const results = await Promise.allSettled(pools.map((each) => migrate({ pool: each, log, folder })));
  await Promise.all(pools.map((each) => each.end()));
  assert.deepEqual(
    results.map((result) => result.status === "rejected" && String(result.reason.message)),
    Array.from({ length: 3 }, () => "Migration 0001_one.sql failed and was undone: division by zero (22012)."),
  );
  assert.deepEqual(await listTables(pool), ["schema_migrations"]);
});

test("a start whose connection is cut midway leaves nothing, and the next one migrates", async () => {
  const { url, pool } = await createEmptyDatabase();
  const cut = "create table one (a text); select pg_terminate_backend(pg_backend_pid());";
  const victim = openPool({ url, size: 1, log });
  await assert.rejects(migrate({ pool: victim, log, folder: makeFolder({ "0001_one.sql": cut }) }));
  await victim.end();
  const folder = makeFolder({ "0001_one.sql": "create table one (a text);" });
  assert.deepEqual(await migrate({ pool, log, folder }), { applied: ["0001_one.sql"] });
});

test("duplicate or missing numbers are refused before anything runs", async () => {
  const { pool } = await createEmptyDatabase();
  const create = "create table one (a text);";
  const folders = [
    { "0001_one.sql": create, "0001_two.sql": create },
    { "0001_one.sql": create, "0003_three.sql": create },
    { "0002_two.sql": create },
    { "first.sql": create },
  ];
  for (const files of folders)
    await assert.rejects(migrate({ pool, log, folder: makeFolder(files) }), /should have the number/);
  assert.deepEqual(await listTables(pool), []);
});

test("a server that is too old, or a database in another encoding, is refused with one line", () => {
  const usable = { version: "180004", shown: "18.4", encoding: "UTF8" };
  requireUsableServer(usable);
  requireUsableServer({ ...usable, version: "190000", shown: "19beta1" });
  assert.throws(
    () => requireUsableServer({ ...usable, version: "150019", shown: "15.19 (Debian 15.19-0+deb12u1)" }),
    isStartError("Bookflow needs PostgreSQL 18 or newer, but DATABASE_URL points to 15.19 (Debian 15.19-0+deb12u1)."),
  );
  assert.throws(
    () => requireUsableServer({ ...usable, encoding: "SQL_ASCII" }),
    isStartError("Bookflow needs a UTF8 database, but the one at DATABASE_URL uses SQL_ASCII."),
  );
});

test("a real database in another encoding is refused before anything is created in it", async () => {
  const name = `latin1_${process.pid}`;
  await onServer(`create database ${name} template template0 encoding 'LATIN1' locale 'C' locale_provider libc`);

  const pool = openPool({ url: databaseUrl(name), size: 1, log });
  after(() => onServer(`drop database ${name} with (force)`));
  const sentence = "Bookflow needs a UTF8 database, but the one at DATABASE_URL uses LATIN1.";
  await assert.rejects(migrate({ pool, log, folder: MIGRATIONS_FOLDER }), isStartError(sentence));
  assert.deepEqual(await listTables(pool), []);
  await pool.end();
});

test("a user who can't create tables and a read-only database each give a one-line error", async () => {
  const { url, pool } = await createEmptyDatabase();
  const role = `guest_${process.pid}`;
  await onServer(`create role ${role} login`);
  after(() => onServer(`drop role ${role}`));
  const guest = openPool({ url, size: 1, log });
  guest.on("connect", (client) => void client.query(`set role ${role}`));
  await assert.rejects(
    migrate({ pool: guest, log, folder: MIGRATIONS_FOLDER }),
    isStartError("The database can't be migrated: permission denied for schema public (42501)."),
  );
  await guest.end();

  const reader = openPool({ url, size: 1, log });
  reader.on("connect", (client) => void client.query("set default_transaction_read_only = on"));
  await assert.rejects(
    migrate({ pool: reader, log, folder: MIGRATIONS_FOLDER }),
    isStartError("The database can't be migrated: cannot execute CREATE TABLE in a read-only transaction (25006)."),
  );
  await reader.end();
  assert.deepEqual(await listTables(pool), []);
});
