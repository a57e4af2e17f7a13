import type { MemberRole } from "#contract/app/role.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { NoticeKind } from "#contract/webhooks/delivery.ts";
import { atEveryHome } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import type { LinkMail, Mail } from "../../mail/mail.ts";
import { toEndpointName } from "../endpoints/to-app-endpoint.ts";
import { listAddresses, markMailed, takeUnmailedAcrossOrganizations, type UnmailedNotice } from "./queries.ts";

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
    const notices = await takeUnmailedAcrossOrganizations(writer, {
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
  const mail: Omit<LinkMail, "to"> = {
    purpose: { mail: "endpoint notice", organizationId: owner, endpointId },
    subject: `${SUBJECTS[notice.kind]} (${notice.organization_name})`,
    text: `This is about the endpoint “${toEndpointName(notice)}” of ${notice.organization_name}. ${notice.detail}`,
    action: "See its failed deliveries",
    link: `${config.baseUrl}/app/${owner}/webhooks/${endpointId}`,
  };
  const outcomes = await Promise.all(addresses.map((to) => mailServer.send({ to, ...mail })));
  return addresses.length === 0 || outcomes.includes(true);
}
