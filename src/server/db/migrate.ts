import { readdir, readFile } from "node:fs/promises";
import pg from "pg";
import { assert } from "../lib/assert.ts";
import type { Log } from "../lib/log/log.ts";
import { StartError } from "../lib/start-error.ts";
import { requireKnownCitus } from "./citus/check-cluster.ts";
import { distributeTables, requireAlone, requireDistributed } from "./citus/distribute.ts";
import { connectPatiently, type Pool } from "./connections/pool.ts";
import { splitStatements } from "./statements/split-statements.ts";

// Forward-only numbered migrations. Every process migrates at its start; the lock lets one do it while the others wait
// and then find nothing left to do. Each file is one transaction, so a kill leaves either all of it or none.

export const MIGRATIONS_FOLDER = new URL("../../../migrations/", import.meta.url);
const OLDEST_SERVER_VERSION = 180_000;
/** Any number, as long as nothing else in the database uses it. */
const MIGRATION_LOCK = 7_236_001;

type Migration = { number: number; name: string; file: URL };

export async function migrate(deps: {
  pool: Pool;
  log: Log;
  folder: URL;
  /** Whether organizations that are already there may be moved to the servers of a cluster. */
  distributes?: boolean;
}): Promise<{ applied: string[] }> {
  const migrations = await listMigrations(deps.folder);
  const client = await connectPatiently(deps.pool);
  try {
    requireUsableServer(await readServer(client));
    await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    const applied = await applyMissing(client, migrations, deps.log);
    if (deps.pool.engine === "citus") {
      const { log, distributes = false } = deps;
      await (distributes ? requireAlone(client) : requireDistributed(client));
      await distributeTables(client, { log, isRepeated: distributes });
      await requireKnownCitus(client);
    }
    await client.query("select pg_advisory_unlock($1)", [MIGRATION_LOCK]);
    client.release();
    return { applied };
  } catch (error) {
    // Closing the connection releases the lock and any open transaction, whatever state they are in.
    client.release(true);
    throw error instanceof pg.DatabaseError ? toStartError(error) : error;
  }
}

type ServerFacts = { version: string; shown: string; encoding: string };

async function readServer(client: pg.PoolClient): Promise<ServerFacts> {
  const { rows } = await client.query<ServerFacts>(
    `select current_setting('server_version_num') as version, current_setting('server_version') as shown,
            current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  assert(server, "a select without from gives one row");
  return server;
}

export function requireUsableServer(server: ServerFacts): void {
  if (Number(server.version) < OLDEST_SERVER_VERSION)
    throw new StartError(`Bookflow needs PostgreSQL 18 or newer, but DATABASE_URL points to ${server.shown}.`);
  if (server.encoding !== "UTF8")
    throw new StartError(`Bookflow needs a UTF8 database, but the one at DATABASE_URL uses ${server.encoding}.`);
}

/** Missing permission to create tables, a read-only replica, a full disk: PostgreSQL's own message says it best. */
function toStartError(error: pg.DatabaseError): StartError {
  return new StartError(`The database can't be migrated: ${error.message} (${error.code}).`, { cause: error });
}

async function applyMissing(client: pg.PoolClient, migrations: Migration[], log: Log): Promise<string[]> {
  await client.query(`create table if not exists schema_migrations (
    number integer primary key, name text not null, applied_at timestamptz(3) not null default current_timestamp)`);
  const { rows } = await client.query<{ number: number }>("select number from schema_migrations order by number");
  const done = new Set(rows.map((row) => row.number));
  const newest = rows.at(-1)?.number ?? 0;
  if (newest > migrations.length)
    throw new StartError(
      "The database was migrated by a newer version of Bookflow. Start that version or a newer one.",
    );

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
    for (const statement of splitStatements(text)) await client.query(statement);
    await client.query("insert into schema_migrations (number, name) values ($1, $2)", [
      migration.number,
      migration.name,
    ]);
    await client.query("commit");
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new StartError(`Migration ${migration.name} failed and was undone: ${error.message} (${error.code}).`, {
      cause: error,
    });
  }
}

/** Numbers start at 1 without gaps: a gap or a duplicate means that two branches were merged, and is refused. */
async function listMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return names.map((name, index) => {
    const number = Number(name.slice(0, 4));
    if (number !== index + 1) throw new Error(`Migration ${name} should have the number ${index + 1}`);
    return { number, name, file: new URL(name, folder) };
  });
}
