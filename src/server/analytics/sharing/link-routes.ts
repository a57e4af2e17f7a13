import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import type { ReportLink } from "#contract/app/analytics.ts";
import { BASE62, parseReportLinkId, REPORT_LINK_ID, type ReportLinkId } from "#contract/ids.ts";
import { REPORT_LINK_NAME_LENGTH_MAX } from "#contract/limits.ts";
import type { Routes } from "../../accounts/accounts.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { makeOnce } from "../../db/statements/make-once.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, notFound } from "../../http/errors/api-error.ts";
import { checkLine, requireFields } from "../../http/errors/check-fields.ts";
import { chooseId } from "../../http/idempotency-key.ts";
import { assert } from "../../lib/assert.ts";
import { randomText } from "../../lib/secrets/random.ts";
import { countLocked, describeCap } from "../../organizations/organizations.ts";
import { readSelection } from "../report/app-report.ts";
import { readComparison } from "../report/app-window.ts";
import { deleteReportLink, insertReportLink, listReportLinks, type ReportLinkRow } from "./link-queries.ts";
import { parseQuery, toReportQuery } from "./saved-query.ts";

const REPORT_LINKS_MAX = 100;
/** 256 bits. */
const TOKEN_LENGTH = 43;

/** What members share, and with whom it ends. shared-report-routes.ts serves the reports. */
export function reportLinkRoutes(routes: Routes, deps: Pick<Deps, "db" | "clock" | "random" | "config">): void {
  const toLink = ({ id, name, query, token, created_by, created_at }: ReportLinkRow): ReportLink => ({
    id,
    name,
    query,
    url: `${deps.config.baseUrl}${ENTRY_PAGES.sharedReport}#${token}`,
    createdBy: created_by,
    createdAt: created_at.toISOString(),
  });

  routes.add("listReportLinks", async ({ member }) => ({
    data: (await listReportLinks(deps.db, member.organizationId)).map(toLink),
  }));

  routes.add("createReportLink", async ({ member, body, request }) => {
    const owner = member.organizationId;
    const now = deps.clock.now();
    const { name } = requireFields({ name: checkLine(body.name, { lengthMax: REPORT_LINK_NAME_LENGTH_MAX }) });
    const query = toReportQuery(body.query);
    const { window } = await readSelection(deps, member, parseQuery(query));
    readComparison(parseQuery(query), window);
    const id = chooseId<ReportLinkId>(deps, request, { owner, form: REPORT_LINK_ID });
    const token = randomText(deps.random, BASE62, TOKEN_LENGTH);
    const row = { organization_id: owner, id, name, query, token, created_by: member.email, created_at: now };
    const make = async (transaction: Db) => {
      await insertReportLink(transaction, row);
      if ((await countLocked(transaction, owner, "report_links")) > REPORT_LINKS_MAX)
        throw new ApiError("conflict", describeCap("report_links", REPORT_LINKS_MAX));
      await auditBy(
        deps,
        member,
        now,
      )(transaction, {
        action: "report_link.created",
        target: id,
        name,
        detail: { report: query },
      });
    };
    await makeOnce(() => inTransaction(deps.db, make));
    const made = (await listReportLinks(deps.db, owner)).find((each) => each.id === id);
    assert(made, "the link was just created");
    return toLink(made);
  });

  routes.add("revokeReportLink", async ({ member, params }) => {
    const id = parseReportLinkId(params.link);
    if (id === null) throw notFound("Link");
    await inTransaction(deps.db, async (transaction) => {
      const name = await deleteReportLink(transaction, member.organizationId, id);
      if (name === null) throw notFound("Link");
      await auditBy(deps, member, deps.clock.now())(transaction, { action: "report_link.revoked", target: id, name });
    });
    return null;
  });
}
