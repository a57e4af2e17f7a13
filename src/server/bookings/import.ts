import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import {
  advanceClock,
  analyzeStaging,
  createStaging,
  dropKnownBookings,
  findStagedFault,
  insertStaged,
  type LineFault,
  moveOffStored,
  newestStaged,
  spreadTies,
  stageRows,
} from "./import-queries.ts";
import { type ImportRow, parseImportLine } from "./parse-import-line.ts";

const BATCH_ROWS = 500;

export type ImportResult = { imported: number; skipped: number } | LineFault;

/** Ends the transaction without a trace; the fault goes back to the caller as a value. */
class Refused extends Error {
  readonly lineFault: LineFault;
  constructor(lineFault: LineFault) {
    super("a line cannot be imported");
    this.lineFault = lineFault;
  }
}

/**
 * Imports a file of bookings as a whole or not at all. Running it again changes nothing: what is there is skipped.
 * No webhook is sent for an imported booking.
 */
export async function importBookings(
  db: Db,
  owner: OrganizationId,
  file: { lines: AsyncIterable<string>; now: Date; progress: (lines: number) => void },
): Promise<ImportResult> {
  try {
    return await db.transaction().execute(async (transaction) => {
      await createStaging(transaction);
      await stageFile(transaction, owner, file);
      await analyzeStaging(transaction);
      const fault = await findStagedFault(transaction, owner);
      if (fault) throw new Refused(fault);
      const skipped = await dropKnownBookings(transaction, owner);
      await settleCreatedAt({ db, transaction }, owner);
      return { imported: await insertStaged(transaction, owner), skipped };
    });
  } catch (error) {
    if (error instanceof Refused) return error.lineFault;
    throw error;
  }
}

async function stageFile(
  db: Db,
  owner: OrganizationId,
  file: { lines: AsyncIterable<string>; now: Date; progress: (lines: number) => void },
): Promise<void> {
  let line = 0;
  let batch: (ImportRow & { line: number })[] = [];
  for await (const text of file.lines) {
    line += 1;
    if (text.trim() === "") continue;
    const parsed = parseImportLine(text, file.now);
    if ("fault" in parsed) throw new Refused({ line, fault: parsed.fault });
    batch.push({ line, ...parsed.row });
    if (batch.length === BATCH_ROWS) {
      await stageRows(db, owner, batch);
      file.progress(line);
      batch = [];
    }
  }
  if (batch.length > 0) await stageRows(db, owner, batch);
  file.progress(line);
}

/**
 * Gives every staged row a createdAt of its own. The organization's clock is moved past the newest one in a transaction of
 * its own, committed at once: bookings being made meanwhile then get later times, wait for nothing, and cannot take a time
 * that was settled here.
 */
async function settleCreatedAt(dbs: { db: Db; transaction: Db }, owner: OrganizationId): Promise<void> {
  let moved: number;
  do {
    await spreadTies(dbs.transaction);
    const newest = await newestStaged(dbs.transaction);
    if (newest) await advanceClock(dbs.db, owner, newest);
    moved = await moveOffStored(dbs.transaction, owner);
  } while (moved > 0);
}
