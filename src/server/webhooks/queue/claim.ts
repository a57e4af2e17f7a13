import { sql } from "kysely";
import type { AttemptTrigger } from "#contract/delivery.ts";
import type { EndpointKind } from "#contract/endpoint.ts";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { WebhookEventType } from "#contract/webhook-event.ts";
import type { Db } from "../../db/pool.ts";

// Claiming, over all organizations: a worker leases what is due, sends it, and reports (report-queries.ts); a lease that runs
// out is reported by whoever finds it (recovery-queries.ts). Whatever writes to these tables locks in one order, so that
// nobody waits in a circle: booking, place in the queue, event, delivery, attempt, endpoint.

/** Any number that no other advisory lock of ours uses. */
const CLAIM_LOCK = 7_236_002;

/** A process that is frozen in the middle of a claim must not keep every other from claiming: PostgreSQL ends its turn. */
const CLAIM_LIMIT_MS = 10_000;

/**
 * For the rest of the transaction, statements go by indices alone. The queue is empty one moment and full the next, and by
 * statistics of an empty table PostgreSQL would read and sort all of it at every step from lane to lane.
 */
export const BY_INDEX = sql`set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_sort', 'off', true)`;

/** Lanes (endpoints with something waiting) that one claim looks at; the next claim goes on behind them. */
const LANES_PER_CLAIM = 500;

export type ClaimedDelivery = {
  delivery_id: DeliveryId;
  organization_id: OrganizationId;
  endpoint_id: EndpointId;
  lease_token: string;
  lease_until: Date;
  trigger: AttemptTrigger;
  number: number;
  retries_used: number;
  type: WebhookEventType;
  kind: EndpointKind;
  url: string;
  /** What is sent: the event's bytes, or the card made of it. */
  body: Buffer | null;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_expires_at: Date | null;
  /** How many the lane had room for, and how many of those it had that were due. */
  lane_free: number;
  lane_due: number;
};

/** How many requests may be in flight at once, over all workers. */
export type ClaimCaps = {
  /** To one endpoint: when it is well, and when it is a chat or failing. */
  readonly perEndpoint: number;
  readonly perCarefulEndpoint: number;
  /** Failed attempts in a row that make an endpoint a failing one. */
  readonly failingAfter: number;
  /** To all failing endpoints together, so that many dead receivers leave room for the living. */
  readonly toFailing: number;
  /** To one organization; less while few are free, and one more for each of its endpoints that has nothing in flight. */
  readonly perOrganization: number;
};

type Claim = {
  now: Date;
  leaseUntil: Date;
  leaseToken: string;
  /** At most this many. */
  limit: number;
  /** Requests that the worker could begin now. */
  free: number;
  caps: ClaimCaps;
  /** Plans that include webhooks. */
  plans: readonly Plan[];
  /** Endpoint id after which to look for lanes. */
  after: string;
};

type Claimed = {
  deliveries: ClaimedDelivery[];
  /** Where the next claim goes on; empty when all lanes were seen. */
  after: string;
  /** When the first of what was seen and is not due yet will be. */
  nextDueAt: Date | null;
  /** Organizations for which more may be due than was claimed. */
  heldBack: ReadonlySet<OrganizationId>;
};

/**
 * Leases what is due, fairly: the first of every lane before the second of any, organizations with little in flight before
 * those with much, and never more than the caps allow. Nor does an organization get more than half of what is still free, so
 * that there is a place for whoever comes next. But a lane with nothing in flight may send one beyond both, however busy its
 * neighbours are, as long as its organization has no more than is still free.
 * The work is bounded by the number of lanes, not by how many deliveries wait in them.
 * Claims wait for one another (the lock), so that caps hold over all workers; `makeClaim` is called when the wait is over,
 * so that a lease begins then. Each claimed delivery gets its attempt row in the same transaction, before any request.
 */
