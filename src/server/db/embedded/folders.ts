import { chmodSync, existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StartError } from "../../lib/start-error.ts";
import { errorCode, notAFolderSentence, toStartError } from "./file-fault.ts";

/** Where root keeps what its databases need outside a data folder that only root may enter. */
export const SHARED_FOLDER = "/var/lib/bookflow";

/** Every name the embedded database uses in the data folder, except `postgres.new-*` while it is created. */
export function dataFolderPaths(dataDir: string) {
  return {
    /** The cluster itself, or a symbolic link to it. */
    cluster: join(dataDir, "postgres"),
    postgresLog: join(dataDir, "postgres.log"),
    /** The TCP port used last; only where a Unix socket cannot be used. */
    port: join(dataDir, "postgres-port"),
    lock: join(dataDir, "supervisor.lock"),
    clients: join(dataDir, "clients.lock"),
    status: join(dataDir, "supervisor.json"),
    supervisorLog: join(dataDir, "supervisor.log"),
  };
}

/** The real path, so that every spelling leads to the same supervisor. */
export function makeDataFolder(dataDir: string): string {
  try {
    if (!existsSync(dataDir)) {
      makeFolders(resolve(dataDir));
      // Root's database user must be able to reach the cluster through this folder; nobody else may list it.
      chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
    }
    if (!statSync(dataDir).isDirectory()) throw new StartError(notAFolderSentence(dataDir));
    return realpathSync(dataDir);
  } catch (error) {
    throw toStartError(error, dataDir);
  }
}

/** Node's own recursive mkdir reports ENOENT on a read-only file system. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Several processes may start at once; one creates it first.
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

/** A folder every user may pass through, whatever the umask of the process. */
export function makeOpenFolder(path: string): void {
  const umask = process.umask(0o022);
  try {
    mkdirSync(path, { recursive: true });
  } finally {
    process.umask(umask);
  }
}
