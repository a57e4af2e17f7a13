import pg from "pg";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../connections/pool.ts";
import { engineOf, OrganizationMoving } from "../engine.ts";
import { readAtHome, writeAtHome } from "../home.ts";

/** Runs in its own transaction, or in the caller's if there is one. */
export async function inTransaction<T>(db: Db, run: (transaction: Db) => Promise<T>): Promise<T> {
  if (db.isTransaction) return await run(db);
  try {
    return await db.transaction().execute(run);
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
