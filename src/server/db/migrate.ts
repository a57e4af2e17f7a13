import { readdir, readFile } from "node:fs/promises";
import type pg from "pg";
import type { Log } from "../lib/log.ts";
import { StartError } from "../lib/start-error.ts";
import type { Pool } from "./pool.ts";

// Forward-only numbered migrations. Every process migrates at its start; the lock lets one do it while the others wait
// and then find nothing left to do. Each file is one transaction, so a kill leaves either all of it or none.

const MIGRATIONS_FOLDER = new URL("../../../migrations/", import.meta.url);
const OLDEST_SERVER_VERSION = 180_000;
/** Any number, as long as nothing else in the database uses it. */
const MIGRATION_LOCK = 7_236_001;

type Migration = { number: number; name: string; file: URL };

export async function migrate(deps: { pool: Pool; log: Log }): Promise<{ applied: string[] }> {
  const migrations = await listMigrations();
  const client = await deps.pool.connect();
  try {
    await requireUsableServer(client);
    await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    try {
      return { applied: await applyMissing(client, migrations, deps.log) };
    } finally {
      await client.query("select pg_advisory_unlock($1)", [MIGRATION_LOCK]);
    }
  } finally {
    client.release();
  }
}

async function requireUsableServer(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string; shown: string }>(
    `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding,
            current_setting('server_version') as shown`,
  );
  const server = rows[0];
  if (Number(server?.version) < OLDEST_SERVER_VERSION)
    throw new StartError(`Bookflow needs PostgreSQL 18 or newer; DATABASE_URL leads to ${server?.shown}.`);
  if (server?.encoding !== "UTF8")
    throw new StartError(`Bookflow needs a database in UTF8; DATABASE_URL leads to one in ${server?.encoding}.`);
}

async function applyMissing(client: pg.PoolClient, migrations: Migration[], log: Log): Promise<string[]> {
  await client.query(`create table if not exists schema_migrations (
    number integer primary key, name text not null, applied_at timestamptz(3) not null default current_timestamp)`);
  const { rows } = await client.query<{ number: number }>("select number from schema_migrations order by number");
  const done = new Set(rows.map((row) => row.number));
  const newest = rows.at(-1)?.number ?? 0;
  if (newest > migrations.length)
    throw new StartError("The database was migrated by a newer Bookflow than this one; start that one, or a newer.");

  const applied: string[] = [];
  for (const migration of migrations.filter(({ number }) => !done.has(number))) {
    await applyOne(client, migration);
    log.info("database.migrated", { migration: migration.name });
    applied.push(migration.name);
  }
  return applied;
}

async function applyOne(client: pg.PoolClient, migration: Migration): Promise<void> {
  const text = await readFile(migration.file, "utf8");
  await client.query("begin");
  try {
    await client.query(text);
    await client.query("insert into schema_migrations (number, name) values ($1, $2)", [
      migration.number,
      migration.name,
    ]);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw new Error(`Migration ${migration.name} failed`, { cause: error });
  }
}

/** Numbers run from 1 without a gap; a gap or a double means two branches met, and is refused before anything runs. */
async function listMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS_FOLDER)).filter((name) => name.endsWith(".sql")).sort();
  return names.map((name, index) => {
    const number = Number(name.slice(0, 4));
    if (number !== index + 1) throw new Error(`Migration ${name} should have the number ${index + 1}`);
    return { number, name, file: new URL(name, MIGRATIONS_FOLDER) };
  });
}
