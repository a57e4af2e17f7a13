import type { FastifyRequest } from "fastify";
import type { LiveView } from "#contract/app/analytics.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { HttpRoutes, Member } from "../../accounts/accounts.ts";
import type { Deps } from "../../deps.ts";
import type { CsvExports } from "../../http/csv-exports.ts";
import { type Query, readChoice } from "../../http/parameters.ts";
import { toShownKey } from "../record/key-id.ts";
import { makeReport, readReport, readSelection } from "./app-report.ts";
import {
  readAppBreakdown,
  readAskedList,
  readBreakdownFile,
  readDimension,
  readSplit,
  readTimes,
} from "./breakdown/breakdown.ts";
import { ANALYTICS_TABLES, exportAnalytics, exportBreakdown } from "./export.ts";
import { countLiveVisits, listLiveBookings } from "./live-queries.ts";

type AnalyticsDeps = Pick<Deps, "db" | "longRunningDb" | "clock">;

/** More funnels do not fit side by side. */
const SPLIT_GROUPS_MAX = 4;

export function analyticsAppRoutes(routes: HttpRoutes, deps: AnalyticsDeps, csv: CsvExports): void {
  const { db, clock } = deps;
  const ask = (member: Member, query: Query, { signal }: FastifyRequest) =>
    readSelection(deps, { ...member, signal }, query);

  routes.add("getAnalytics", async ({ member, query, request: { signal } }) => {
    return await readReport(deps, { ...member, signal }, query);
  });

  routes.add("getBreakdown", async ({ member, query, request }) => {
    return await readAppBreakdown(db, await ask(member, query, request), query);
  });

  routes.add("splitFunnel", async ({ member, query, request }) => {
    const dimension = readDimension(query, "channel");
    const selection = await ask(member, query, request);
    return { groups: await readSplit(db, selection, { dimension, groupsMax: SPLIT_GROUPS_MAX }) };
  });

  routes.add("getBookingTimes", async ({ member, query, request }) => {
    return await readTimes(db, await ask(member, query, request));
  });

  routes.add("getLiveView", async ({ member }) => await readLiveView(db, member.organizationId, clock.now()));

  routes.add("exportAnalytics", async ({ member, query, request, reply }) => {
    const table = readChoice(query, "table", ANALYTICS_TABLES) ?? "daily";
    const asked = readAskedList(query);
    const selection = await ask(member, query, request);
    const { owner, window } = selection;
    const fileName = `${table === "breakdown" ? asked.dimension : table}-${window.from}-${window.to}`;
    const prepare = async () => ({
      fileName,
      lines:
        table === "breakdown"
          ? exportBreakdown(asked.dimension, await readBreakdownFile(deps.longRunningDb, selection, asked))
          : exportAnalytics(await makeReport(deps, selection, null), table),
    });
    return await csv.send({ request, reply }, { owner, prepare });
  });
}

async function readLiveView(db: Deps["db"], owner: OrganizationId, now: Date): Promise<LiveView> {
  const { visits_5, visits_60 } = await countLiveVisits(db, owner, now);
  const bookings = await listLiveBookings(db, owner, now);
  return {
    visits5Minutes: visits_5,
    visits60Minutes: visits_60,
    bookings60Minutes: bookings[0]?.count ?? 0,
    bookings: bookings.map(({ id, at_ms, widget_id, service, channel, country, device }) => ({
      id,
      at: new Date(at_ms).toISOString(),
      widget: widget_id,
      service,
      channel,
      country: toShownKey(country),
      device: toShownKey(device),
    })),
  };
}
