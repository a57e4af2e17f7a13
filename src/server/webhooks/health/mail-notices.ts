import { sql } from "kysely";
import type { MemberRole } from "#contract/app/role.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import type { NoticeKind } from "#contract/webhooks/delivery.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atEveryHome, table, writeAtHome } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import type { Mail } from "../../mail/mail.ts";
import { toEndpointName } from "../endpoints/to-app-endpoint.ts";

const BATCH = 20;
/** Longer than a batch takes with the slowest mail server. */
const TRY_AGAIN_MS = 30 * MINUTE_MS;
/** Notices older than a day are stale; they stay visible in the dashboard. */
const FRESH_MS = DAY_MS;

const NOTIFIED_ROLES: readonly MemberRole[] = ["owner", "admin"];

const SUBJECTS: Readonly<Record<NoticeKind, string>> = {
  exhausted: "A webhook delivery failed",
  disabling_soon: "Action needed: a webhook endpoint will be turned off",
  disabled: "A webhook endpoint was turned off",
};

type NoticeMailDeps = Pick<Deps, "db" | "clock" | "config"> & { readonly mail: Mail };

/** Background task: emails owners and admins about failing endpoints. Needs a mail server. */
export async function mailNotices(deps: NoticeMailDeps, signal: AbortSignal): Promise<void> {
  if (!deps.mail.isOn) return;
  const now = deps.clock.now();
  await atEveryHome(deps.db, async ({ writer }) => {
    const notices = await takeUnmailed(writer, {
      now,
      createdSince: new Date(now.getTime() - FRESH_MS),
      triedBefore: new Date(now.getTime() - TRY_AGAIN_MS),
      limit: BATCH,
    });
    for (const notice of notices) {
      if (signal.aborted) return;
      if (await mailOne(deps, notice)) await markMailed(deps.db, notice.organization_id, notice.id, deps.clock.now());
    }
  });
}

/** True if anybody received it, so that one full mailbox does not repeat the email for the others. */
async function mailOne({ db, config, mail: mailServer }: NoticeMailDeps, notice: UnmailedNotice): Promise<boolean> {
  const { organization_id: owner, endpoint_id: endpointId } = notice;
  const addresses = await listAddresses(db, owner, NOTIFIED_ROLES);
  const mail = {
    subject: `${SUBJECTS[notice.kind]} (${notice.organization_name})`,
    text: `This is about the endpoint “${toEndpointName(notice)}” of ${notice.organization_name}. ${notice.detail}`,
    action: "See its failed deliveries",
    link: `${config.baseUrl}/app/${owner}/webhooks/${endpointId}`,
  };
  const outcomes = await Promise.all(addresses.map((to) => mailServer.send({ to, ...mail })));
  return addresses.length === 0 || outcomes.includes(true);
}

type UnmailedNotice = {
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
async function takeUnmailed(
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

async function markMailed(db: Db, owner: OrganizationId, id: string, at: Date): Promise<void> {
  await writeAtHome(db, owner, (home) => {
    const notice = home.updateTable("endpoint_notices").set({ mailed_at: at });
    return notice.where("organization_id", "=", owner).where("id", "=", id).execute();
  });
}

async function listAddresses(db: Db, owner: OrganizationId, roles: readonly MemberRole[]): Promise<string[]> {
  const members = db.selectFrom("members").innerJoin("users", "users.id", "members.user_id");
  const rows = await members
    .select("users.email")
    .where("members.organization_id", "=", owner)
    .where("members.role", "in", roles)
    .orderBy("users.email")
    .execute();
  return rows.map(({ email }) => email);
}
