import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppAnalytics, AppBreakdown, BookingTimes, FunnelSplit, LiveView } from "#contract/app/analytics.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { memberOf } from "../../accounts/accounts.ts";
import type { Deps } from "../../deps.ts";
import type { CsvExports } from "../../http/csv-exports.ts";
import { type Query, readChoice } from "../../http/parameters.ts";
import { toShownKey } from "../record/key-id.ts";
import { answerQuestion, readQuestion, readReport } from "./app-report.ts";
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

type AnalyticsDeps = Pick<Deps, "db" | "patientDb" | "clock">;

/** More funnels do not fit side by side. */
const SPLIT_GROUPS_MAX = 4;

export function analyticsAppRoutes(api: FastifyInstance, deps: AnalyticsDeps, csv: CsvExports): void {
  const { db, clock } = deps;

  api.get("/analytics", { schema: { response: { 200: AppAnalytics } } }, async (request) => {
    return await readReport(deps, readerOf(request), request.query as Query);
  });

  api.get("/analytics.csv", async (request, reply) => sendFile({ ...deps, csv }, request, reply));

  api.get("/analytics/breakdown", { schema: { response: { 200: AppBreakdown } } }, async (request) => {
    const query = request.query as Query;
    return await readAppBreakdown(db, await readQuestion(deps, readerOf(request), query), query);
  });

  api.get("/analytics/split", { schema: { response: { 200: FunnelSplit } } }, async (request) => {
    const query = request.query as Query;
    const dimension = readDimension(query, "channel");
    const question = await readQuestion(deps, readerOf(request), query);
    return { groups: await readSplit(db, question, { dimension, groupsMax: SPLIT_GROUPS_MAX }) };
  });

  api.get("/analytics/times", { schema: { response: { 200: BookingTimes } } }, async (request) => {
    return await readTimes(db, await readQuestion(deps, readerOf(request), request.query as Query));
  });

  api.get("/analytics/live", { schema: { response: { 200: LiveView } } }, async (request) => {
    return await readLiveView(db, memberOf(request).organizationId, clock.now());
  });
}

function readerOf(request: FastifyRequest) {
  return { ...memberOf(request), signal: request.signal };
}

async function sendFile(
  deps: AnalyticsDeps & { readonly csv: CsvExports },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = request.query as Query;
  const table = readChoice(query, "table", ANALYTICS_TABLES) ?? "daily";
  const asked = readAskedList(query);
  const question = await readQuestion(deps, readerOf(request), query);
  const { owner, window } = question;
  const fileName = `${table === "breakdown" ? asked.dimension : table}-${window.from}-${window.to}`;
  const prepare = async () => ({
    fileName,
    lines:
      table === "breakdown"
        ? exportBreakdown(asked.dimension, await readBreakdownFile(deps.patientDb, question, asked))
        : exportAnalytics(await answerQuestion(deps, question, null), table),
  });
  return await deps.csv.send({ request, reply }, { owner, prepare });
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
