import { sql } from "kysely";
import type { AttemptTrigger } from "#contract/delivery.ts";
import {
  type DeliveryId,
  type EndpointId,
  type OrganizationId,
  REFERENCE_PATTERN,
  type Reference,
} from "#contract/ids.ts";
import { table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";

/**
 * Erases everything that webhooks hold about these bookings, in the caller's transaction, which has locked the bookings:
 * cancels waiting deliveries and deletes stored bodies, cards, replies and references. The log keeps its lines without
 * content. A request in flight cannot be called back, but without its row in the queue its reply is not stored.
 */
export async function eraseDeliveries(
  transaction: Db,
  owner: OrganizationId,
  { references, now }: { references: readonly Reference[]; now: Date },
): Promise<void> {
  const ids = await listDeliveryIds(transaction, owner, references);
  const inFlight = await lockQueued(transaction, owner, ids);
  await eraseContent(transaction, owner, { references, now });
  await logInterrupted(transaction, owner, inFlight);
  await sql`delete from ${table("delivery_queue")} where organization_id = ${owner} and delivery_id = any(${ids}::uuid[])`.execute(
    transaction,
  );
  await eraseFromNotices(transaction, owner, references);
}

/** Within a text, so without the anchors. */
const REFERENCE_FORM = REFERENCE_PATTERN.slice(1, -1);

/** A notice names one booking at most. */
async function eraseFromNotices(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<void> {
  await sql`
    update ${table("endpoint_notices")} set detail = regexp_replace(detail, ${sql.lit(REFERENCE_FORM)}, 'an erased booking')
    where organization_id = ${owner}
      and substring(detail from ${sql.lit(REFERENCE_FORM)}) = any(${references as Reference[]}::text[])`.execute(
    transaction,
  );
}

/**
 * Deletes the events of these bookings with their deliveries and attempts, in the caller's transaction, which has locked the
 * bookings. Returns how many deliveries there were. The reply to a request in flight is not stored.
 */
export async function deleteDeliveries(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<number> {
  const ids = await listDeliveryIds(transaction, owner, references);
  await lockQueued(transaction, owner, ids);
  await sql`delete from ${table("delivery_queue")} where organization_id = ${owner} and delivery_id = any(${ids}::uuid[])`.execute(
    transaction,
  );
  await sql`
    delete from ${table("webhook_events")}
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])`.execute(transaction);
  return ids.length;
}

type InFlight = { deliveryId: DeliveryId; endpointId: EndpointId; trigger: AttemptTrigger; leasedAt: Date };

/** Waits for claims and reports of these rows. Returns the deliveries with a request in flight. */
async function lockQueued(transaction: Db, owner: OrganizationId, ids: readonly DeliveryId[]): Promise<InFlight[]> {
  const { rows } = await sql<InFlight & { leasedAt: Date | null }>`
    select delivery_id as "deliveryId", endpoint_id as "endpointId", trigger, leased_at as "leasedAt" from ${table("delivery_queue")}
    where organization_id = ${owner} and delivery_id = any(${ids as DeliveryId[]}::uuid[])
    order by delivery_id for update`.execute(transaction);
  return rows.filter((row) => row.leasedAt !== null);
}

/** The worker can no longer report these requests. */
async function logInterrupted(transaction: Db, owner: OrganizationId, inFlight: readonly InFlight[]): Promise<void> {
  if (inFlight.length === 0) return;
  const counted = await transaction
    .updateTable("deliveries")
    .set((set) => ({ attempt_count: set("attempt_count", "+", 1) }))
    .where("organization_id", "=", owner)
    .where(
      "id",
      "in",
      inFlight.map(({ deliveryId }) => deliveryId),
    )
    .returning(["id", "attempt_count"])
    .execute();
  const numbers = new Map(counted.map(({ id, attempt_count }) => [id, attempt_count]));
  const attempts = inFlight.flatMap(({ deliveryId, endpointId, trigger, leasedAt }) => {
    const number = numbers.get(deliveryId);
    return number === undefined
      ? []
      : [
          {
            organization_id: owner,
            delivery_id: deliveryId,
            number,
            endpoint_id: endpointId,
            trigger,
            started_at: leasedAt,
            result: "interrupted" as const,
            error_code: "interrupted" as const,
          },
        ];
  });
  if (attempts.length > 0) await transaction.insertInto("delivery_attempts").values(attempts).execute();
}

async function listDeliveryIds(
  transaction: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<DeliveryId[]> {
  const { rows } = await sql<{ id: DeliveryId }>`
    select delivery.id from ${table("webhook_events", "event")}
    join ${table("deliveries", "delivery")} on delivery.organization_id = event.organization_id and delivery.event_id = event.id
    where event.organization_id = ${owner} and event.reference = any(${references as Reference[]}::text[])
      and event.type <> 'booking.erased'`.execute(transaction);
  return rows.map(({ id }) => id);
}

async function eraseContent(
  transaction: Db,
  owner: OrganizationId,
  { references, now }: { references: readonly Reference[]; now: Date },
): Promise<void> {
  await sql`
    with events as (
      update ${table("webhook_events")} set body = null, reference = null
      where organization_id = ${owner} and reference = any(${references as Reference[]}::text[]) and type <> 'booking.erased'
      returning id
    ), erased as (
      update ${table("deliveries")} set card = null, next_attempt_at = null,
        state = case when state in ('queued', 'retrying') then 'canceled' else state end,
        cancel_reason = case when state in ('queued', 'retrying') then 'erased' else cancel_reason end,
        completed_at = coalesce(completed_at, ${now})
      from events where deliveries.organization_id = ${owner} and deliveries.event_id = events.id
      returning deliveries.id
    )
    update ${table("delivery_attempts")} set reply = null, detail = null, next_attempt_at = null
    from erased where delivery_attempts.organization_id = ${owner} and delivery_attempts.delivery_id = erased.id`.execute(
    transaction,
  );
}