export async function claimDeliveries(db: Db, makeClaim: () => Claim): Promise<Claimed> {
  return await db.transaction().execute(async (transaction) => {
    await sql`select set_config('transaction_timeout', ${String(CLAIM_LIMIT_MS)}, true), ${BY_INDEX},
      pg_advisory_xact_lock(${CLAIM_LOCK})`.execute(transaction);
    const claim = makeClaim();
    const lanes = await listLanes(transaction, claim.after);
    const dueLanes = lanes.filter((lane) => lane.due_at <= claim.now);
    const later = lanes.filter((lane) => lane.due_at > claim.now).map((lane) => lane.due_at.getTime());
    const depth = Math.max(1, Math.ceil((2 * claim.limit) / dueLanes.length));
    const deliveries = dueLanes.length === 0 ? [] : await leaseFrom(transaction, dueLanes, { ...claim, depth });
    return {
      deliveries,
      heldBack: findHeldBack(dueLanes, { deliveries, depth }),
      after: lanes.length < LANES_PER_CLAIM ? "" : (lanes.at(-1)?.endpoint_id ?? ""),
      nextDueAt: later.length === 0 ? null : new Date(Math.min(...later)),
    };
  });
}

type Lane = { endpoint_id: EndpointId; organization_id: OrganizationId; due_at: Date };

/** A lane was emptied when all was taken from it that was due, and more could have been. */
function findHeldBack(
  dueLanes: readonly Lane[],
  { deliveries, depth }: { deliveries: readonly ClaimedDelivery[]; depth: number },
): Set<OrganizationId> {
  const taken = Map.groupBy(deliveries, (delivery) => delivery.endpoint_id);
  const isEmptied = ({ endpoint_id }: Lane) => {
    const [first, ...others] = taken.get(endpoint_id) ?? [];
    if (first === undefined) return false;
    return others.length + 1 === first.lane_due && first.lane_due < Math.min(first.lane_free, depth);
  };
  return new Set(dueLanes.filter((lane) => !isEmptied(lane)).map((lane) => lane.organization_id));
}

/** The next endpoints with something waiting, and when its first is due: one index probe each, however long their lanes. */
async function listLanes(transaction: Db, after: string): Promise<Lane[]> {
  const { rows } = await sql<Lane>`-- prepared: list_lanes
    with recursive lanes as (
      (select endpoint_id, organization_id, due_at from delivery_queue
        where lease_token is null and endpoint_id > ${after}::text order by endpoint_id, due_at limit 1)
      union all
      select next.endpoint_id, next.organization_id, next.due_at from lanes cross join lateral (
        select queue.endpoint_id, queue.organization_id, queue.due_at from delivery_queue queue
        where queue.lease_token is null and queue.endpoint_id > lanes.endpoint_id
        order by queue.endpoint_id, queue.due_at limit 1
      ) next
    )
    select endpoint_id, organization_id, due_at from lanes limit ${LANES_PER_CLAIM}::integer`.execute(transaction);
  return rows;
}

/**
 * Reads the leased rows (few: as many as there are requests in flight), takes the first from each lane that has room, about
 * twice as many in all as are wanted, and ranks these. What is not chosen is not locked. Rows that someone else holds, an
 * erasure say, are left out rather than waited for.
 */
