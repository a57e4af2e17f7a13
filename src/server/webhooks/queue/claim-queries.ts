import { type RawBuilder, sql } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { AttemptTrigger } from "#contract/webhooks/delivery.ts";
import type { Home } from "../../db/citus/homes.ts";
import type { ShardGroup } from "../../db/citus/shard-map.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { toArrayText } from "../../db/statements/array-text.ts";
import { FixedStatement, ofAnyLength } from "../../db/statements/run-prepared.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import { PLANS_WITH_WEBHOOKS } from "./caps.ts";
import type { DueDelivery } from "./choose-fairly.ts";
import { waitingLanes } from "./lanes.ts";

// The statements of a claim, across the organizations of a home; claim.ts says what must stay true.

/** A worker's right to send a delivery until `until`. Its report must carry the token. */
export type Lease = { readonly token: string; readonly at: Date; readonly until: Date; readonly holder: number | null };

/** Together with the number of the shard group, which is 0 on plain PostgreSQL. No other advisory lock uses this number. */
const CLAIM_LOCK = 7_236_002;

/** A process that freezes during a claim must not block all the others: PostgreSQL then ends its transaction. */
const CLAIM_LIMIT_MS = 10_000;

/**
 * Statements of this transaction look up one row after another in an index, whatever the statistics say. The queue is empty one
 * moment and full the next: with statistics of an empty table PostgreSQL would read and sort all of it for every lane.
 */
export const INDEXES_ONLY = sql`set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_sort', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true)`;

type ClaimSettings = { readonly synchronousCommit: string | null; readonly shard: string };

/** Waits for the claims of other workers. */
export async function beginClaim(transaction: Db, group: ShardGroup | null): Promise<void> {
  await beginning.run(transaction, toClaimSettings(group));
}

/** On Citus every commit is flushed: see db/citus/late-commits.ts. */
function toClaimSettings(group: ShardGroup | null): ClaimSettings {
  return { synchronousCommit: group === null ? "off" : null, shard: group?.shard ?? "0" };
}

const beginning = new FixedStatement<unknown, ClaimSettings>(
  ({ synchronousCommit, shard }) => sql`-- prepared: begin_claim
    select set_config('transaction_timeout', ${sql.lit(String(CLAIM_LIMIT_MS))}, true), ${INDEXES_ONLY},
      ${setSynchronousCommit(synchronousCommit)}, pg_advisory_xact_lock(${toClaimLock(shard)})`,
);

function setSynchronousCommit(value: string): RawBuilder<unknown> {
  return sql`set_config('synchronous_commit', coalesce(${value}::text, current_setting('synchronous_commit')), true)`;
}

function toClaimLock(shard: string): RawBuilder<unknown> {
  return sql`${sql.lit(CLAIM_LOCK)} + (${shard}::bigint << 32)`;
}

export type WaitingLane = {
  endpointId: EndpointId;
  /** When the first delivery of the lane may be sent: not while the lane is paused, unless it is urgent. */
  dueAt: Date;
  /** While the lane is paused, the first urgent delivery if there is one. */
  firstId: DeliveryId;
  firstDueAt: Date;
} & (OpenLane | { isOpen: false });

/** The endpoint is enabled and the plan includes webhooks. */
type OpenLane = {
  isOpen: true;
  organizationId: OrganizationId;
  isChat: boolean;
  isFailing: boolean;
  isAnswering: boolean;
  isPaused: boolean;
  requestsPerMinute: number | null;
};

type EndpointInFlight = {
  endpointId: EndpointId;
  organizationId: OrganizationId;
  requests: number;
  isFailing: boolean;
  isAnswering: boolean;
};

export type WaitingTest = { readonly deliveryId: DeliveryId; readonly isAnswering: boolean };

export type Queue = {
  /** Includes endpoints without a lane. A list that is shorter than requested means there are no more. */
  readonly waiting: readonly WaitingLane[];
  /** The leases of attempts that are not reported yet. */
  readonly inFlight: readonly EndpointInFlight[];
  /** Tests are sent at once, whatever else waits for their endpoint and however it is paused. */
  readonly tests: readonly WaitingTest[];
};

type QueueRow =
  | (WaitingLane & { part: "waiting" })
  | (EndpointInFlight & { part: "in_flight" })
  | { part: "test"; firstId: DeliveryId; isAnswering: boolean };

type QueueLimits = {
  /** The last endpoint that was read. */
  after: string;
  lanes: number;
  tests: number;
  now: Date;
};

