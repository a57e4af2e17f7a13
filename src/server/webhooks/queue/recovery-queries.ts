import { type RawBuilder, sql } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { CancelReason } from "#contract/webhooks/delivery.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atHomes, table } from "../../db/home.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import { PLANS_WITH_WEBHOOKS } from "./caps.ts";
import { type ClaimedDelivery, INDEXES_ONLY, type Lease, leaseDeliveries } from "./claim-queries.ts";
import { waitingLanes } from "./lanes.ts";

// What every worker looks for once a second, across the organizations of a home: leases whose worker is gone, deliveries that must no longer
// be sent, and deliveries that a failing endpoint has held back.

type LeasedRow = Omit<ClaimedDelivery, "lease"> & {
  token: string;
  leasedAt: Date;
  leaseUntil: Date;
  holder: number | null;
};

/**
 * Leases that expired or whose worker is dead. Other workers may find and report the same ones; the tokens decide. Not prepared: a
 * plan for a short queue reads all of a long one.
 */
export async function listLostLeasesAcrossOrganizations(
  home: Db,
  { now, deadWorkers, limit }: { now: Date; deadWorkers: readonly number[]; limit: number },
): Promise<ClaimedDelivery[]> {
  const { rows } = await sql<LeasedRow>`
    select delivery_id as "deliveryId", organization_id as "organizationId", endpoint_id as "endpointId", trigger,
      resume_at as "resumeAt", lease_token as token, leased_at as "leasedAt", lease_until as "leaseUntil", leased_by as holder
    from ${table("delivery_queue")}
    where lease_token is not null
      and (lease_until < ${now}::timestamptz or leased_by = any(${deadWorkers as number[]}::integer[]))
    limit ${limit}::integer`.execute(home);
  return rows.map(({ token, leasedAt, leaseUntil, holder, ...row }) => ({
    ...row,
    lease: { token, at: leasedAt, until: leaseUntil, holder },
  }));
}

/** For claimed deliveries that the log has deleted: nobody could report them. */
export async function dropLeases(db: Db, claimed: readonly ClaimedDelivery[]): Promise<void> {
  await atHomes(db, claimed, async ({ writer }, some) => {
    await sql`
      delete from ${table("delivery_queue", "queue")} using ${toLeases(some)}
      where queue.delivery_id = lease.delivery_id and queue.lease_token = lease.token`.execute(writer);
  });
}

/** For claimed deliveries that could not be loaded: nothing was sent. They are due again at `dueAt`. */
export async function returnLeases(db: Db, claimed: readonly ClaimedDelivery[], dueAt: Date): Promise<void> {
  await atHomes(db, claimed, async ({ writer }, some) => {
    await sql`
      update ${table("delivery_queue", "queue")} set due_at = greatest(queue.due_at, ${dueAt}::timestamptz),
        lease_token = null, leased_at = null, lease_until = null, leased_by = null
      from ${toLeases(some)}
      where queue.delivery_id = lease.delivery_id and queue.lease_token = lease.token`.execute(writer);
  });
}

function toLeases(claimed: readonly ClaimedDelivery[]): RawBuilder<unknown> {
  const ids = claimed.map(({ deliveryId }) => deliveryId);
  const tokens = claimed.map(({ lease }) => lease.token);
  return sql`unnest(${ids}::uuid[], ${tokens}::uuid[]) as lease (delivery_id, token)`;
}

/** Leases what waited for a failing endpoint since before `dueBefore`, unless a pause, a rate limit or a person holds it. */
export async function leaseHeldBackAcrossOrganizations(
  home: Db,
  { lease, dueBefore, limit }: { lease: Lease; dueBefore: Date; limit: number },
): Promise<ClaimedDelivery[]> {
  return await inTransaction(home, async (transaction) => {
    await sql`select ${INDEXES_ONLY}`.execute(transaction);
    const { rows } = await sql<{ deliveryId: DeliveryId }>`
      with recursive ${waitingLanes("")}
      select held.delivery_id as "deliveryId"
      from waiting_lanes
      join ${table("delivery_lanes", "lane")} on lane.endpoint_id = waiting_lanes.endpoint_id
      cross join lateral (
        select delivery_id from ${table("delivery_queue")}
        where endpoint_id = lane.endpoint_id and lease_token is null and due_at < ${dueBefore}
          and not is_test and (trigger = 'automatic' or resume_at is not null)
        order by due_at limit ${limit}
      ) held
      where waiting_lanes.due_at < ${dueBefore} and lane.state = 'open' and lane.is_failing
        and lane.requests_per_minute is null and (lane.paused_until is null or lane.paused_until < ${dueBefore})
      limit ${limit}`.execute(transaction);
    const ids = rows.map(({ deliveryId }) => deliveryId);
    return ids.length === 0 ? [] : await leaseDeliveries(transaction, ids, lease);
  });
}

