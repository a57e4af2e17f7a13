import { type RawBuilder, sql } from "kysely";
import { DELIVERY_LOG_DAYS } from "#contract/delivery.ts";
import { DAY_MS } from "#contract/durations.ts";

/** Start of the delivery log, the same for every plan. */
export function toLogKeptSince(now: Date): Date {
  return new Date(now.getTime() - DELIVERY_LOG_DAYS * DAY_MS);
}

/**
 * Whether the row `event` is still in the log with all its deliveries: until the period after its last attempt has passed
 * and none of them waits. Both reading and deleting use this condition.
 */
export function isInLog(keptSince: Date): RawBuilder<boolean> {
  return sql<boolean>`(event.created_at >= ${keptSince} or exists (
    select from deliveries of_event
    where of_event.organization_id = event.organization_id and of_event.event_id = event.id
      and (of_event.state in ('queued', 'retrying') or exists (
        select from delivery_attempts attempt
        where attempt.organization_id = of_event.organization_id and attempt.delivery_id = of_event.id
          and attempt.started_at >= ${keptSince}
      ) or exists (select from delivery_queue where delivery_id = of_event.id))
  ))`;
}
