import { randomBytes } from "node:crypto";
import { after } from "node:test";
import pg from "pg";
import { type Db, openDb, openPool, type Pool } from "../../../src/server/db/connections/pool.ts";
import { createLog } from "../../../src/server/lib/log/log.ts";
import { listHostUrls } from "../../../src/server/lib/text/host-urls.ts";
import { afterLastFile } from "../after-last-file.ts";

/** Created and migrated once by scripts/test.ts; every test file uses its own clone. */
export const TEMPLATE_DATABASE = "bookflow_template";

export type TestDatabase = { url: string; db: Db; pool: Pool };

/** A fresh migrated database for the calling test file, dropped when its tests are done. */
export async function createTestDatabase(options: { template?: string; size?: number } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  // The template's names and numbers are the same on every server of a cluster, so its clones make a cluster too.
  // Copying files takes a third less time than writing them to the log, and nobody changes the template meanwhile.
  await onEveryServer(`create database ${name} template ${options.template ?? TEMPLATE_DATABASE} strategy file_copy`);
  const url = databaseUrl(name);
  const pool = openPool({ url, size: options.size ?? 10, log: createLog("silent") });
  after(async () => {
    if (!pool.ending) await pool.end();
    await dropDatabase(name);
  });
  // The first connection learns what the database is, and where organizations are.
  if (isCluster()) {
    await pool.query("select 1");
    if ((options.template ?? TEMPLATE_DATABASE) === TEMPLATE_DATABASE) await pool.homes?.reload();
  }
  return { url, db: openDb(pool), pool };
}

async function dropDatabase(name: string): Promise<void> {
  const drop = () => onEveryServer(`drop database if exists ${name} with (force)`);
  try {
    await drop();
  } catch (error) {
    // Servers of a busy cluster may need more than PostgreSQL's five seconds to end their connections to each other.
    if (!isCluster() || !(error instanceof pg.DatabaseError) || error.code !== "55006") throw error;
    await drop();
  }
}

/** Whether the tests run on a Citus cluster: TEST_DATABASE_URL then names several servers, the coordinator first. */
export function isCluster(): boolean {
  return listHostUrls(process.env["TEST_DATABASE_URL"] ?? "").length > 1;
}

/** On a cluster, the coordinator's. */
export function databaseUrl(name: string): string {
  return listDatabaseUrls(name)[0] ?? "";
}

/** The URL for connections that pg_stat_activity shows by this name. */
export function nameConnections(url: string, name: string): string {
  return `${url}${url.includes("?") ? "&" : "?"}application_name=${name}`;
}

/** The database on every server. */
export function listDatabaseUrls(name: string): string[] {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url) throw new Error("Run tests with `npm test` (or `npm test -- FILE`): it starts the PostgreSQL they need");
  // Not through URL: the host of a Unix socket stands in the query, and stays as it is.
  return listHostUrls(url.replace(/(:\/\/[^/?]*)\/[^?]*/, `$1/${name}`));
}

export async function onEveryServer(statement: string, database = "postgres"): Promise<void> {
  await Promise.all(listDatabaseUrls(database).map((url) => onServer(statement, url)));
}

export async function onServer(statement: string, url = databaseUrl("postgres")): Promise<void> {
  const client = await (connections.get(url) ?? connect(url));
  await client.query(statement);
}

/** Kept, because connecting takes as long as a short test. */
const connections = new Map<string, Promise<pg.Client>>();
afterLastFile(async () => {
  for (const client of await Promise.all(connections.values())) await client.end();
});

function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  const connected = client.connect().then(() => client);
  connections.set(url, connected);
  // It can't connect, the server has stopped, or the database was dropped.
  const forget = () => {
    if (connections.get(url) === connected) connections.delete(url);
  };
  client.on("error", forget);
  connected.catch(forget);
  return connected;
}
