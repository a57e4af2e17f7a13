import { sql } from "kysely";
import type { ReportPeriod } from "#contract/app/reports.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Db } from "../db/connections/pool.ts";

export async function listSubscribed(db: Db, owner: OrganizationId, userId: string): Promise<ReportPeriod[]> {
  const rows = await db
    .selectFrom("report_subscriptions")
    .select("period")
    .where("organization_id", "=", owner)
    .where("user_id", "=", userId)
    .execute();
  return rows.map(({ period }) => period);
}

/** Keeps an existing subscription as it is. */
export async function insertSubscription(
  db: Db,
  owner: OrganizationId,
  row: { userId: string; period: ReportPeriod; token: string; nextStart: string; now: Date },
): Promise<void> {
  await db
    .insertInto("report_subscriptions")
    .values({
      organization_id: owner,
      user_id: row.userId,
      period: row.period,
      token: row.token,
      next_start: row.nextStart,
      created_at: row.now,
    })
    .onConflict((conflict) => conflict.columns(["organization_id", "user_id", "period"]).doNothing())
    .execute();
}

export async function deleteSubscription(
  db: Db,
  owner: OrganizationId,
  { userId, period }: { userId: string; period: ReportPeriod },
): Promise<void> {
  await db
    .deleteFrom("report_subscriptions")
    .where("organization_id", "=", owner)
    .where("user_id", "=", userId)
    .where("period", "=", period)
    .execute();
}

export async function deleteByToken(db: Db, owner: OrganizationId, token: string): Promise<void> {
  await db.deleteFrom("report_subscriptions").where("organization_id", "=", owner).where("token", "=", token).execute();
}

export async function findByToken(db: Db, owner: OrganizationId, token: string): Promise<ReportPeriod | null> {
  const row = await db
    .selectFrom("report_subscriptions")
    .select("period")
    .where("organization_id", "=", owner)
    .where("token", "=", token)
    .executeTakeFirst();
  return row?.period ?? null;
}

/** Time zones of organizations with subscriptions, for the worker, which reads across organizations. */
export async function listZonesAcrossOrganizations(db: Db): Promise<string[]> {
  const { rows } = await sql<{ zone: string }>`
    select distinct coalesce(organization.time_zone, 'UTC') as zone
    from report_subscriptions subscription
    join organizations organization on organization.id = subscription.organization_id`.execute(db);
  return rows.map(({ zone }) => zone);
}

type DuePeriod = { zone: string; period: ReportPeriod; start: string };

export type DueReport = {
  organization_id: OrganizationId;
  organization_name: string;
  plan: Plan;
  time_zone: string | null;
  user_id: string;
  email: string;
  period: ReportPeriod;
  token: string;
  /** First day of the week or month to report. */
  start: string;
};

/** Reports across organizations that nobody has tried since `triedBefore`. Those of one organization follow each other. */
export async function listDueReportsAcrossOrganizations(
  db: Db,
  { due, triedBefore, limit }: { due: readonly DuePeriod[]; triedBefore: Date; limit: number },
): Promise<DueReport[]> {
  const { rows } = await sql<DueReport>`
    select subscription.organization_id, organization.name as organization_name, organization.plan, organization.time_zone, subscription.user_id,
      users.email, subscription.period, subscription.token, due.start::text as start
    from report_subscriptions subscription
    join organizations organization on organization.id = subscription.organization_id
    join users on users.id = subscription.user_id
    join unnest(${due.map(({ zone }) => zone)}::text[], ${due.map(({ period }) => period)}::text[],
      ${due.map(({ start }) => start)}::date[]) as due (zone, period, start)
      on due.zone = coalesce(organization.time_zone, 'UTC') and due.period = subscription.period
    where subscription.next_start <= due.start
      and (subscription.tried_at is null or subscription.tried_at < ${triedBefore})
    order by subscription.organization_id, subscription.period, subscription.user_id
    limit ${limit}`.execute(db);
  return rows;
}

type Subscription = Pick<DueReport, "user_id" | "period" | "start">;

function updateSubscription(db: Db, owner: OrganizationId, { user_id, period }: Omit<Subscription, "start">) {
  return db
    .updateTable("report_subscriptions")
    .where("organization_id", "=", owner)
    .where("user_id", "=", user_id)
    .where("period", "=", period);
}

/** True for one worker only: of two that try it at the same time, the second one waits and then finds it tried. */
export async function takeReport(
  db: Db,
  owner: OrganizationId,
  { user_id, period, start, now, triedBefore }: Subscription & { now: Date; triedBefore: Date },
): Promise<boolean> {
  const result = await updateSubscription(db, owner, { user_id, period })
    .set({ tried_at: now })
    .where("next_start", "<=", start)
    .where((where) => where.or([where("tried_at", "is", null), where("tried_at", "<", triedBefore)]))
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/**
 * Moves on to the next period. False if the subscription has ended, or if another worker considered this one dead and took over:
 * then nothing may be sent.
 */
export async function moveOn(
  db: Db,
  owner: OrganizationId,
  { user_id, period, start, takenAt, next }: Subscription & { takenAt: Date; next: string },
): Promise<boolean> {
  const result = await updateSubscription(db, owner, { user_id, period })
    .set({ next_start: next })
    .where("next_start", "<=", start)
    .where("tried_at", "=", takenAt)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** After a failure that is sure to have sent nothing, the report is due again. */
export async function moveBack(
  db: Db,
  owner: OrganizationId,
  { user_id, period, start, takenAt }: Subscription & { takenAt: Date },
): Promise<void> {
  await updateSubscription(db, owner, { user_id, period })
    .set({ next_start: start })
    .where("tried_at", "=", takenAt)
    .execute();
}

export type FailingEndpoint = {
  id: EndpointId;
  description: string;
  url: string;
  isOff: boolean;
  since: Date;
};

export async function listFailingEndpoints(db: Db, owner: OrganizationId): Promise<FailingEndpoint[]> {
  const { rows } = await sql<FailingEndpoint>`
    select id, description, url, status = 'disabled' as "isOff",
      case when status = 'disabled' then disabled_at else failing_since end as since
    from endpoints
    where organization_id = ${owner} and removed_at is null
      and (status = 'enabled' and failing_since is not null or disabled_reason in ('failing', 'gone'))
    order by since, id`.execute(db);
  return rows;
}

export async function wasLive(db: Db, owner: OrganizationId, { from, to }: { from: Date; to: Date }): Promise<boolean> {
  const { rows } = await sql<{ was_live: boolean }>`
    select exists (
      select from live_periods where organization_id = ${owner} and started_at < ${to}
        and (ended_at is null or ended_at > ${from})
    ) as was_live`.execute(db);
  return rows[0]?.was_live ?? false;
}
