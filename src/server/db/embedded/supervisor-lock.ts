import { chmodSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** SQLite's result code when another process holds the lock. */
const SQLITE_BUSY = 5;

type SupervisorLock = { release(): void };

/**
 * One holder per file on this machine, null when it is held by another process. The lock is the operating system's, taken
 * by SQLite because Node has no call for it, and dies with the process however that ends. The file stays empty.
 */
export function takeSupervisorLock(path: string): SupervisorLock | null {
  const database = new DatabaseSync(path);
  chmodSync(path, 0o600);
  try {
    database.exec("pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
}
