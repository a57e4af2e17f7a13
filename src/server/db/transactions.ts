import pg from "pg";
import type { OrganizationId } from "#contract/ids.ts";
import { engineOf, keepInPlace, OrganizationMoving } from "./engine.ts";
import { readAtHome, writeAtHome } from "./home.ts";
import type { Db } from "./pool.ts";

/**
 * Runs in its own transaction about one organization, or in the caller's if there is one. On Citus, the organization stays on its
 * server from the start of the transaction to its end.
 */
export async function inOrganization<T>(
  db: Db,
  owner: OrganizationId,
  run: (transaction: Db) => Promise<T>,
): Promise<T> {
  if (db.isTransaction) return await run(db);
  try {
    return await db.transaction().execute(async (transaction) => {
      await keepInPlace(transaction, owner);
      return await run(transaction);
    });
  } catch (error) {
    throw isStoppedByMove(db, error) ? new OrganizationMoving(error) : error;
  }
}

/**
 * Runs in its own transaction at the organization's home, or in the caller's if there is one. Statements in it name their tables
 * with `table` (home.ts) and read or write nothing that is only on the coordinator.
 */
export async function inHome<T>(db: Db, owner: OrganizationId, run: (transaction: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return await run(db);
  return await writeAtHome(db, owner, (home) => home.transaction().execute(run));
}

const DEADLOCK = "40P01";

/** A move locks widgets, keys and organizations too, so it may wait for a transaction that waits for it. */
function isStoppedByMove(db: Db, error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === DEADLOCK && engineOf(db) === "citus";
}

/** For statements that must read the same moment. On Citus, each server has its own; that of the first one read is the earliest. */
export async function inSnapshot<T>(db: Db, run: (transaction: Db) => Promise<T>): Promise<T> {
  return await db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute(run);
}

/** The same for one organization, at its home. */
export async function inHomeSnapshot<T>(
  db: Db,
  owner: OrganizationId,
  run: (transaction: Db) => Promise<T>,
): Promise<T> {
  return await readAtHome(db, owner, (home) => inSnapshot(home, run));
}

/**
 * Runs in a transaction about several organizations, or about none. On Citus, a process that is connected to a worker must not
 * read distributed tables in it before it writes to them.
 */
export async function acrossOrganizations<T>(db: Db, run: (transaction: Db) => Promise<T>): Promise<T> {
  return await db.transaction().execute(run);
}
