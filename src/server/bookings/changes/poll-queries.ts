import { sql } from "kysely";
import { BOOKING_STATUS_CANCELLED } from "#contract/booking.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import type { KnownAppointment } from "../../scheduler/scheduler.ts";
import { isOfFormerAccount } from "./check-queries.ts";

export type FollowedConnection = { organizationId: OrganizationId; id: ConnectionId; since: Date };

type Polled = { kind: ConnectionKind; getsNotices: boolean };

/** Across all organizations: connections that are due. Another process gets each of them when it is due the next time. */
export async function claimFollowed(
  home: Db,
  { now, toEveryMs, limit }: { now: Date; toEveryMs: (connection: Polled) => number; limit: number },
): Promise<FollowedConnection[]> {
  const { rows: found } = await sql<Polled & Pick<FollowedConnection, "organizationId" | "id">>`
    select organization_id as "organizationId", id, kind, subscription_id is not null as "getsNotices"
    from ${table("scheduling_connections")}
    where follows_changes and changes_due_at <= ${now} order by changes_due_at limit ${limit}`.execute(home);
  const claimed: FollowedConnection[] = [];
  for (const { organizationId, id, ...polled } of found) {
    const { rows } = await sql<FollowedConnection>`
      update ${table("scheduling_connections")} set changes_due_at = ${new Date(now.getTime() + toEveryMs(polled))}
      where organization_id = ${organizationId} and id = ${id} and follows_changes and changes_due_at <= ${now}
      returning organization_id as "organizationId", id, coalesce(changes_since, created_at) as since`.execute(home);
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

export async function noteSeen(
  db: Db,
  owner: OrganizationId,
  { id, until }: { id: ConnectionId; until: Date },
): Promise<void> {
  await sql`
    update scheduling_connections set changes_since = greatest(changes_since, ${until})
    where organization_id = ${owner} and id = ${id}`.execute(db);
}
