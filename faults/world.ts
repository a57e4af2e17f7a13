import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { parseConfig } from "../src/server/config.ts";
import { createDeps, type ServiceDeps } from "../src/server/create-deps.ts";
import { type Db, openDb, openPool } from "../src/server/db/connections/pool.ts";
import { SUPERUSER_PASSWORD_FILE } from "../src/server/db/embedded/create-cluster.ts";
import { dataFolderPaths } from "../src/server/db/embedded/folders.ts";
import { readPidFile } from "../src/server/db/embedded/leftover-server.ts";
import { openEmbeddedDatabase } from "../src/server/db/embedded/open.ts";
import { MIGRATIONS_FOLDER, migrate } from "../src/server/db/migrate.ts";
import { createLog } from "../src/server/lib/log/log.ts";
import { addConnection } from "../src/server/scheduler/connections/connections.ts";
import { addEndpoint } from "../src/server/webhooks/endpoints/endpoints.ts";
import { noAudit } from "../test/support/app/no-audit.ts";
import { makeKey, makeOrganization, makeWidget } from "../test/support/builders.ts";
import { findFreePort } from "../test/support/programs/free-port.ts";
import { type CalcomServer, startCalcomServer } from "../test/support/scheduler/calcom/calcom-server.ts";
import { type DatabaseProxy, startDatabaseProxy } from "./database-proxy.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { Service } from "./service.ts";

// Everything a round needs: PostgreSQL on its own disk, several web and worker processes behind a proxy to it, a webhook
// receiver and a scheduling system.

const DISK_SIZE = "1g";
const SECRET_KEY = "a secret key for the fault suite, 32 characters and more";
const WEBS = 2;
const WORKERS = 2;

export type World = {
  readonly folder: string;
  readonly dataDir: string;
  /** Whether the data folder is on its own small disk, which can be filled. */
  readonly hasOwnDisk: boolean;
  readonly clockFile: string;
  /** A direct connection to PostgreSQL, bypassing the proxy, for the checks. */
  readonly db: Db;
  readonly databaseUrl: string;
  readonly proxy: DatabaseProxy;
  readonly receiver: Receiver;
  readonly calcom: CalcomServer;
  readonly webs: readonly Service[];
  readonly workers: readonly Service[];
  readonly apiKey: string;
  readonly eventWidgets: readonly WidgetId[];
  readonly bookingWidgets: readonly WidgetId[];
  /** The one of them that books in the scheduling system; the others book in their sandboxes. */
  readonly externalWidget: WidgetId;
  close(): Promise<void>;
};