async function leaseFrom(
  transaction: Db,
  lanes: readonly Lane[],
  claim: Claim & { depth: number },
): Promise<ClaimedDelivery[]> {
  const { caps, depth } = claim;
  const { rows } = await sql<ClaimedDelivery>`-- prepared: claim_deliveries
    with in_flight as materialized (
      select queue.organization_id, queue.endpoint_id, endpoint.failed_attempts >= ${caps.failingAfter}::integer as is_failing
      from delivery_queue queue join endpoints endpoint on endpoint.id = queue.endpoint_id
      where queue.lease_token is not null
    ), busy_endpoints as (
      select endpoint_id, count(*) as requests from in_flight group by endpoint_id
    ), busy_organizations as (
      select organization_id, count(*) as requests from in_flight group by organization_id
    ), lanes as materialized (
      select endpoint.id as endpoint_id, endpoint.organization_id,
        endpoint.failed_attempts >= ${caps.failingAfter}::integer as is_failing,
        case when endpoint.kind <> 'webhook' or endpoint.failed_attempts >= ${caps.failingAfter}::integer
          then ${caps.perCarefulEndpoint}::integer else ${caps.perEndpoint}::integer end
          - coalesce(busy_endpoints.requests, 0) as free,
        coalesce(busy_organizations.requests, 0) as held, busy_endpoints.requests is null as is_idle
      from endpoints endpoint
      join organizations on organizations.id = endpoint.organization_id
      left join busy_endpoints on busy_endpoints.endpoint_id = endpoint.id
      left join busy_organizations on busy_organizations.organization_id = endpoint.organization_id
      where endpoint.id = any(${lanes.map((lane) => lane.endpoint_id)}::text[])
        and endpoint.status = 'enabled' and endpoint.removed_at is null
        and (endpoint.paused_until is null or endpoint.paused_until <= ${claim.now}::timestamptz)
        and organizations.plan = any(${claim.plans as Plan[]}::text[])
    ), candidates as (
      select lanes.organization_id, lanes.endpoint_id, lanes.held, lanes.is_failing, lanes.is_idle, waiting.delivery_id,
        waiting.due_at, row_number() over (partition by lanes.endpoint_id order by waiting.due_at) as place_in_lane
      from lanes cross join lateral (
        select delivery_id, due_at from delivery_queue
        where endpoint_id = lanes.endpoint_id and lease_token is null and due_at <= ${claim.now}::timestamptz
        order by due_at limit greatest(least(lanes.free, ${depth}::integer), 0)
      ) waiting
      where lanes.free > 0 and (lanes.held < ${caps.perOrganization}::integer or lanes.is_idle)
    ), ranked as (
      select delivery_id, due_at, is_failing, is_idle and place_in_lane = 1 as is_first,
        held + row_number() over (partition by organization_id order by place_in_lane, not is_idle, due_at) as would_hold
      from candidates
    ), allowed as (
      select delivery_id, due_at, is_failing, is_first, would_hold,
        row_number() over (partition by is_failing order by would_hold, due_at) as place_among_alike
      from ranked where would_hold <= ${caps.perOrganization}::integer or is_first
    ), sorted as (
      select delivery_id, is_first, would_hold,
        ${claim.free}::integer + 1 - row_number() over (order by would_hold, due_at) as still_free
      from allowed
      where not is_failing
        or place_among_alike <= ${caps.toFailing}::integer - (select count(*) from in_flight where is_failing)
    ), chosen as (
      select delivery_id from sorted
      where would_hold <= case when is_first then still_free else (still_free + 1) / 2 end
      order by still_free desc limit ${claim.limit}::integer
    ), locked as (
      select queue.delivery_id from chosen join delivery_queue queue on queue.delivery_id = chosen.delivery_id
      where queue.lease_token is null
      for update of queue skip locked
    ), leased as (
      update delivery_queue set lease_token = ${claim.leaseToken}::uuid, lease_until = ${claim.leaseUntil}::timestamptz
      from locked where delivery_queue.delivery_id = locked.delivery_id
      returning delivery_queue.delivery_id, organization_id, endpoint_id, trigger
    ), numbered as (
      update deliveries set attempt_count = attempt_count + 1
      from leased where deliveries.organization_id = leased.organization_id and deliveries.id = leased.delivery_id
      returning deliveries.organization_id, deliveries.id, deliveries.event_id, deliveries.endpoint_id, deliveries.card,
        deliveries.attempt_count, deliveries.retries_used, leased.trigger
    ), logged as (
      insert into delivery_attempts (organization_id, delivery_id, number, endpoint_id, trigger, started_at, result)
      select organization_id, id, attempt_count, endpoint_id, trigger, ${claim.now}, 'in_flight' from numbered
    )
    select numbered.id as delivery_id, numbered.organization_id, numbered.endpoint_id,
      ${claim.leaseToken} as lease_token, ${claim.leaseUntil}::timestamptz as lease_until,
      numbered.trigger, numbered.attempt_count as number, numbered.retries_used,
      event.type, endpoint.kind, endpoint.url, coalesce(numbered.card, event.body) as body, endpoint.secret,
      endpoint.previous_secret, endpoint.previous_secret_expires_at, lanes.free as lane_free,
      (select count(*) from candidates where candidates.endpoint_id = numbered.endpoint_id) as lane_due
    from numbered
    join lanes on lanes.endpoint_id = numbered.endpoint_id
    join webhook_events event on event.organization_id = numbered.organization_id and event.id = numbered.event_id
    join endpoints endpoint on endpoint.id = numbered.endpoint_id`.execute(transaction);
  return rows;
}
