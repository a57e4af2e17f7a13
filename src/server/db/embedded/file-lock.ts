import { accessSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** SQLite's result code when another process holds the lock. */
const SQLITE_BUSY = 5;

export type FileLock = { release(): void };

/**
 * Locks a file for all processes of this machine: shared with others, or alone. Null if others are in the way. The lock is the
 * operating system's, taken by SQLite because Node has no call for it, and ends with the process however that ends. The file
 * stays empty.
 */
export function takeFileLock(path: string, mode: "shared" | "alone", patienceMs = 0): FileLock | null {
  // Created only here: closing a file that this process has locked would unlock it.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  // SQLite's own error doesn't say why a file can't be opened.
  accessSync(path, constants.R_OK | constants.W_OK);
  const database = new DatabaseSync(path, { timeout: patienceMs });
  try {
    database.exec("pragma journal_mode = memory");
    // A read transaction takes its lock with its first read.
    database.exec(mode === "shared" ? "begin; select name from sqlite_master" : "begin exclusive");
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
}
