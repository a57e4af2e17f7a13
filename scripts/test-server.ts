import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openPool } from "../src/server/db/connections/pool.ts";
import { SUPERUSER_PASSWORD_FILE } from "../src/server/db/embedded/create-cluster.ts";
import { dataFolderPaths } from "../src/server/db/embedded/folders.ts";
import { openEmbeddedDatabase } from "../src/server/db/embedded/open.ts";
import { MIGRATIONS_FOLDER, migrate } from "../src/server/db/migrate.ts";
import { createLog } from "../src/server/lib/log/log.ts";
import { createCitusDatabase } from "../test/support/database/citus-cluster.ts";
import {
  databaseUrl,
  isCluster,
  listDatabaseUrls,
  onEveryServer,
  onServer,
  TEMPLATE_DATABASE,
} from "../test/support/database/database.ts";
import { temporaryFolder } from "../test/support/programs/temporary-folder.ts";

/** Nothing in it is worth keeping, and no table lives long enough to need vacuuming. */
const SETTINGS_OFF = ["fsync", "synchronous_commit", "full_page_writes", "autovacuum", "wal_init_zero"];

export type TestServer = {
  /** Stops the server and removes every trace of it, unless it existed before. */
  close(): Promise<void>;
};

/**
 * The server at TEST_DATABASE_URL, or one for this run only; either way with a freshly migrated template database. Sets
 * TEST_DATABASE_URL for test/support/database/database.ts here and in the processes that run the tests.
 */
export async function openTestServer(): Promise<TestServer> {
  const server = process.env["TEST_DATABASE_URL"] ? { close: async () => {} } : await openPrivateServer();
  try {
    await makeTemplate();
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function openPrivateServer(): Promise<TestServer> {
  const folder = mkdtempSync(join(temporaryFolder(), "bookflow-test-"));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  // PostgreSQL refuses to run as root; the user it runs as instead must be able to reach its files.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  try {
    const dataDir = join(folder, "data");
    const { url, release } = await openEmbeddedDatabase({
      dataDir,
      sharedFolder: join(folder, "shared"),
      notice: () => {},
    });
    const password = readFileSync(join(dataFolderPaths(dataDir).cluster, SUPERUSER_PASSWORD_FILE), "utf8").trim();
    process.env["TEST_DATABASE_URL"] = toSuperuserUrl(url, password);
    for (const setting of SETTINGS_OFF) await onServer(`alter system set ${setting} = off`);
    // Checking a password costs each side 4 ms of processor time otherwise.
    await onServer("alter system set scram_iterations = 1");
    await onServer("select pg_reload_conf()");
    await onServer(`alter role postgres password '${password}'`);
    return { close: () => release().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Tests create databases and change server settings, which the service's own role can't. */
function toSuperuserUrl(url: string, password: string): string {
  return url.replace(/\/\/bookflow:[^@]*@/, `//postgres:${password}@`);
}

/** Created under another name and then renamed, so that an earlier run's template exists until the new one does. */
async function makeTemplate(): Promise<void> {
  const draft = `${TEMPLATE_DATABASE}_${process.pid}`;
  const log = createLog("silent");
  if (isCluster()) await createCitusDatabase(listDatabaseUrls(draft));
  else await onServer(`create database ${draft}`);
  const pool = openPool({ url: databaseUrl(draft), size: 1, log });
  await migrate({ pool, log, folder: MIGRATIONS_FOLDER }).finally(() => pool.end());
  // Citus keeps connections between the servers, and PostgreSQL clones only what nobody is connected to.
  if (isCluster()) {
    await onEveryServer(`alter database ${draft} allow_connections false`);
    await onEveryServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${draft}'`);
  }
  await onEveryServer(`drop database if exists ${TEMPLATE_DATABASE} with (force)`);
  await onEveryServer(`alter database ${draft} rename to ${TEMPLATE_DATABASE}`);
}