export async function openWorld(logFolder: string): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-faults-"));
  // PostgreSQL runs as another user when root starts it, and that user needs access to the folder.
  chmodSync(folder, 0o711);
  mkdirSync(logFolder, { recursive: true });
  const disk = join(folder, "disk");
  mkdirSync(disk);
  const hasOwnDisk = mountDisk(disk);
  const dataDir = join(disk, "data");
  const embedded = await openEmbeddedDatabase({ dataDir, notice: () => undefined });
  await boundJournal(embedded.url, dataDir);
  const log = createLog("silent");
  const pool = openPool({ url: embedded.url, size: 4, log });
  await migrate({ pool, log, folder: MIGRATIONS_FOLDER });
  const db = openDb(pool);

  const clockFile = makeClockFile(folder);
  const { host, port, user, password, database } = new pg.Client({ connectionString: embedded.url });
  const proxy = await startDatabaseProxy(host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  const [receiver, calcom] = await Promise.all([startReceiver(), startCalcomServer()]);
  const settings = {
    DATABASE_URL: `postgres://${user}:${password}@127.0.0.1:${proxy.port}/${database}`,
    ...toServiceSettings({ folder, clockFile }),
  };
  const deps = await createDeps({ config: parseConfig(settings), database: { db, pool }, log });
  const business = await setUpBusiness(deps, { receiver, calcom });

  const making = { settings, logFolder };
  const webs = await Promise.all(Array.from({ length: WEBS }, (_, n) => makeService(`web-${n + 1}`, "web", making)));
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, (_, n) => makeService(`worker-${n + 1}`, "worker", making)),
  );
  for (const service of [...webs, ...workers]) await service.start();

  return {
    folder,
    dataDir,
    hasOwnDisk,
    clockFile,
    db,
    databaseUrl: embedded.url,
    proxy,
    receiver,
    calcom,
    webs,
    workers,
    ...business,
    async close() {
      await Promise.all([...webs, ...workers].map((service) => service.end("SIGKILL")));
      await Promise.all([deps.scheduler.outbound.close(), deps.webhooks.send.close()]);
      proxy.close();
      receiver.close();
      await calcom.stop();
      await pool.end();
      await embedded.release();
      if (hasOwnDisk) execFileSync("umount", ["-l", disk]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function makeService(
  name: string,
  role: "web" | "worker",
  { settings, logFolder }: { settings: Record<string, string>; logFolder: string },
): Promise<Service> {
  const port = await findFreePort();
  const own = role === "web" ? { PORT: String(port) } : { WORKER_PORT: String(port) };
  return new Service({
    name,
    port,
    settings: { ...settings, ROLE: role, ...own },
    logPath: join(logFolder, `${name}.log`),
  });
}

export function makeClockFile(folder: string): string {
  const file = join(folder, "clock-shift");
  writeFileSync(file, "0");
  return file;
}

/** Only root can mount. Otherwise the "full disk" fault is left out. */
function mountDisk(place: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_SIZE},mode=711`, "tmpfs", place], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The write-ahead log must not fill the small disk by itself. */
async function boundJournal(url: string, dataDir: string): Promise<void> {
  const password = readFileSync(join(dataFolderPaths(dataDir).cluster, SUPERUSER_PASSWORD_FILE), "utf8").trim();
  const client = new pg.Client({ connectionString: url.replace(/\/\/bookflow:[^@]*@/, `//postgres:${password}@`) });
  await client.connect();
  await client.query("alter system set max_wal_size = '128MB'");
  await client.query("select pg_reload_conf()");
  await client.end();
}

export function toServiceSettings({
  folder,
  clockFile,
}: {
  folder: string;
  clockFile: string;
}): Record<string, string> {
  return {
    SECRET_KEY,
    DATA_DIR: join(folder, "service"),
    HOST: "127.0.0.1",
    LOG_LEVEL: "warn",
    CLOCK_SHIFT_FILE: clockFile,
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    WEBHOOK_TIMEOUT_MS: "2000",
    WEBHOOK_RETRY_SCHEDULE: "1,2,3,5,8,10,15,20",
    ...unlimited(),
  };
}

function unlimited(): Record<string, string> {
  const names = readFileSync(new URL("../.env.example", import.meta.url), "utf8").match(/RATE_LIMIT_\w+/g) ?? [];
  return Object.fromEntries(names.map((name) => [name, "0"]));
}

async function setUpBusiness(deps: ServiceDeps, outside: { receiver: Receiver; calcom: CalcomServer }) {
  const { db } = deps;
  const owner: OrganizationId = await makeOrganization(db, { timeZone: "Europe/Berlin" });
  const { key: apiKey } = await makeKey(db, owner);
  const endpoint = { url: outside.receiver.url, kind: "webhook", description: "" } as const;
  const added = await addEndpoint(deps, owner, endpoint, noAudit);
  if (added.kind !== "added") throw new Error(`The endpoint was refused: ${added.kind}`);
  const eventWidgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  const bookingWidgets = await Promise.all(Array.from({ length: 4 }, () => makeWidget(db, owner)));
  const connection = await addConnection(
    deps,
    owner,
    { kind: "calcom", name: "Cal.com", ...outside.calcom.parts },
    noAudit,
  );
  if (connection.kind !== "added") throw new Error(`The connection was refused: ${JSON.stringify(connection)}`);
  const externalWidget = bookingWidgets[0] as WidgetId;
  await db.updateTable("widgets").set({ connection_id: connection.id }).where("id", "=", externalWidget).execute();
  return { apiKey, eventWidgets, bookingWidgets, externalWidget };
}

export function listServerPids(world: World): number[] {
  const postmaster = readPostmasterPid(world);
  if (Number.isNaN(postmaster)) return [];
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(postmaster)], { encoding: "utf8" });
  return [postmaster, ...children.trim().split(/\s+/).filter(Boolean).map(Number)];
}

/** NaN while no server runs, or one has not written its pid yet. */
export function readPostmasterPid({ dataDir }: World): number {
  return readPidFile(dataFolderPaths(dataDir).cluster)?.pid || Number.NaN;
}

export function countFreeBytes({ dataDir }: World): number {
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize;
}
