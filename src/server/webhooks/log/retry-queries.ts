import { sql } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";

/** The delivery's place in the queue, locked; null if it does not wait. Waits for a report that is just removing it. */
export async function lockWaiting(
  transaction: Db,
  owner: OrganizationId,
  id: DeliveryId,
): Promise<{ isInFlight: boolean } | null> {
  const row = await transaction
    .selectFrom("delivery_queue")
    .select("lease_token")
    .where("organization_id", "=", owner)
    .where("delivery_id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  return row ? { isInFlight: row.lease_token !== null } : null;
}

/**
 * Makes waiting deliveries due now, and returns them. A retry that was due later becomes a manual attempt that remembers
 * when. Redeliveries and tests have no schedule to continue, so they only become due; whatever is due already stays as it is.
 */
export async function advanceWaiting(
  transaction: Db,
  owner: OrganizationId,
  waiting: { now: Date } & ({ deliveryIds: readonly DeliveryId[] } | { endpointId: EndpointId; limit: number }),
): Promise<DeliveryId[]> {
  const which =
    "endpointId" in waiting
      ? sql`endpoint_id = ${waiting.endpointId} and due_at > ${waiting.now}::timestamptz
        order by due_at limit ${waiting.limit}`
      : sql`delivery_id = any(${waiting.deliveryIds as DeliveryId[]}::uuid[]) and due_at > ${waiting.now}::timestamptz`;
  const { rows } = await sql<{ delivery_id: DeliveryId }>`
    with chosen as materialized (
      select delivery_id from delivery_queue
      where organization_id = ${owner} and lease_token is null and ${which}
      for update
    )
    update delivery_queue queue
    set due_at = ${waiting.now}::timestamptz,
      resume_at = case when queue.trigger = 'automatic' and not queue.is_test then queue.due_at else queue.resume_at end,
      trigger = case when queue.is_test then queue.trigger else 'manual' end
    from chosen where queue.delivery_id = chosen.delivery_id
    returning queue.delivery_id`.execute(transaction);
  return rows.map((row) => row.delivery_id);
}

/** The log shows when the next attempt is due. */
export async function showAdvanced(
  transaction: Db,
  owner: OrganizationId,
  { deliveryIds, now }: { deliveryIds: readonly DeliveryId[]; now: Date },
): Promise<void> {
  if (deliveryIds.length === 0) return;
  await transaction
    .updateTable("deliveries")
    .set({ next_attempt_at: now })
    .where("organization_id", "=", owner)
    .where("id", "in", [...deliveryIds])
    .execute();
}
