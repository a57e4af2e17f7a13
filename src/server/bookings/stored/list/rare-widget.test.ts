import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { HOUR_MS } from "#contract/durations.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../../test/support/database/database.ts";
import type { Db } from "../../../db/connections/pool.ts";
import { engineOf } from "../../../db/engine.ts";
import { NEWEST_FIRST, selectInOrder } from "./list-queries.ts";
import { selectPage } from "./page-queries.ts";
import { searchBookings } from "./search-queries.ts";

// Most businesses have one widget with nearly all bookings. A plan that is kept would suit that one.

const { db } = await createTestDatabase();
const owner = await makeOrganization(db);
const [busy, rare] = [await makeWidget(db, owner), await makeWidget(db, owner)];
const model = await makeBooking(db, owner, { widgetId: busy, now: NOON });
// Fills up three times as fast without this index. Few bookings are searched without it.
await sql`drop index bookings_search`.execute(db);
await sql`
  insert into bookings (organization_id, reference, widget_id, status, created_at, start_at, end_at, time_zone, service_id,
    service_name, staff, customer_name, customer_email, answers, attribution, api_json)
  select organization_id, reference || number, widget_id, status, created_at + number * interval '1 day', start_at, end_at,
    time_zone, service_id, service_name, staff, customer_name, customer_email, answers, attribution, api_json
  from bookings cross join generate_series(1, 20000) number
  where organization_id = ${owner} and reference = ${model.reference}`.execute(db);
// Of a million bookings, the samples for statistics miss those of a rare widget too.
await sql`analyze bookings`.execute(db);
for (let hour = 1; hour <= 3; hour++)
  await makeBooking(db, owner, { widgetId: rare, now: new Date(NOON.getTime() + hour * HOUR_MS) });

const page = { createdFrom: new Date(0), createdBefore: null, widgetId: rare, limit: 100 };
const READS: Record<string, (transaction: Db) => Promise<number>> = {
  "a page of the read API": async (transaction) =>
    JSON.parse(`[${(await selectPage(transaction, owner, page)).bookings}]`).length,
  "the dashboard's list": async (transaction) =>
    (await selectInOrder(transaction, owner, { ...NEWEST_FIRST, ...page })).length,
  "a search": async (transaction) =>
    (await searchBookings(transaction, owner, { ...NEWEST_FIRST, ...page, search: "a", parts: ["o", "c"] })).length,
};

for (const [what, read] of Object.entries(READS)) {
  test(`${what} of a widget with few bookings doesn't read those of the others`, async (context) => {
    if (engineOf(db) === "citus") return context.skip("Citus plans each statement for its values");
    await db.transaction().execute(async (transaction) => {
      const before = await countRead(transaction);
      assert.equal(await read(transaction), 3);
      const rowsRead = (await countRead(transaction)) - before;
      assert.ok(rowsRead < 50, `${rowsRead} rows were read`);
    });
  });
}

/** Rows of bookings that this transaction has read. */
async function countRead(transaction: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select seq_tup_read + idx_tup_fetch as count from pg_stat_xact_user_tables where relname = 'bookings'`.execute(
    transaction,
  );
  return rows[0]?.count ?? 0;
}
