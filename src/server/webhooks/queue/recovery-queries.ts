import { sql } from "kysely";
import type { AttemptTrigger } from "#contract/delivery.ts";
import type { DeliveryId, EndpointId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { WebhookEventType } from "#contract/webhook-event.ts";
import type { Db } from "../../db/pool.ts";
import { BY_INDEX } from "./claim.ts";

// What every worker looks for once a second, over all organizations: leases whose holder is gone, and what must not be sent
// any more.

export type ExpiredLease = {
  delivery_id: DeliveryId;
  lease_token: string;
  trigger: AttemptTrigger;
  number: number;
  retries_used: number;
  type: WebhookEventType;
  url: string;
};

/** Leases whose holder is gone. Someone else may report them at the same time; the tokens sort that out. */
export async function listExpiredLeases(db: Db, about: { now: Date; limit: number }): Promise<ExpiredLease[]> {
  const { rows } = await sql<ExpiredLease>`-- prepared: list_expired_leases
    select queue.delivery_id, queue.lease_token, queue.trigger, delivery.attempt_count as number, delivery.retries_used,
      event.type, endpoint.url
    from delivery_queue queue
    join deliveries delivery on delivery.organization_id = queue.organization_id and delivery.id = queue.delivery_id
    join webhook_events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    join endpoints endpoint on endpoint.id = delivery.endpoint_id
    where queue.lease_token is not null and queue.lease_until < ${about.now}
    order by queue.lease_until limit ${about.limit}`.execute(db);
  return rows;
}

/** Places in the queue, with a lease that has run out, whose delivery the log has forgotten: nobody could report them. */
export async function dropOrphans(db: Db, now: Date): Promise<void> {
  await sql`-- prepared: drop_orphans
    delete from delivery_queue queue
    where queue.lease_token is not null and queue.lease_until < ${now} and not exists (
      select from deliveries where organization_id = queue.organization_id and id = queue.delivery_id
    )`.execute(db);
}

/**
 * Takes out of the queue what must not be sent any more: its endpoint was switched off or removed, or the plan no longer
 * includes webhooks. What is in flight is left to its report and comes out with the next call. The work is bounded by the
 * number of lanes (see claim-queries.ts) and by `limit`.
 */
export async function cancelForbidden(
  db: Db,
  about: { now: Date; plans: readonly Plan[]; limit: number; endpointId?: EndpointId },
): Promise<number> {
  const lanes = about.endpointId
    ? sql`select ${about.endpointId}::text as endpoint_id`
    : sql`
      (select endpoint_id from delivery_queue where lease_token is null order by endpoint_id limit 1)
      union all
      select next.endpoint_id from lanes cross join lateral (
        select queue.endpoint_id from delivery_queue queue
        where queue.lease_token is null and queue.endpoint_id > lanes.endpoint_id
        order by queue.endpoint_id limit 1
      ) next`;
  const statement = sql<{ count: number }>`
    with recursive lanes as (${lanes}), closed as (
      select endpoint.id, case when endpoint.removed_at is not null then 'endpoint_removed'
        when endpoint.status = 'disabled' then 'endpoint_disabled' else 'plan' end as reason
      from lanes
      join endpoints endpoint on endpoint.id = lanes.endpoint_id
      join organizations on organizations.id = endpoint.organization_id
      where endpoint.removed_at is not null or endpoint.status = 'disabled'
        or organizations.plan <> all(${about.plans as Plan[]}::text[])
    ), forbidden as (
      select waiting.delivery_id, waiting.organization_id, closed.reason
      from closed cross join lateral (
        select delivery_id, organization_id from delivery_queue
        where endpoint_id = closed.id and lease_token is null
        limit ${about.limit}
        for update skip locked
      ) waiting
      limit ${about.limit}
    ), gone as (
      delete from delivery_queue using forbidden where delivery_queue.delivery_id = forbidden.delivery_id
    ), canceled as (
      update deliveries set state = 'canceled', cancel_reason = forbidden.reason, next_attempt_at = null,
        completed_at = ${about.now}
      from forbidden where deliveries.organization_id = forbidden.organization_id and deliveries.id = forbidden.delivery_id
        and state in ('queued', 'retrying')
    )
    select count(*) as count from forbidden`;
  return await db.transaction().execute(async (transaction) => {
    await sql`select ${BY_INDEX}`.execute(transaction);
    const { rows } = await statement.execute(transaction);
    return rows[0]?.count ?? 0;
  });
}
