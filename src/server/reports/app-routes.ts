import { REPORT_PERIODS, type ReportSubscriptions } from "#contract/app/reports.ts";
import { BASE62 } from "#contract/ids.ts";
import type { HttpRoutes, Member } from "../accounts/accounts.ts";
import type { Deps } from "../deps.ts";
import { randomText } from "../lib/secrets/random.ts";
import type { Mail } from "../mail/mail.ts";
import { findOrganization } from "../organizations/organizations.ts";
import { findDueStart, nextStart } from "./due-periods.ts";
import { deleteSubscription, insertSubscription, listSubscribed } from "./queries.ts";

type ReportRouteDeps = Pick<Deps, "db" | "clock" | "random"> & { readonly mail: Mail };

const TOKEN_LENGTH = 43;

export function reportAppRoutes(routes: HttpRoutes, deps: ReportRouteDeps): void {
  routes.add("getReports", async ({ member }) => await readSubscriptions(deps, member));

  routes.add("changeReports", async ({ member, body }) => {
    for (const period of REPORT_PERIODS) {
      if (body[period] === true) await subscribe(deps, member, period);
      if (body[period] === false) await deleteSubscription(deps.db, member.organizationId, { ...member, period });
    }
    return await readSubscriptions(deps, member);
  });
}

/** The first report is the next one that becomes due. So someone who subscribes again on the same day gets no second copy. */
async function subscribe(
  { db, clock, random }: ReportRouteDeps,
  { organizationId, userId }: Member,
  period: (typeof REPORT_PERIODS)[number],
): Promise<void> {
  const now = clock.now();
  const zone = (await findOrganization(db, organizationId))?.time_zone ?? "UTC";
  await insertSubscription(db, organizationId, {
    userId,
    period,
    token: randomText(random, BASE62, TOKEN_LENGTH),
    nextStart: nextStart(period, findDueStart(period, zone, now)),
    now,
  });
}

async function readSubscriptions(
  { db, mail }: Pick<ReportRouteDeps, "db" | "mail">,
  { organizationId, userId }: Member,
): Promise<ReportSubscriptions> {
  const periods = await listSubscribed(db, organizationId, userId);
  return { weekly: periods.includes("weekly"), monthly: periods.includes("monthly"), isMailOn: mail.isOn };
}
