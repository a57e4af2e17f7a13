import { sql } from "kysely";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { deleteLanes } from "../queue/lanes.ts";
import { isInLog } from "./queries.ts";

type Batch = { keptSince: Date; limit: number };

// `db` is the organization's home.

/** Deletes expired events with their deliveries and attempts, at most `limit`. */
export async function deleteExpiredEvents(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  const result = await sql`
    with expired as (
      select id from ${table("webhook_events", "event")}
      where organization_id = ${owner} and created_at < ${batch.keptSince}
        and not ${isInLog(owner, batch.keptSince)}
      order by created_at limit ${batch.limit}
      for update of event skip locked
    )
    delete from ${table("webhook_events")} using expired
    where webhook_events.organization_id = ${owner} and webhook_events.id = expired.id`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/** Deletes expired attempts, at most `limit`; their delivery may still be in the log. */
export async function deleteExpiredAttempts(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  const result = await sql`
    with expired as (
      select delivery_id, number from ${table("delivery_attempts")}
      where organization_id = ${owner} and started_at < ${batch.keptSince}
      order by started_at limit ${batch.limit}
      for update skip locked
    )
    delete from ${table("delivery_attempts", "attempt")} using expired
    where attempt.organization_id = ${owner} and attempt.delivery_id = expired.delivery_id
      and attempt.number = expired.number`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

export async function deleteExpiredNotices(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  const result = await sql`
    with expired as (
      select id from ${table("endpoint_notices")} where organization_id = ${owner} and created_at < ${batch.keptSince}
      limit ${batch.limit} for update skip locked
    )
    delete from ${table("endpoint_notices")} using expired
    where endpoint_notices.organization_id = ${owner} and endpoint_notices.id = expired.id`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

export async function deleteExpiredRedeliveries(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  const result = await sql`
    delete from ${table("redeliveries")} where organization_id = ${owner} and id in (
      select id from ${table("redeliveries")} where organization_id = ${owner} and created_at < ${batch.keptSince}
        and state <> 'running'
      limit ${batch.limit})`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

export async function deleteExpiredTotals(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  const result = await sql`
    with expired as (
      select interval_hours, from_at, endpoint_id from ${table("attempt_totals")}
      where organization_id = ${owner} and from_at < ${batch.keptSince} limit ${batch.limit}
    )
    delete from ${table("attempt_totals", "total")} using expired
    where total.organization_id = ${owner} and total.interval_hours = expired.interval_hours
      and total.from_at = expired.from_at and total.endpoint_id = expired.endpoint_id`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/** Deletes previous secrets whose overlap has ended, at most `limit`. */
export async function deletePreviousSecrets(
  db: Db,
  owner: OrganizationId,
  { now, limit }: { now: Date; limit: number },
): Promise<number> {
  const result = await sql`
    with expired as (
      select id from ${table("endpoints")} where organization_id = ${owner} and previous_secret_expires_at <= ${now}
      order by id limit ${limit} for no key update skip locked
    )
    update ${table("endpoints")} set previous_secret = null, previous_secret_expires_at = null
    from expired where endpoints.organization_id = ${owner} and endpoints.id = expired.id`.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/** Deletes removed endpoints that the log no longer mentions. */
export async function deleteRemovedEndpoints(db: Db, owner: OrganizationId, batch: Batch): Promise<number> {
  const { rows } = await sql<{ id: EndpointId }>`
    with unused as (
      select id from ${table("endpoints", "endpoint")}
      where organization_id = ${owner} and removed_at < ${batch.keptSince}
        and not exists (select from ${table("deliveries")} where organization_id = ${owner} and endpoint_id = endpoint.id)
        and not exists (select from ${table("endpoint_notices")} where organization_id = ${owner} and endpoint_id = endpoint.id)
      limit ${batch.limit} for update skip locked
    )
    delete from ${table("endpoints")} using unused where endpoints.organization_id = ${owner} and endpoints.id = unused.id
    returning endpoints.id`.execute(db);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await deleteLanes(db, owner, ids);
  return ids.length;
}
