import { sql } from "kysely";
import type { AttemptTrigger } from "#contract/delivery.ts";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Db } from "../../db/pool.ts";
import { PLANS_WITH_WEBHOOKS } from "./caps.ts";
import type { DueDelivery } from "./choose-fairly.ts";
import { waitingLanes } from "./lanes.ts";

// The statements of a claim, across organizations; claim.ts says what must stay true.

/** A worker's right to send a delivery until `until`. Its report must carry the token. */
export type Lease = { readonly token: string; readonly at: Date; readonly until: Date; readonly holder: number | null };

/** No other advisory lock uses this number. */
const CLAIM_LOCK = 7_236_002;

/** A process that freezes during a claim must not block all the others: PostgreSQL then ends its transaction. */
const CLAIM_LIMIT_MS = 10_000;

/**
 * Statements of this transaction look up one row after another in an index, whatever the statistics say. The queue is empty one
 * moment and full the next: with statistics of an empty table PostgreSQL would read and sort all of it for every lane, and one
 * claim from 30,000 waiting deliveries took five seconds. Plans made under these settings suit both, so they are kept.
 */
export const INDEXES_ONLY = sql`set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_sort', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true)`;

/** Waits for the claims of other workers. */
export async function beginClaim(transaction: Db): Promise<void> {
  await sql`-- prepared: begin_claim
    select set_config('transaction_timeout', ${String(CLAIM_LIMIT_MS)}, true), ${INDEXES_ONLY},
      pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(transaction);
}

export type WaitingLane = {
  endpointId: EndpointId;
  /** When the first delivery of the lane may be sent: not while the lane is paused. */
  dueAt: Date;
  firstId: DeliveryId;
  firstDueAt: Date;
} & (OpenLane | { isOpen: false });

/** The endpoint is enabled and the plan includes webhooks. */
type OpenLane = {
  isOpen: true;
  organizationId: OrganizationId;
  isChat: boolean;
  isFailing: boolean;
  requestsPerMinute: number | null;
};

/** Includes endpoints without a lane, which are not open: fewer rows than `limit` mean that there are no more. */
export async function listWaitingLanes(
  transaction: Db,
  { after, limit }: { after: string; limit: number },
): Promise<WaitingLane[]> {
  const { rows } = await sql<WaitingLane>`-- prepared: list_waiting_lanes
    with recursive ${waitingLanes(after)}, first_lanes as (
      select endpoint_id, due_at, delivery_id from waiting_lanes limit ${limit}::integer
    )
    select first.endpoint_id as "endpointId", lane.organization_id as "organizationId",
      coalesce(lane.state = 'open' and organization.plan = any(${PLANS_WITH_WEBHOOKS as Plan[]}::text[]), false) as "isOpen",
      lane.is_chat as "isChat", lane.is_failing as "isFailing",
      lane.requests_per_minute as "requestsPerMinute",
      greatest(first.due_at, lane.paused_until, lane.rated_until) as "dueAt",
      first.delivery_id as "firstId", first.due_at as "firstDueAt"
    from first_lanes first
    left join delivery_lanes lane on lane.endpoint_id = first.endpoint_id
    left join organizations organization on organization.id = lane.organization_id`.execute(transaction);
  return rows;
}

type EndpointInFlight = {
  endpointId: EndpointId;
  organizationId: OrganizationId;
  requests: number;
  isFailing: boolean;
};

/** Few rows: the leases of attempts that are not reported yet. */
export async function listInFlight(transaction: Db): Promise<EndpointInFlight[]> {
  const { rows } = await sql<EndpointInFlight>`-- prepared: list_in_flight
    select queue.endpoint_id as "endpointId", queue.organization_id as "organizationId", count(*)::integer as requests,
      coalesce(bool_or(lane.is_failing), false) as "isFailing"
    from delivery_queue queue left join delivery_lanes lane on lane.endpoint_id = queue.endpoint_id
    where queue.lease_token is not null
    group by queue.endpoint_id, queue.organization_id`.execute(transaction);
  return rows;
}

/** The first due deliveries of each lane, in their order. */
export async function listDueDeliveries(
  transaction: Db,
  lanes: readonly { endpointId: EndpointId; limit: number }[],
  now: Date,
): Promise<(DueDelivery & { endpointId: EndpointId })[]> {
  if (lanes.length === 0) return [];
  const endpointIds = lanes.map(({ endpointId }) => endpointId);
  const limits = lanes.map(({ limit }) => limit);
  const { rows } = await sql<DueDelivery & { endpointId: EndpointId }>`-- prepared: list_due_deliveries
    select lane.endpoint_id as "endpointId", due.delivery_id as "deliveryId", due.due_at as "dueAt"
    from unnest(${endpointIds}::text[], ${limits}::integer[]) as lane (endpoint_id, most) cross join lateral (
      select delivery_id, due_at from delivery_queue
      where endpoint_id = lane.endpoint_id and lease_token is null and due_at <= ${now}::timestamptz
      order by due_at limit lane.most
    ) due`.execute(transaction);
  return rows;
}

/** Tests are sent at once, whatever else waits for their endpoint and however it is paused. */
export async function listWaitingTests(
  transaction: Db,
  { now, limit }: { now: Date; limit: number },
): Promise<DeliveryId[]> {
  const { rows } = await sql<{ deliveryId: DeliveryId }>`-- prepared: list_waiting_tests
    select queue.delivery_id as "deliveryId" from delivery_queue queue
    join delivery_lanes lane on lane.endpoint_id = queue.endpoint_id
    join organizations organization on organization.id = lane.organization_id
    where queue.is_test and queue.lease_token is null and queue.due_at <= ${now}::timestamptz
      and lane.state = 'open' and organization.plan = any(${PLANS_WITH_WEBHOOKS as Plan[]}::text[])
    order by queue.due_at limit ${limit}::integer`.execute(transaction);
  return rows.map(({ deliveryId }) => deliveryId);
}

/** For lanes with a rate limit that were claimed from. */
export async function setRatedUntil(
  transaction: Db,
  lanes: readonly { endpointId: EndpointId; until: Date }[],
): Promise<void> {
  await sql`-- prepared: set_rated_until
    update delivery_lanes lane set rated_until = rated.until
    from unnest(${lanes.map(({ endpointId }) => endpointId)}::text[], ${lanes.map(({ until }) => until)}::timestamptz[])
      as rated (endpoint_id, until)
    where lane.endpoint_id = rated.endpoint_id`.execute(transaction);
}

export type ClaimedDelivery = {
  deliveryId: DeliveryId;
  organizationId: OrganizationId;
  endpointId: EndpointId;
  trigger: AttemptTrigger;
  /** Someone asked to retry now: if that fails, the schedule continues then. */
  resumeAt: Date | null;
  lease: Lease;
};

/**
 * Skips rows that an erasure or a cancellation has locked. The chosen ids are an array rather than a table to join: a join
 * planned while the queue was empty compared every row of the queue with every id.
 */
export async function leaseDeliveries(
  transaction: Db,
  ids: readonly DeliveryId[],
  lease: Lease,
): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<Omit<ClaimedDelivery, "lease">>`-- prepared: lease_deliveries
    update delivery_queue set lease_token = ${lease.token}::uuid, leased_at = ${lease.at}::timestamptz,
      lease_until = ${lease.until}::timestamptz, leased_by = ${lease.holder}::integer
    where delivery_id = any(array(
      select delivery_id from delivery_queue
      where delivery_id = any(${ids as DeliveryId[]}::uuid[]) and lease_token is null
      for update skip locked
    ))
    returning delivery_id as "deliveryId", organization_id as "organizationId", endpoint_id as "endpointId", trigger,
      resume_at as "resumeAt"`.execute(transaction);
  return rows.map((row) => ({ ...row, lease }));
}