/** One statement, because a busy process waits a turn of its event loop for each. */
export async function readQueueAcrossOrganizations(transaction: Db, limits: QueueLimits): Promise<Queue> {
  const rows = await queueReading.run(transaction, limits);
  return {
    waiting: rows.filter((row) => row.part === "waiting"),
    inFlight: rows.filter((row) => row.part === "in_flight"),
    tests: rows.flatMap((row) =>
      row.part === "test" ? [{ deliveryId: row.firstId, isAnswering: row.isAnswering }] : [],
    ),
  };
}

const PLANS = toArrayText(PLANS_WITH_WEBHOOKS);

const queueReading = new FixedStatement<QueueRow, QueueLimits>(
  ({ after, lanes, tests, now }) => sql`-- prepared: read_queue
    with recursive ${waitingLanes(after)}, first_lanes as (
      select endpoint_id, due_at, delivery_id from waiting_lanes limit ${lanes}::integer
    ), leased as (
      select endpoint_id, organization_id, count(*)::integer as requests from ${table("delivery_queue")}
      where lease_token is not null group by endpoint_id, organization_id
    ), waiting_tests as (
      select queue.delivery_id, lane.is_answering from ${table("delivery_queue", "queue")}
      join ${table("delivery_lanes", "lane")} on lane.endpoint_id = queue.endpoint_id
      join ${table("organizations", "organization")} on organization.id = lane.organization_id
      where queue.is_test and queue.lease_token is null and queue.due_at <= ${now}::timestamptz
        and lane.state = 'open' and organization.plan = any(${PLANS}::text[])
      order by queue.due_at limit ${tests}::integer
    )
    select 'waiting' as part, first.endpoint_id as "endpointId", lane.organization_id as "organizationId",
      coalesce(lane.state = 'open' and organization.plan = any(${PLANS}::text[]), false) as "isOpen",
      lane.is_chat as "isChat", lane.is_failing as "isFailing", lane.is_answering as "isAnswering",
      coalesce(lane.paused_until > ${now}::timestamptz, false) as "isPaused", lane.requests_per_minute as "requestsPerMinute",
      greatest(coalesce(urgent.due_at, greatest(first.due_at, lane.paused_until)), lane.rated_until) as "dueAt",
      coalesce(urgent.delivery_id, first.delivery_id) as "firstId", coalesce(urgent.due_at, first.due_at) as "firstDueAt",
      null::integer as requests
    from first_lanes first
    left join ${table("delivery_lanes", "lane")} on lane.endpoint_id = first.endpoint_id
    left join ${table("organizations", "organization")} on organization.id = lane.organization_id
    left join lateral (
      select queue.delivery_id, queue.due_at from ${table("delivery_queue", "queue")}
      where lane.paused_until > ${now}::timestamptz and queue.endpoint_id = first.endpoint_id and queue.is_urgent
        and queue.lease_token is null
      order by queue.due_at limit 1
    ) urgent on true
    union all
    select 'in_flight', leased.endpoint_id, leased.organization_id, null, null, coalesce(lane.is_failing, false),
      coalesce(lane.is_answering, false), null, null, null, null, null, leased.requests
    from leased left join ${table("delivery_lanes", "lane")} on lane.endpoint_id = leased.endpoint_id
    union all
    select 'test', null, null, null, null, null, is_answering, null, null, null, delivery_id, null, null from waiting_tests`,
);

/** The first due deliveries of each lane, in their order. */
export async function listDueDeliveries(
  transaction: Db,
  lanes: readonly { endpointId: EndpointId; limit: number }[],
  now: Date,
): Promise<(DueDelivery & { endpointId: EndpointId })[]> {
  if (lanes.length === 0) return [];
  const endpointIds = toArrayText(lanes.map(({ endpointId }) => endpointId));
  const limits = toArrayText(lanes.map(({ limit }) => String(limit)));
  return await dueListing.run(transaction, { endpointIds, limits, now });
}

const dueListing = new FixedStatement<
  DueDelivery & { endpointId: EndpointId },
  { endpointIds: string; limits: string; now: Date }
>(
  ({ endpointIds, limits, now }) => sql`-- prepared: list_due_deliveries
    select lane.endpoint_id as "endpointId", due.delivery_id as "deliveryId", due.due_at as "dueAt"
    from unnest(${ofAnyLength(endpointIds, "text[]")}, ${ofAnyLength(limits, "integer[]")}) as lane (endpoint_id, most) cross join lateral (
      select delivery_id, due_at from ${table("delivery_queue")}
      where endpoint_id = lane.endpoint_id and lease_token is null and due_at <= ${now}::timestamptz
      order by due_at limit lane.most
    ) due`,
);

