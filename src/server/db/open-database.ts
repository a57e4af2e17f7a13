import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config.ts";
import type { Log } from "../lib/log/log.ts";
import { StartError } from "../lib/start-error.ts";
import { DatabaseUnavailable } from "./connections/database-unavailable.ts";
import { type Db, openDb, openPool, type Pool } from "./connections/pool.ts";
import { openEmbeddedDatabase } from "./embedded/open.ts";
import { MIGRATIONS_FOLDER, migrate } from "./migrate.ts";

/** How long to wait for a server that is starting or a network that is not up yet. */
const SERVER_PATIENCE_MS = 30_000;
const RETRY_PAUSE_MS = 500;
const LAST_STATEMENT_MS = 1_000;

const CANNOT_CONNECT_NOW = "57P03";

export type Database = { db: Db; pool: Pool; applied: string[]; close(): Promise<void> };

/** The configured PostgreSQL, or the embedded one, migrated. */
export async function openDatabase(deps: {
  config: Config;
  log: Log;
  notice: (sentence: string) => void;
  /** Whether organizations that are already there may be moved to the servers of a cluster. */
  distributes?: boolean;
}): Promise<Database> {
  const { config, log } = deps;
  const embedded =
    config.databaseUrl === null ? await openEmbeddedDatabase({ dataDir: config.dataDir, notice: deps.notice }) : null;
  const url = embedded?.url ?? config.databaseUrl ?? "";
  const pool = openPool({ url, size: config.databasePoolSize, log });
  const close = async () => {
    // A statement that is still running has had its grace period; its connection ends with the process.
    await Promise.race([pool.end(), sleep(LAST_STATEMENT_MS, undefined, { ref: false })]);
    await embedded?.release();
  };
  try {
    const applied = await migrateFirst({ ...deps, url });
    // Every statement needs to know which engine it runs on.
    await pool.query("select 1");
    await pool.homes?.reload();
    return { db: openDb(pool), pool, applied, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** In a cluster, only the coordinator can be migrated. */
async function migrateFirst(deps: {
  url: string;
  log: Log;
  notice: (sentence: string) => void;
  distributes?: boolean;
}): Promise<string[]> {
  const pool = openPool({ url: deps.url, size: 1, log: deps.log });
  try {
    await waitForServer(pool, deps.notice);
    const { log, distributes = false } = deps;
    return (await migrate({ pool, log, folder: MIGRATIONS_FOLDER, distributes })).applied;
  } finally {
    await pool.end();
  }
}

async function waitForServer(pool: Pool, notice: (sentence: string) => void): Promise<void> {
  const giveUpAtMs = performance.now() + SERVER_PATIENCE_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      await pool.query("select 1");
      return;
    } catch (error) {
      if (!isWorthWaitingFor(error) || performance.now() >= giveUpAtMs)
        throw new StartError(describeRefusal(error), { cause: error });
      if (attempt === 1) notice("Waiting for the database at DATABASE_URL.");
      await sleep(RETRY_PAUSE_MS);
    }
  }
}

/** A server that is still starting, or that hasn't answered yet. Its refusals, such as a wrong password, are final. */
function isWorthWaitingFor(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || (error as { code?: unknown }).code === CANNOT_CONNECT_NOW;
}

/** PostgreSQL's messages name users and databases, never passwords. */
function describeRefusal(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const said = cause instanceof Error && cause.message !== "" ? cause : error;
  return `The database at DATABASE_URL can't be used: ${said instanceof Error ? said.message : String(said)}.`;
}
