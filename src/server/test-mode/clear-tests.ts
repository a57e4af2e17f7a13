import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { forgetVisits } from "../analytics/analytics.ts";
import type { Audit } from "../audit/audit.ts";
import { deleteTestBookings } from "../bookings/bookings.ts";
import type { Db } from "../db/connections/pool.ts";
import { inHome } from "../db/statements/transactions.ts";
import type { Deps } from "../deps.ts";
import {
  countTestData,
  deleteAppointmentsOf,
  deleteUnstoredAppointments,
  isTestVisit,
  lockTestBookings,
  type TestData,
} from "./queries.ts";

const BATCH_BOOKINGS = 500;

/**
 * Deletes what a widget collected in test mode: stored bookings with their deliveries, visits, and sandbox appointments.
 * Analytics follow in the same transactions. References stay taken. `db` must not be a transaction: it works in batches. The audit
 * entry comes first, with what was found, so that it is there even if a batch fails.
 */
export async function clearTestData(
  { db, clock }: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  { widgetId, name, audit }: { widgetId: WidgetId; name: string; audit: Audit },
): Promise<TestData> {
  const now = clock.now();
  const found = await countTestData(db, owner, { widgetId, now });
  await audit(db, { action: "widget.test_data_cleared", target: widgetId, name, detail: found });
  const { bookings, deliveries } = await clearBookings(db, owner, { widgetId, now });
  const visits = await forgetVisits(db, owner, { widgetId, where: isTestVisit(owner, { visit: "visit", now }) });
  await deleteUnstoredAppointments(db, owner, widgetId);
  return { bookings, visits, deliveries };
}

async function clearBookings(
  db: Db,
  owner: OrganizationId,
  { widgetId, now }: { widgetId: WidgetId; now: Date },
): Promise<Pick<TestData, "bookings" | "deliveries">> {
  const total = { bookings: 0, deliveries: 0 };
  for (;;) {
    const deleted = await inHome(db, owner, async (transaction) => {
      const references = await lockTestBookings(transaction, owner, { widgetId, limit: BATCH_BOOKINGS });
      if (references.length > 0) await deleteAppointmentsOf(transaction, owner, references);
      return await deleteTestBookings(transaction, owner, { references, widgetId, now });
    });
    total.bookings += deleted.bookings;
    total.deliveries += deleted.deliveries;
    if (deleted.bookings < BATCH_BOOKINGS) return total;
  }
}
