import type { OrganizationId } from "#contract/ids.ts";
import { inTransaction } from "../db/transactions.ts";
import type { Deps } from "../deps.ts";
import { countOf, deleteOrganization, upsertDeleted } from "./delete-queries.ts";

/** Keeps a row about it for the operator. `db` should be longRunningDb: many bookings take minutes. False if it doesn't exist. */
export async function removeOrganization(
  { db, clock, log }: Pick<Deps, "db" | "clock" | "log">,
  { id, name, deletedBy }: { id: OrganizationId; name: string; deletedBy: string | null },
): Promise<boolean> {
  const isDeleted = await inTransaction(db, async (transaction) => {
    const counts = await countOf(transaction, id);
    if (!(await deleteOrganization(transaction, id))) return false;
    await upsertDeleted(transaction, { id, name, deletedAt: clock.now(), deletedBy, ...counts });
    return true;
  });
  if (isDeleted) log.warn("organization.deleted", { organizationId: id });
  return isDeleted;
}
