import { sql } from "kysely";
import type { Plan } from "#contract/plans.ts";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";
import type { ClaimCaps } from "./claim.ts";

export type QueueMeasure = {
  /** Due now or later, and not being sent. */
  waiting: number;
  in_flight: number;
  /** How long the first of what is due has been due, for whatever reason it has not been sent. */
  oldest_due_seconds: number;
  /**
   * How long something has lain there that could have been sent: its receiver is well, has not asked for a pause, and is
   * not busy with as many requests as it may get; or a lease has run out and nobody has taken it up. This one stays near
   * zero while workers do their work, however badly a receiver behaves.
   */
  overdue_seconds: number;
};

/** Over all organizations, and about none of them. */
export async function measureQueue(
  db: Db,
  about: { now: Date; plans: readonly Plan[]; caps: ClaimCaps },
): Promise<QueueMeasure> {
  const { now, caps } = about;
  const { rows } = await sql<QueueMeasure>`
    with lanes as (
      select endpoint_id, organization_id, count(*) filter (where lease_token is null) as waiting,
        count(*) filter (where lease_token is not null) as in_flight, min(due_at) filter (where lease_token is null) as due_at,
        min(lease_until) as lease_until
      from delivery_queue group by endpoint_id, organization_id
    ), organization_lanes as (
      select *, sum(in_flight) over (partition by organization_id) as organization_in_flight from lanes
    ), judged as (
      select waiting, in_flight, due_at, lease_until,
        endpoint.status = 'enabled' and endpoint.removed_at is null
          and organizations.plan = any(${about.plans as Plan[]}::text[])
          and endpoint.failed_attempts < ${caps.failingAfter}::integer
          and organization_in_flight < ${caps.perOrganization}::integer
          and in_flight < case when endpoint.kind = 'webhook'
            then ${caps.perEndpoint}::integer else ${caps.perCarefulEndpoint}::integer end as is_sendable,
        -- The receiver's last answer, or the end of its pause, made room for the next.
        greatest(due_at, endpoint.paused_until, endpoint.last_attempt_at) as sendable_since
      from organization_lanes lane
      join endpoints endpoint on endpoint.id = lane.endpoint_id
      join organizations on organizations.id = lane.organization_id
    )
    select coalesce(sum(waiting), 0)::float8 as waiting, coalesce(sum(in_flight), 0)::float8 as in_flight,
      greatest(0, coalesce(extract(epoch from ${now}::timestamptz - min(due_at)), 0))::float8 as oldest_due_seconds,
      greatest(0, coalesce(extract(epoch from ${now}::timestamptz
        - least(min(sendable_since) filter (where is_sendable and due_at is not null), min(lease_until))), 0))::float8 as overdue_seconds
    from judged`.execute(db);
  const [row] = rows;
  assert(row, "a select without group by gives one row");
  return row;
}