type Removed = { deliveryId: DeliveryId; organizationId: OrganizationId; reason: CancelReason };

/**
 * Cancels waiting deliveries whose endpoint was turned off or removed, or whose plan no longer includes webhooks. Deliveries
 * in flight are left to their report and are cancelled by the next call. The work is bounded by the number of lanes and by
 * `limit`.
 */
export async function cancelForbiddenAcrossOrganizations(
  home: Db,
  { now, limit }: { now: Date; limit: number },
): Promise<void> {
  await cancelInLanes(home, { now, limit, lanes: waitingLanes("") });
}

/** The same for one endpoint. */
export async function cancelForbidden(
  home: Db,
  owner: OrganizationId,
  { endpointId, now, limit }: { endpointId: EndpointId; now: Date; limit: number },
): Promise<void> {
  const lanes = sql`waiting_lanes as (
      select endpoint_id from ${table("delivery_lanes")} where organization_id = ${owner} and endpoint_id = ${endpointId}
    )`;
  await cancelInLanes(home, { now, limit, lanes });
}

type Forbidden = { lanes: RawBuilder<unknown>; limit: number };

async function cancelInLanes(home: Db, { now, ...forbidden }: Forbidden & { now: Date }): Promise<void> {
  await inTransaction(home, async (transaction) => {
    await sql`select ${INDEXES_ONLY}`.execute(transaction);
    const removed = await removeForbidden(transaction, forbidden);
    if (removed.length > 0) await cancelDeliveries(transaction, removed, now);
  });
}

async function removeForbidden(transaction: Db, { lanes, limit }: Forbidden): Promise<Removed[]> {
  const { rows } = await sql<Removed>`
    with recursive ${lanes}, closed as (
      select lane.endpoint_id, case lane.state when 'removed' then 'endpoint_removed'
        when 'disabled' then 'endpoint_disabled' else 'plan' end as reason
      from waiting_lanes
      join ${table("delivery_lanes", "lane")} on lane.endpoint_id = waiting_lanes.endpoint_id
      join ${table("organizations", "organization")} on organization.id = lane.organization_id
      where lane.state <> 'open' or organization.plan <> all(${PLANS_WITH_WEBHOOKS as Plan[]}::text[])
    ), forbidden as (
      select waiting.delivery_id, closed.reason
      from closed cross join lateral (
        select delivery_id from ${table("delivery_queue")}
        where endpoint_id = closed.endpoint_id and lease_token is null
        limit ${limit}
        for update skip locked
      ) waiting
      limit ${limit}
    )
    delete from ${table("delivery_queue", "queue")} using forbidden where queue.delivery_id = forbidden.delivery_id
    returning queue.delivery_id as "deliveryId", queue.organization_id as "organizationId", forbidden.reason`.execute(
    transaction,
  );
  return rows;
}

/** A manual redelivery leaves its delivery's state as it is. */
async function cancelDeliveries(transaction: Db, removed: readonly Removed[], now: Date): Promise<void> {
  const owners: OrganizationId[] = removed.map(({ organizationId }) => organizationId);
  const ids: DeliveryId[] = removed.map(({ deliveryId }) => deliveryId);
  const reasons: CancelReason[] = removed.map(({ reason }) => reason);
  await sql`
    update ${table("deliveries", "delivery")} set state = 'canceled', cancel_reason = canceled.reason, next_attempt_at = null,
      completed_at = ${now}
    from unnest(${owners}::text[], ${ids}::uuid[], ${reasons}::text[]) as canceled (organization_id, id, reason)
    where delivery.organization_id = canceled.organization_id and delivery.id = canceled.id
      and delivery.state in ('queued', 'retrying')`.execute(transaction);
}

/** The first key of the advisory locks that workers hold (delivery/recovery.ts); the second is the worker's number. */
export const WORKER_LOCKS = 7_236_003;

/** The numbers of workers that have leases but hold no lock. Reads the leases by their index, not the whole queue, and the locks once. */
export async function listMissingHoldersAcrossOrganizations(home: Db): Promise<number[]> {
  return await inTransaction(home, async (transaction) => {
    await sql`select ${INDEXES_ONLY}`.execute(transaction);
    const { rows } = await sql<{ leased_by: number }>`-- prepared: list_missing_holders
      select distinct leased_by from ${table("delivery_queue")}
      where lease_token is not null and leased_by is not null and leased_by <> all(array(
        select objid::bigint from pg_locks
        where locktype = 'advisory' and objsubid = 2 and granted and classid::bigint = ${WORKER_LOCKS}::bigint
          and database = (select oid from pg_database where datname = current_database())
      ))`.execute(transaction);
    return rows.map((row) => row.leased_by);
  });
}
