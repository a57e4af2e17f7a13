import { type RawBuilder, type Selectable, sql } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId, RedeliveryId } from "#contract/ids.ts";
import type { DeliveryState, RedeliveryFilter, RedeliveryState } from "#contract/webhooks/delivery.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import type { RedeliveriesTable } from "../../db/tables/webhook-tables.ts";
import type { RowPosition } from "../../http/paging.ts";
import { isInLog } from "./queries.ts";

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

export async function insertRedelivery(
  transaction: Db,
  owner: OrganizationId,
  redelivery: { id: RedeliveryId; filter: RedeliveryFilter; matched: number; now: Date },
): Promise<void> {
  const { id, filter, matched, now } = redelivery;
  await transaction
    .insertInto("redeliveries")
    .values({
      organization_id: owner,
      id,
      filter: JSON.stringify(filter),
      state: "running",
      matched,
      queued: 0,
      place_at: new Date(filter.from),
      place_id: FIRST_ID,
      created_at: now,
      finished_at: null,
    })
    .execute();
}

/** Deliveries that the filter means and that can be sent: not erased, no tests, of endpoints that are on, not waiting. */
function toMatching(
  owner: OrganizationId,
  { filter, keptSince }: { filter: RedeliveryFilter; keptSince: Date },
): RawBuilder<boolean> {
  const { states, from, to, endpoint, widget, error } = filter;
  // PostgreSQL can't read the ISO strings of years before 1 and after 9999.
  return sql<boolean>`delivery.organization_id = ${owner} and delivery.state = any(${states as DeliveryState[]}::text[])
    and delivery.created_at >= ${new Date(from)} and delivery.created_at < ${new Date(to)}
    and (${endpoint ?? null}::text is null or delivery.endpoint_id = ${endpoint ?? null})
    and (${error ?? null}::text is null or delivery.last_error = ${error ?? null})
    and (${widget ?? null}::text is null or event.widget_id = ${widget ?? null})
    and event.body is not null and event.type <> 'endpoint.test'
    and endpoint.status = 'enabled' and endpoint.removed_at is null and ${isInLog(owner, keptSince)}`;
}

const MATCHED = sql`${table("deliveries", "delivery")}
    join ${table("webhook_events", "event")} on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    join ${table("endpoints", "endpoint")} on endpoint.organization_id = delivery.organization_id and endpoint.id = delivery.endpoint_id`;

export async function countMatching(
  db: Db,
  owner: OrganizationId,
  which: { filter: RedeliveryFilter; keptSince: Date },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${MATCHED} where ${toMatching(owner, which)}`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function listMatching(
  db: Db,
  owner: OrganizationId,
  which: { filter: RedeliveryFilter; keptSince: Date; after: RowPosition; limit: number },
): Promise<{ id: DeliveryId; endpointId: EndpointId; createdAt: Date }[]> {
  const { after } = which;
  const { rows } = await sql<{ id: DeliveryId; endpointId: EndpointId; createdAt: Date }>`
    select delivery.id, delivery.endpoint_id as "endpointId", delivery.created_at as "createdAt" from ${MATCHED}
    where ${toMatching(owner, which)} and delivery.created_at >= ${after.at}
      and (delivery.created_at, delivery.id) > (${after.at}, ${after.id}::uuid)
    order by delivery.created_at, delivery.id limit ${which.limit}`.execute(db);
  return rows;
}

/** Starts the schedule of queued deliveries again. Earlier redeliveries of them keep the outcome they had. */
export async function requeueDeliveries(
  transaction: Db,
  owner: OrganizationId,
  { ids, redeliveryId, now }: { ids: readonly DeliveryId[]; redeliveryId: RedeliveryId; now: Date },
): Promise<void> {
  if (ids.length === 0) return;
  await keepOutcomes(transaction, owner, ids);
  await transaction
    .updateTable("deliveries")
    .set({
      state: "queued",
      cancel_reason: null,
      retries_used: 0,
      next_attempt_at: now,
      completed_at: null,
      redelivery_id: redeliveryId,
    })
    .where("organization_id", "=", owner)
    .where("id", "in", [...ids])
    .execute();
}

/** Adds the present outcomes of these deliveries to their redeliveries, before another redelivery takes them. */
async function keepOutcomes(transaction: Db, owner: OrganizationId, ids: readonly DeliveryId[]): Promise<void> {
  await sql`
    with kept as (
      select redelivery_id, count(*) filter (where state = 'delivered') as delivered,
        count(*) filter (where state = 'failed') as failed, count(*) filter (where state = 'canceled') as canceled
      from ${table("deliveries")}
      where organization_id = ${owner} and id = any(${ids as DeliveryId[]}::uuid[]) and redelivery_id is not null
      group by redelivery_id
    )
    update ${table("redeliveries", "redelivery")} set kept_delivered = kept_delivered + kept.delivered,
      kept_failed = kept_failed + kept.failed, kept_canceled = kept_canceled + kept.canceled
    from kept where redelivery.organization_id = ${owner} and redelivery.id = kept.redelivery_id`.execute(transaction);
}

/** No other advisory lock uses this number. */
const REDELIVERY_LOCK = 7_236_004;

/**
 * False if another worker is queueing a batch of this organization. A batch also counts deliveries that it takes from other
 * redeliveries (keepOutcomes), so two that overlap could each wait for the other.
 */
export async function lockRedeliveries(transaction: Db, owner: OrganizationId): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${REDELIVERY_LOCK}, hashtext(${owner})) as locked`.execute(transaction);
  return rows[0]?.locked ?? false;
}

