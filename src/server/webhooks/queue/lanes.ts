import { type Selectable, sql } from "kysely";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import type { DeliveryLanesTable } from "../../db/tables/queue-tables.ts";
import type { EndpointsTable } from "../../db/tables/webhook-tables.ts";
import { CAPS } from "./caps.ts";

// A lane repeats what claiming must know about an endpoint, so that a claim reads few small rows. Code
// that changes one of these columns of an endpoint must write the lane in the same transaction, after the endpoint.

type LaneSource = Pick<
  Selectable<EndpointsTable>,
  | "id"
  | "organization_id"
  | "kind"
  | "status"
  | "failed_attempts"
  | "is_answering"
  | "paused_until"
  | "requests_per_minute"
> & { readonly removed_at?: Date | null };

export function toLane(endpoint: LaneSource): Omit<Selectable<DeliveryLanesTable>, "rated_until"> {
  return {
    endpoint_id: endpoint.id,
    organization_id: endpoint.organization_id,
    state: endpoint.removed_at ? "removed" : endpoint.status === "disabled" ? "disabled" : "open",
    is_chat: endpoint.kind !== "webhook",
    is_failing: endpoint.failed_attempts >= CAPS.failingAfter,
    is_answering: endpoint.is_answering,
    paused_until: endpoint.paused_until,
    requests_per_minute: endpoint.requests_per_minute,
  };
}

export async function writeLane(transaction: Db, endpoint: LaneSource): Promise<void> {
  const { organization_id, endpoint_id, ...lane } = toLane(endpoint);
  const { numUpdatedRows } = await transaction
    .updateTable("delivery_lanes")
    .set(lane)
    .where("organization_id", "=", organization_id)
    .where("endpoint_id", "=", endpoint_id)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await transaction
    .insertInto("delivery_lanes")
    .values({ organization_id, endpoint_id, ...lane })
    .execute();
}

export async function deleteLanes(db: Db, owner: OrganizationId, endpointIds: readonly EndpointId[]): Promise<void> {
  await db
    .deleteFrom("delivery_lanes")
    .where("organization_id", "=", owner)
    .where("endpoint_id", "in", endpointIds)
    .execute();
}

/**
 * Endpoints with something waiting and their first delivery, one index probe each, however many deliveries wait. Defines
 * `waiting_lanes`.
 */
export function waitingLanes(after: string) {
  return sql`waiting_lanes as (
      (select endpoint_id, due_at, delivery_id from ${table("delivery_queue")}
        where lease_token is null and endpoint_id > ${after}::text order by endpoint_id, due_at limit 1)
      union all
      select next.endpoint_id, next.due_at, next.delivery_id from waiting_lanes cross join lateral (
        select queue.endpoint_id, queue.due_at, queue.delivery_id from ${table("delivery_queue", "queue")}
        where queue.lease_token is null and queue.endpoint_id > waiting_lanes.endpoint_id
        order by queue.endpoint_id, queue.due_at limit 1
      ) next
    )`;
}
