import { sql } from "kysely";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table } from "../../db/home.ts";
import { isDue } from "../../db/statements/is-due.ts";

export type DueConnection = {
  owner: OrganizationId;
  id: ConnectionId;
  follows: boolean;
  subscriptionId: string | null;
  /** Until then, no other worker claims the connection. */
  leaseUntil: Date;
};

/** Claims connections whose subscription must be created, checked or removed. */
export async function claimDueSubscriptionsAcrossOrganizations(
  home: Db,
  { leaseUntil, limit, ...time }: { now: Date; longestMs: number; leaseUntil: Date; limit: number },
): Promise<DueConnection[]> {
  const isDueNow = isDue("subscription_due_at", time);
  const { rows: found } = await sql<{ owner: OrganizationId; id: ConnectionId }>`
    select organization_id as owner, id from ${table("scheduling_connections")}
    where ${isDueNow} order by subscription_due_at limit ${limit}`.execute(home);
  const claimed: DueConnection[] = [];
  for (const { owner, id } of found) {
    const { rows } = await sql<DueConnection>`
      update ${table("scheduling_connections")} set subscription_due_at = ${leaseUntil}
      where organization_id = ${owner} and id = ${id} and ${isDueNow}
      returning organization_id as owner, id, follows_changes as follows, subscription_id as "subscriptionId",
        subscription_due_at as "leaseUntil"`.execute(home);
    claimed.push(...rows);
  }
  return claimed;
}

/** Columns that are left out stay as they are. */
type SubscriptionChange = {
  readonly subscription_id?: string | null;
  readonly subscription_secret?: Buffer | null;
  readonly subscription_due_at: Date | null;
  readonly changes_due_at?: Date;
};

/** Changes nothing and returns false if the connection was changed or deleted after it was claimed. */
export async function settleSubscription(
  db: Db,
  { owner, id, leaseUntil }: DueConnection,
  change: SubscriptionChange,
): Promise<boolean> {
  const rows = await db
    .updateTable("scheduling_connections")
    .set(change)
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .where("subscription_due_at", "=", leaseUntil)
    .returning("id")
    .execute();
  return rows.length === 1;
}

/** Null unless the connection follows changes and its system sends notices. */
export async function findSubscriptionSecret(
  db: Db,
  owner: OrganizationId,
  id: ConnectionId,
): Promise<{ kind: ConnectionKind; sealed: Buffer } | null> {
  const row = await db
    .selectFrom("scheduling_connections")
    .select(["kind", "subscription_secret as sealed"])
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .where("follows_changes", "=", true)
    .executeTakeFirst();
  return row?.sealed ? { kind: row.kind, sealed: row.sealed } : null;
}
