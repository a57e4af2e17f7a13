import type { OrganizationId } from "#contract/ids.ts";
import { readDayTotals } from "../analytics/analytics.ts";
import { listChanges, listDeletions, NEWEST_FIRST, selectInOrder, toImportable } from "../bookings/bookings.ts";
import type { Db } from "../db/connections/pool.ts";
import { addDays } from "../lib/time/calendar.ts";

// The rows of a day as lines of JSON, newest first. Memory holds one page, however many there are.

/** Rows of bookings, changes or deletions that one statement reads. */
const PAGE_ROWS = 500;

type Day = { day: string; keptSince: Date; timeZone: string | null };
type ReadDay = (db: Db, owner: OrganizationId, day: Day) => AsyncGenerator<string>;

/** In the order in which they are written. */
export const EXPORT_TABLES = {
  bookings: (db, owner, day) =>
    readPages(day, async ({ from, before }) => {
      const range = { createdFrom: from, createdBefore: before, limit: PAGE_ROWS };
      const rows = await selectInOrder(db, owner, { ...NEWEST_FIRST, ...range, widgetId: null });
      return { rows: rows.map(toImportable), last: rows.at(-1)?.created_at };
    }),
  changes: (db, owner, day) =>
    readPages(day, async (range) => {
      const rows = await listChanges(db, owner, { ...range, limit: PAGE_ROWS });
      return { rows, last: rows.at(-1)?.changedAt };
    }),
  deletions: (db, owner, day) =>
    readPages(day, async (range) => {
      const rows = await listDeletions(db, owner, { ...range, limit: PAGE_ROWS });
      return { rows, last: rows.at(-1)?.deletedAt };
    }),
  daily_totals: async function* (db, owner, day) {
    yield toLines(await readDayTotals(db, owner, day));
  },
} as const satisfies Record<string, ReadDay>;
/** A day that has it is complete. Its file is never empty. */
export const LAST_TABLE = "daily_totals" satisfies keyof typeof EXPORT_TABLES;

type ReadPage = (range: {
  from: Date;
  before: Date;
}) => Promise<{ rows: readonly unknown[]; last: Date | string | undefined }>;

/** All of them in UTC, whose days are the same for everyone and never change. Each row has an instant of its own. */
async function* readPages({ day, keptSince }: Day, readPage: ReadPage): AsyncGenerator<string> {
  const start = new Date(`${day}T00:00:00.000Z`);
  const from = start > keptSince ? start : keptSince;
  let before = new Date(`${addDays(day, 1)}T00:00:00.000Z`);
  for (;;) {
    const { rows, last } = await readPage({ from, before });
    if (rows.length > 0) yield toLines(rows);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    before = new Date(last);
  }
}

function toLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