type Running = { filter: RedeliveryFilter; position: RowPosition };

/** Null if it has ended, or if another worker is queueing a batch of it. */
export async function lockRedelivery(
  transaction: Db,
  owner: OrganizationId,
  id: RedeliveryId,
): Promise<Running | null> {
  const row = await transaction
    .selectFrom("redeliveries")
    .select(["filter", "place_at", "place_id"])
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .where("state", "=", "running")
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row ? { filter: row.filter, position: { at: row.place_at, id: row.place_id } } : null;
}

export async function saveProgress(
  transaction: Db,
  owner: OrganizationId,
  { id, position, queued }: { id: RedeliveryId; position: RowPosition; queued: number },
): Promise<void> {
  await transaction
    .updateTable("redeliveries")
    .set((set) => ({ place_at: position.at, place_id: position.id, queued: set("queued", "+", queued) }))
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .execute();
}

/** False if it had ended before. */
export async function endRedelivery(
  db: Db,
  owner: OrganizationId,
  { id, state, now }: { id: RedeliveryId; state: Exclude<RedeliveryState, "running">; now: Date },
): Promise<boolean> {
  const result = await db
    .updateTable("redeliveries")
    .set({ state, finished_at: now })
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .where("state", "=", "running")
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Oldest first. */
export async function listRunningAcrossOrganizations(
  home: Db,
): Promise<{ organization_id: OrganizationId; id: RedeliveryId }[]> {
  return await home
    .selectFrom("redeliveries")
    .select(["organization_id", "id"])
    .where("state", "=", "running")
    .orderBy("created_at")
    .execute();
}

export async function listStates(
  db: Db,
  owner: OrganizationId,
): Promise<{ id: RedeliveryId; state: RedeliveryState }[]> {
  return await db.selectFrom("redeliveries").select(["id", "state"]).where("organization_id", "=", owner).execute();
}

/** How many deliveries of each redelivery wait for their first attempt. By id, for the index. */
export async function countUnsent(
  db: Db,
  owner: OrganizationId,
  ids: readonly RedeliveryId[],
): Promise<ReadonlyMap<RedeliveryId, number>> {
  const { rows } = await sql<{ id: RedeliveryId; count: number }>`
    select redelivery_id as id, count(*) as count from ${table("delivery_queue")}
    where organization_id = ${owner} and redelivery_id = any(${ids as RedeliveryId[]}::text[])
    group by redelivery_id`.execute(db);
  return new Map(rows.map(({ id, count }) => [id, count]));
}

export type RedeliveryRow = Selectable<RedeliveriesTable> & { counts: Partial<Record<DeliveryState, number>> };

/** The newest, or one, with what became of their deliveries. */
export async function listRedeliveries(
  db: Db,
  owner: OrganizationId,
  { id, limit }: { id?: RedeliveryId; limit: number },
): Promise<RedeliveryRow[]> {
  const { rows } = await sql<RedeliveryRow>`
    select organization_id, id, filter, state, matched, queued, kept_delivered, kept_failed, kept_canceled, place_at, place_id,
      created_at, finished_at, coalesce((
      select json_object_agg(state, count) from (
        select state, count(*) as count from deliveries delivery
        where delivery.organization_id = ${owner} and delivery.redelivery_id = redelivery.id
        group by state
      ) by_state
    ), '{}') as counts
    from redeliveries redelivery
    where organization_id = ${owner} and (${id ?? null}::text is null or id = ${id ?? null})
    order by created_at desc, id limit ${limit}`.execute(db);
  return rows;
}
