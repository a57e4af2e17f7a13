import { type Selectable, sql } from "kysely";
import type { MemberRole } from "#contract/app/role.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { NoticeKind } from "#contract/webhooks/delivery.ts";
import type { Db } from "../../db/connections/pool.ts";
import { table, writeAtHome } from "../../db/home.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { EndpointNoticesTable, EndpointsTable } from "../../db/tables/webhook-tables.ts";
import { writeLane } from "../queue/lanes.ts";
import type { EndpointHealth } from "../queue/report-queries.ts";

export type RecentAttempts = {
  endpoint_id: EndpointId;
  delivered: number;
  failed: number;
  last_failure_at: Date | null;
};

/** Counts the finished attempts of each endpoint, or of one, since then. Uses delivery_attempts_by_time. */
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
    where organization_id = ${owner} and started_at >= ${since}
      and (${endpointId ?? null}::text is null or endpoint_id = ${endpointId ?? null})
    group by endpoint_id`.execute(db);
  return rows;
}

type FailingEndpoint = Pick<EndpointHealth, "endpoint_id" | "failing_since">;

export type SwitchedOff = Pick<Selectable<EndpointsTable>, "id" | "organization_id" | "url" | "description">;
/** Runs in the transaction that turns the endpoint off. */
export type AuditSwitchOff = (transaction: Db, endpoint: SwitchedOff) => Promise<void>;

/** Returns false if the endpoint is already off, removed, recovered or changed. */
export async function switchOffFailing(
  db: Db,
  owner: OrganizationId,
  { endpoint_id: id, failing_since }: FailingEndpoint,
  { now, audit }: { now: Date; audit: AuditSwitchOff },
): Promise<boolean> {
  return await inTransaction(db, async (transaction) => {
    const endpoint = await transaction
      .updateTable("endpoints")
      .set({ status: "disabled", disabled_reason: "failing", disabled_at: now, updated_at: now })
      .where("organization_id", "=", owner)
      .where("id", "=", id)
      .where("status", "=", "enabled")
      .where("failing_since", "=", failing_since)
      .where("removed_at", "is", null)
      .returning([
        "id",
        "organization_id",
        "url",
        "description",
        "kind",
        "status",
        "failed_attempts",
        "is_answering",
        "paused_until",
        "requests_per_minute",
      ])
      .executeTakeFirst();
    if (!endpoint) return false;
    await writeLane(transaction, endpoint);
    await audit(transaction, endpoint);
    return true;
  });
}

export async function findSwitchedOff(db: Db, owner: OrganizationId, id: EndpointId): Promise<SwitchedOff> {
  return await db
    .selectFrom("endpoints")
    .select(["id", "organization_id", "url", "description"])
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}

/**
 * Inserts a notice unless one of this kind exists since `notSince`. Returns when that earlier one was created, or null if
 * this one was inserted. Locks the endpoint's row, so two workers cannot insert the same notice.
 */
export async function insertNotice(
  db: Db,
  owner: OrganizationId,
  notice: { id: string; endpointId: EndpointId; kind: NoticeKind; detail: string; now: Date; notSince: Date },
): Promise<Date | null> {
  const { id, endpointId, kind, detail, now, notSince } = notice;
  return await inTransaction(db, async (transaction) => {
    await transaction
      .selectFrom("endpoints")
      .select("id")
      .where("organization_id", "=", owner)
      .where("id", "=", endpointId)
      .forNoKeyUpdate()
      .execute();
    const told = await transaction
      .selectFrom("endpoint_notices")
      .select("created_at")
      .where("organization_id", "=", owner)
      .where("endpoint_id", "=", endpointId)
      .where("kind", "=", kind)
      .where("created_at", ">", notSince)
      .orderBy("created_at", "desc")
      .executeTakeFirst();
    if (told) return told.created_at;
    await transaction
      .insertInto("endpoint_notices")
      .values({ organization_id: owner, id, endpoint_id: endpointId, kind, detail, created_at: now })
      .execute();
    return null;
  });
}

/** When the owner was first warned, during this failure, that the endpoint will be turned off. */
export async function findWarning(
  db: Db,
  owner: OrganizationId,
  { endpoint_id: endpointId, failing_since: since }: FailingEndpoint,
): Promise<Date | null> {
  const row = await db
    .selectFrom("endpoint_notices")
    .select("created_at")
    .where("organization_id", "=", owner)
    .where("endpoint_id", "=", endpointId)
    .where("kind", "=", "disabling_soon")
    .where("created_at", ">=", since)
    .orderBy("created_at")
    .executeTakeFirst();
  return row?.created_at ?? null;
}

export type NoticeRow = Selectable<EndpointNoticesTable>;

/** Notices of every endpoint in use, or of one, newest first. */
export async function listNotices(
  db: Db,
  owner: OrganizationId,
  { endpointId, limitEach }: { endpointId?: EndpointId; limitEach: number },
): Promise<NoticeRow[]> {
  const one = endpointId ?? null;
  const { rows } = await sql<NoticeRow>`
    select notice.organization_id, notice.id, notice.endpoint_id, notice.kind, notice.detail, notice.created_at
    from endpoints endpoint cross join lateral (
      select organization_id, id, endpoint_id, kind, detail, created_at from endpoint_notices
      where organization_id = endpoint.organization_id and endpoint_id = endpoint.id
      order by created_at desc, id limit ${limitEach}
    ) notice
    where endpoint.organization_id = ${owner} and endpoint.removed_at is null
      and (${one}::text is null or endpoint.id = ${one})
    order by notice.created_at desc, notice.id`.execute(db);
  return rows;
}

export type UnmailedNotice = {
  organization_id: OrganizationId;
  organization_name: string;
  id: string;
  endpoint_id: EndpointId;
  description: string;
  url: string;
  kind: NoticeKind;
  detail: string;
};

/**
 * A shard group's notices, without those of deleted endpoints. A notice that is taken is not taken again until `triedBefore` has passed
 * it: of two workers that find the same notice, the second one waits for the first and then no longer finds it untried.
 */
export async function takeUnmailedAcrossOrganizations(
  home: Db,
  unmailed: { now: Date; createdSince: Date; triedBefore: Date; limit: number },
): Promise<UnmailedNotice[]> {
  const isUntried = sql`notice.mailed_at is null
    and (notice.mail_tried_at is null or notice.mail_tried_at < ${unmailed.triedBefore})`;
  const { rows } = await sql<UnmailedNotice>`
    update ${table("endpoint_notices", "notice")} set mail_tried_at = ${unmailed.now}
    from (
      select notice.organization_id, notice.id, organization.name as organization_name, endpoint.description, endpoint.url
      from ${table("endpoint_notices", "notice")}
      join ${table("organizations", "organization")} on organization.id = notice.organization_id
      join ${table("endpoints", "endpoint")}
        on endpoint.organization_id = notice.organization_id and endpoint.id = notice.endpoint_id
      where ${isUntried} and notice.created_at >= ${unmailed.createdSince} and endpoint.removed_at is null
      order by notice.created_at limit ${unmailed.limit}
    ) untried
    where notice.organization_id = untried.organization_id and notice.id = untried.id and ${isUntried}
    returning notice.organization_id, untried.organization_name, notice.id, notice.endpoint_id, untried.description, untried.url,
      notice.kind, notice.detail`.execute(home);
  return rows;
}

export async function markMailed(db: Db, owner: OrganizationId, id: string, at: Date): Promise<void> {
  await writeAtHome(db, owner, (home) => {
    const notice = home.updateTable("endpoint_notices").set({ mailed_at: at });
    return notice.where("organization_id", "=", owner).where("id", "=", id).execute();
  });
}

export async function listAddresses(db: Db, owner: OrganizationId, roles: readonly MemberRole[]): Promise<string[]> {
  const members = db.selectFrom("members").innerJoin("users", "users.id", "members.user_id");
  const rows = await members
    .select("users.email")
    .where("members.organization_id", "=", owner)
    .where("members.role", "in", roles)
    .orderBy("users.email")
    .execute();
  return rows.map(({ email }) => email);
}
