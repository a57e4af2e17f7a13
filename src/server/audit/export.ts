import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import type { RowPosition } from "../http/paging.ts";
import { BYTE_ORDER_MARK, toCsvLine } from "../lib/text/csv.ts";
import { type AuditFilter, type AuditRow, listAuditEntries } from "./queries.ts";

const ROWS_PER_PIECE = 500;
const HEADINGS = ["at", "action", "target", "name", "userId", "email", "person", "detail"];

/** Matching entries as CSV, newest first, read page by page as the client takes them. */
export async function* exportAudit(db: Db, owner: OrganizationId, filter: AuditFilter): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + toCsvLine(HEADINGS);
  for (let before: RowPosition | null = null; ; ) {
    const rows: AuditRow[] = await listAuditEntries(db, owner, { ...filter, before, limit: ROWS_PER_PIECE });
    if (rows.length > 0) yield rows.map(toLine).join("");
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_PER_PIECE) return;
    before = last;
  }
}

function toLine({ at, action, target, user_id: userId, email, name, detail }: AuditRow): string {
  const { name: targetName, ...facts } = detail;
  const written = Object.entries(facts).map(([fact, value]) => `${fact}: ${value}`);
  return toCsvLine([at.toISOString(), action, target, targetName, userId, email, name, written.join("\n")]);
}
