import { type RawBuilder, sql } from "kysely";
import { DELIVERY_LOG_DAYS } from "#contract/delivery.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { DeliveryId, OrganizationId } from "#contract/ids.ts";
import { table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";

/** Start of the delivery log, the same for every plan. */
export function toLogKeptSince(now: Date): Date {
  return new Date(now.getTime() - DELIVERY_LOG_DAYS * DAY_MS);
}

/** Manual redeliveries that wait. */
export async function listRedelivering(db: Db, owner: OrganizationId): Promise<DeliveryId[]> {
  const { rows } = await sql<{ id: DeliveryId }>`
    select delivery_id as id from ${table("delivery_queue")} where organization_id = ${owner} and trigger = 'manual'`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/**
 * Whether the row `event` is still in the log with all its deliveries: until the period after its last attempt has passed
 * and none of them waits. Both reading and deleting use this condition.
 */
export function isInLog(
  owner: OrganizationId,
  { keptSince, redelivering }: { keptSince: Date; redelivering: readonly DeliveryId[] },
): RawBuilder<boolean> {
  return sql<boolean>`(event.created_at >= ${keptSince} or exists (
    select from ${table("deliveries", "of_event")}
    where of_event.organization_id = ${owner} and of_event.event_id = event.id
      and (of_event.state in ('queued', 'retrying') or exists (
        select from ${table("delivery_attempts", "attempt")}
        where attempt.organization_id = ${owner} and attempt.delivery_id = of_event.id
          and attempt.started_at >= ${keptSince}
      ) or of_event.id = any(${redelivering as DeliveryId[]}::uuid[]))
  ))`;
}
