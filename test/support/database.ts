import { randomBytes } from "node:crypto";
import { after } from "node:test";
import pg from "pg";
import { type Db, openDb, openPool, type Pool } from "../../src/server/db/pool.ts";
import { createLog } from "../../src/server/lib/log.ts";

/** Created and migrated once by scripts/test.ts; every test file uses its own clone. */
export const TEMPLATE_DATABASE = "bookflow_template";

export type TestDatabase = { url: string; db: Db; pool: Pool };

/** A fresh migrated database for the calling test file, dropped when its tests are done. */
export async function createTestDatabase(options: { template?: string; size?: number } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await onServer(`create database ${name} template ${options.template ?? TEMPLATE_DATABASE}`);
  const url = databaseUrl(name);
  const pool = openPool({ url, size: options.size ?? 10, log: createLog("silent") });
  after(async () => {
    await pool.end();
    await onServer(`drop database ${name} with (force)`);
  });
  return { url, db: openDb(pool), pool };
}

export function databaseUrl(name: string): string {
  const url = process.env["TEST_DATABASE_URL"];
  if (!url) throw new Error("Run tests with `npm test` (or `npm test -- FILE`): it starts the PostgreSQL they need");
  // Not through URL: a Unix socket's host is in the query, and must stay unchanged.
  return url.replace(/(:\/\/[^/?]*)\/[^?]*/, `$1/${name}`);
}

export async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl("postgres") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
