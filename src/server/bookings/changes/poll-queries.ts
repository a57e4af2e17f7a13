import { sql } from "kysely";
import { BOOKING_STATUS_CANCELLED } from "#contract/bookings/booking.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { isDue } from "../../db/statements/is-due.ts";
import type { KnownAppointment } from "../../scheduler/scheduler.ts";
import { isOfFormerAccount } from "./check-queries.ts";

export type FollowedConnection = {
  organizationId: OrganizationId;
  id: ConnectionId;
  since: Date;
  dueAt: Date;
  /** Has a subscription to notices. */
  getsNotices: boolean;
};

/** Connections of one kind that are due. Another process gets each of them when it is due again. */
export async function claimFollowedAcrossOrganizations(
  home: Db,
  claim: { kind: ConnectionKind; now: Date; dueAgainAt: Date; longestMs: number; limit: number },
): Promise<FollowedConnection[]> {
  const { kind, dueAgainAt, limit } = claim;
  const isFollowedAndDue = sql`follows_changes and ${isDue("changes_due_at", claim)}`;
  const { rows: found } = await sql<Pick<FollowedConnection, "organizationId" | "id">>`
    select organization_id as "organizationId", id from ${table("scheduling_connections")}
    where kind = ${kind} and ${isFollowedAndDue}
    order by changes_due_at limit ${limit}`.execute(home);
  const claimed: FollowedConnection[] = [];
  for (const { organizationId, id } of found) {
    const { rows } = await sql<FollowedConnection>`
      update ${table("scheduling_connections")} set changes_due_at = ${dueAgainAt}
      where organization_id = ${organizationId} and id = ${id} and ${isFollowedAndDue}
      returning organization_id as "organizationId", id, coalesce(changes_since, created_at) as since,
        changes_due_at as "dueAt", subscription_id is not null as "getsNotices"`.execute(home);
    claimed.push(...rows);
  }
  return claimed;
}

/** Appointments that the connection made and that are not over, the next ones first. */
export async function listKnown(
  db: Db,
  owner: OrganizationId,
  { id, startFrom, limit }: { id: ConnectionId; startFrom: Date; limit: number },
): Promise<KnownAppointment[]> {
  const { rows } = await sql<KnownAppointment>`
    select external_id as "externalId", start_at as "startAt", end_at as "endAt",
      status = ${BOOKING_STATUS_CANCELLED} as "isCancelled"
    from bookings
    where organization_id = ${owner} and start_at >= ${startFrom} and asked_in = ${id} and external_id is not null
      and not ${isOfFormerAccount}
    order by start_at, reference limit ${limit}`.execute(db);
  return rows;
}

/** If the connection became due meanwhile, it stays due. */
export async function notePolled(
  db: Db,
  { organizationId: owner, id, dueAt }: FollowedConnection,
  { until, dueAgainAt }: { until: Date | null; dueAgainAt: Date },
): Promise<void> {
  await sql`
    update scheduling_connections set changes_since = greatest(changes_since, ${until}::timestamptz),
      changes_due_at = case when changes_due_at = ${dueAt} then ${dueAgainAt} else changes_due_at end
    where organization_id = ${owner} and id = ${id}`.execute(db);
}
