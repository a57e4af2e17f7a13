import { sql } from "kysely";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";

/**
 * Removes everything that webhooks hold of these bookings, in the caller's transaction, which has locked the bookings:
 * waiting deliveries are canceled; stored bodies, cards, replies and the reference are purged. The lines of the log stay,
 * without content. A request under way cannot be called back; having lost its place in the queue, it can no longer write
 * down what the receiver replied.
 *
 * Two statements, because the second must see what a claim committed while the first waited for it.
 */
export async function eraseDeliveries(
  transaction: Db,
  owner: OrganizationId,
  { references, now }: { references: readonly Reference[]; now: Date },
): Promise<void> {
  const erasedReferences = sql`any(${references as Reference[]}::text[])`;
  await sql`
    select from delivery_queue where delivery_id in (
      select delivery.id from webhook_events event
      join deliveries delivery on delivery.organization_id = event.organization_id and delivery.event_id = event.id
      where event.organization_id = ${owner} and event.reference = ${erasedReferences}
    )
    order by delivery_id for update`.execute(transaction);
  await sql`
    with events as (
      update webhook_events set body = null, reference = null
      where organization_id = ${owner} and reference = ${erasedReferences}
      returning id
    ), erased as (
      update deliveries set card = null, next_attempt_at = null,
        state = case when state in ('queued', 'retrying') then 'canceled' else state end,
        cancel_reason = case when state in ('queued', 'retrying') then 'erased' else cancel_reason end,
        completed_at = coalesce(completed_at, ${now})
      from events where deliveries.organization_id = ${owner} and deliveries.event_id = events.id
      returning deliveries.id
    ), dequeued as (
      delete from delivery_queue using erased where delivery_queue.delivery_id = erased.id
    )
    update delivery_attempts set reply = null,
      result = case when result = 'in_flight' then 'interrupted' else result end,
      error_code = case when result = 'in_flight' then 'interrupted' else error_code end,
      next_attempt_at = null
    from erased where delivery_attempts.organization_id = ${owner} and delivery_attempts.delivery_id = erased.id`.execute(
    transaction,
  );
}