/** For lanes with a rate limit that were claimed from. Lanes are locked by id, as in report-queries.ts. */
export async function setRatedUntil(
  transaction: Db,
  lanes: readonly { endpointId: EndpointId; until: Date }[],
): Promise<void> {
  const endpointIds = lanes.map(({ endpointId }) => endpointId);
  await sql`-- prepared: lock_rated_lanes
    select from ${table("delivery_lanes")} where endpoint_id = any(${endpointIds}::text[]) order by endpoint_id for update`.execute(
    transaction,
  );
  await sql`-- prepared: set_rated_until
    update ${table("delivery_lanes", "lane")} set rated_until = rated.until
    from unnest(${endpointIds}::text[], ${lanes.map(({ until }) => until)}::timestamptz[])
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

type LeasedRow = Omit<ClaimedDelivery, "lease">;

/** Skips rows locked by an erasure or a cancellation. Ids are an array, so that each is looked up in the index. */
export async function leaseDeliveries(
  transaction: Db,
  ids: readonly DeliveryId[],
  lease: Lease,
): Promise<ClaimedDelivery[]> {
  return (await leasing.run(transaction, { ...lease, ids: toArrayText(ids) })).map((row) => ({ ...row, lease }));
}

const leasing = new FixedStatement<LeasedRow, Lease & { ids: string }>(
  ({ token, at, until, holder, ids }) => sql`-- prepared: lease_deliveries
    update ${table("delivery_queue")} set lease_token = ${token}::uuid, leased_at = ${at}::timestamptz,
      lease_until = ${until}::timestamptz, leased_by = ${holder}::integer
    where delivery_id = any(array(
      select delivery_id from ${table("delivery_queue")}
      where delivery_id = any(${ids}::uuid[]) and lease_token is null
      for update skip locked
    ))
    returning ${LEASED_COLUMNS}`,
);

const LEASED_COLUMNS = sql`delivery_id as "deliveryId", organization_id as "organizationId", endpoint_id as "endpointId", trigger,
      resume_at as "resumeAt"`;

/**
 * A claim of these deliveries in one transaction, unless another claim is under way. Takes only those that no rule holds back: the
 * lane has nothing else waiting or in flight, its endpoint answers, and it has no limits of its own.
 */
export async function leaseStored(home: Home, ids: readonly DeliveryId[], lease: Lease): Promise<ClaimedDelivery[]> {
  const values = { ...lease, ...toClaimSettings(home.group), ids: toArrayText(ids) };
  const rows = await inTransaction(home.writer, async (transaction) => {
    await usingIndexes.run(transaction, {});
    return await leasingStored.run(transaction, values);
  });
  return rows.map((row) => ({ ...row, lease }));
}

const usingIndexes = new FixedStatement<unknown, object>(
  () => sql`-- prepared: use_indexes
    select ${INDEXES_ONLY}`,
);

/** The orders and limits leave PostgreSQL only one index each: the plan may be from a time when the queue was empty. */
const leasingStored = new FixedStatement<LeasedRow, Lease & ClaimSettings & { ids: string }>(
  ({ token, at, until, holder, synchronousCommit, shard, ids }) => sql`-- prepared: lease_stored
    with claim as materialized (
      select pg_try_advisory_xact_lock(${toClaimLock(shard)}) as is_alone, ${setSynchronousCommit(synchronousCommit)}
    ), stored as materialized (
      select delivery_id, endpoint_id from ${table("delivery_queue")}
      where delivery_id = any(${ids}::uuid[]) and lease_token is null and due_at <= ${at}::timestamptz order by delivery_id
    )
    update ${table("delivery_queue")} set lease_token = ${token}::uuid, leased_at = ${at}::timestamptz,
      lease_until = ${until}::timestamptz, leased_by = ${holder}::integer
    where delivery_id = any(array(
      select locked.delivery_id from claim cross join stored
      join ${table("delivery_lanes", "lane")} on lane.endpoint_id = stored.endpoint_id
      join ${table("organizations", "organization")} on organization.id = lane.organization_id
      cross join lateral (
        select delivery_id from ${table("delivery_queue", "queue")}
        where queue.delivery_id = stored.delivery_id and queue.lease_token is null
        order by queue.delivery_id limit 1
        for update skip locked
      ) locked
      where claim.is_alone and organization.plan = any(${PLANS}::text[])
        and lane.state = 'open' and lane.is_answering and not lane.is_failing and not lane.is_chat
        and lane.requests_per_minute is null and (lane.paused_until > ${at}::timestamptz) is not true
        and (select count(*) from (
          select from ${table("delivery_queue", "waiting")}
          where waiting.endpoint_id = stored.endpoint_id and waiting.lease_token is null order by waiting.due_at limit 2
        ) first) = 1 and not exists (
          select from ${table("delivery_queue", "sent")} where sent.endpoint_id = stored.endpoint_id and sent.lease_token is not null
        )
    ))
    returning ${LEASED_COLUMNS}`,
);
