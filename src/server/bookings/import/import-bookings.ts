import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { OrganizationMoving } from "../../db/engine.ts";
import type { TextLine } from "../../lib/text/text-lines.ts";
import { withCreatedAt } from "../stored/to-api-json.ts";
import { type ImportRow, parseImportLine } from "./parse-import-line.ts";
import {
  advanceClock,
  analyzeStaging,
  createStaging,
  dropStaged,
  findStagedFault,
  insertStaged,
  isVisible,
  type LineFault,
  listMoved,
  type MovedRow,
  newestStaged,
  reserveReferences,
  settleTies,
  stageRows,
  waitForOtherImports,
  writeApiJson,
} from "./queries.ts";

const BATCH_ROWS = 500;
/** Limits the JSON text sent to PostgreSQL when lines are very long. */
const BATCH_CHARACTERS = 4_000_000;

type ImportFile = {
  lines: AsyncIterable<readonly TextLine[]>;
  now: Date;
  /** BASE_URL, which decides about links. */
  baseUrl: string;
  progress: (lines: number) => void;
};

/** `skipped` already existed; `deleted` were erased, deleted or have expired, and stay so. */
export type ImportResult = { imported: number; skipped: number; deleted: number } | LineFault;

/** Rolls the transaction back; the caller gets the fault as a value. */
class Refused extends Error {
  readonly lineFault: LineFault;
  constructor(lineFault: LineFault) {
    super("a line cannot be imported");
    this.lineFault = lineFault;
  }
}

/**
 * Imports a whole file or nothing. Bookings that exist, or were deleted here, are skipped, so a second run changes nothing. Sends no
 * webhooks.
 */
export async function importBookings(db: Db, owner: OrganizationId, file: ImportFile): Promise<ImportResult> {
  try {
    // Read committed: each statement must see what others have committed before it.
    const transactions = db.transaction().setIsolationLevel("read committed");
    return await transactions.execute(async (transaction) => {
      await createStaging(transaction);
      await stageFile(transaction, owner, file);
      await analyzeStaging(transaction);
      if (!(await isVisible(transaction, owner))) throw new OrganizationMoving();
      await waitForOtherImports(transaction, owner);
      await reserveReferences(transaction, owner);
      const fault = await findStagedFault(transaction, owner);
      if (fault) throw new Refused(fault);
      // In this order: a booking that is deleted between the two was skipped by the first, and the deletion of one that was deleted
      // before is recorded by now.
      const skipped = await dropStaged(transaction, owner, "bookings");
      const deleted = await dropStaged(transaction, owner, "booking_deletions");
      await settleCreatedAt({ db, transaction }, owner);
      await rewriteMoved(transaction);
      return { imported: await insertStaged(transaction), skipped, deleted };
    });
  } catch (error) {
    if (error instanceof Refused) return error.lineFault;
    throw error;
  }
}

async function stageFile(db: Db, owner: OrganizationId, file: ImportFile): Promise<void> {
  let line = 0;
  let batch: (ImportRow & { line: number })[] = [];
  let batchCharacters = 0;
  for await (const block of file.lines)
    for (const read of block) {
      line += 1;
      if ("fault" in read) throw new Refused({ line, fault: read.fault });
      if (read.text.trim() === "") continue;
      const parsed = parseImportLine(read.text, file);
      if ("fault" in parsed) throw new Refused({ line, fault: parsed.fault });
      batch.push({ line, ...parsed.row });
      batchCharacters += read.text.length;
      if (batch.length === BATCH_ROWS || batchCharacters >= BATCH_CHARACTERS) {
        await stageRows(db, owner, batch);
        file.progress(line);
        batch = [];
        batchCharacters = 0;
      }
    }
  if (batch.length > 0) await stageRows(db, owner, batch);
  file.progress(line);
}

/**
 * Gives every staged row a unique createdAt. First the organization's clock moves to the newest one, in its own transaction:
 * bookings made meanwhile don't wait and get later times. If resolving ties moves rows past that time, live bookings may
 * already be there, so the loop runs again.
 */
async function settleCreatedAt(dbs: { db: Db; transaction: Db }, owner: OrganizationId): Promise<void> {
  let reserved: Date | null = null;
  let newest = await newestStaged(dbs.transaction);
  while (newest && (!reserved || newest > reserved)) {
    await advanceClock(dbs.db, owner, newest);
    reserved = newest;
    await settleTies(dbs.transaction, owner);
    newest = await newestStaged(dbs.transaction);
  }
}

/** The JSON of a booking contains its createdAt. */
async function rewriteMoved(transaction: Db): Promise<void> {
  let moved: MovedRow[];
  let afterLine = 0;
  do {
    moved = await listMoved(transaction, { afterLine, limit: BATCH_ROWS });
    const rows = moved.map(({ line, created_at, api_json }) => ({
      line,
      api_json: withCreatedAt(api_json, created_at),
    }));
    if (rows.length > 0) await writeApiJson(transaction, rows);
    afterLine = moved.at(-1)?.line ?? afterLine;
  } while (moved.length === BATCH_ROWS);
}
