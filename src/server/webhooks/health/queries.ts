import { sql } from "kysely";
import type { EndpointKind } from "#contract/endpoint.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";

export type RecentAttempts = {
  endpoint_id: EndpointId;
  delivered: number;
  failed: number;
  last_failure_at: Date | null;
};

/** Attempts of each endpoint, or of one, that began since then and are over. Served by delivery_attempts_by_time. */
export async function countRecentAttempts(
  db: Db,
  owner: OrganizationId,
  { since, endpointId }: { since: Date; endpointId?: EndpointId },
): Promise<RecentAttempts[]> {
  const { rows } = await sql<RecentAttempts>`
    select endpoint_id, count(*) filter (where result = 'delivered') as delivered,
      count(*) filter (where result <> 'delivered') as failed,
      max(started_at) filter (where result <> 'delivered') as last_failure_at
    from delivery_attempts
    where organization_id = ${owner} and started_at >= ${since} and result <> 'in_flight'
      and (${endpointId ?? null}::text is null or endpoint_id = ${endpointId ?? null})
    group by endpoint_id`.execute(db);
  return rows;
}

export type EndpointName = {
  id: EndpointId;
  kind: EndpointKind;
  url: string;
  description: string;
  removed_at: Date | null;
};

/** Removed ones too: the delivery log still names them. */
export async function listEndpointNames(db: Db, owner: OrganizationId): Promise<EndpointName[]> {
  return await db
    .selectFrom("endpoints")
    .select(["id", "kind", "url", "description", "removed_at"])
    .where("organization_id", "=", owner)
    .execute();
}
