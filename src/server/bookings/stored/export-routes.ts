import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AD_PLATFORMS, CONVERSION_NAME_DEFAULTS, CONVERSION_NAME_LENGTH_MAX } from "#contract/app/ad-exports.ts";
import type { WidgetId } from "#contract/ids.ts";
import { memberOf } from "../../accounts/accounts.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Deps } from "../../deps.ts";
import { checkLine } from "../../http/check-fields.ts";
import type { CsvExports } from "../../http/csv-exports.ts";
import { badParameter, type Query, readChoice, readParameter } from "../../http/parameters.ts";
import { exportForAds } from "./ad-export.ts";
import { readerOf, readFilter } from "./app-filter.ts";
import type { AppBookingFilter } from "./app-queries.ts";
import { exportBookings } from "./export.ts";

type ExportDeps = Pick<Deps, "db" | "patientDb" | "clock" | "random">;

/** Files of stored bookings. contract/app/routes.ts has their role and plan. */
export function bookingExportRoutes(api: FastifyInstance, deps: ExportDeps, csv: CsvExports): void {
  // Not for HEAD: the audit log would show an export that never happened.
  api.get("/bookings.csv", { exposeHeadRoute: false }, async (request, reply) => {
    return await sendExport({ ...deps, csv }, { request, reply }, await readExport(deps, request));
  });
  api.get("/ad-conversions.csv", { exposeHeadRoute: false }, async (request, reply) => {
    return await sendExport({ ...deps, csv }, { request, reply }, await readAdExport(deps, request));
  });
}

type ExportFile = {
  name: string;
  filter: Omit<AppBookingFilter, "limit">;
  detail: Record<string, string>;
  lines: (widgetNames: ReadonlyMap<WidgetId, string>) => AsyncGenerator<string>;
};

async function readExport(deps: ExportDeps, request: FastifyRequest): Promise<ExportFile> {
  const member = memberOf(request);
  const filter = await readFilter(deps, member, request.query as Query);
  return {
    name: "bookings",
    filter,
    detail: {},
    lines: (widgetNames) => exportBookings(deps.patientDb, member.organizationId, { filter, widgetNames }),
  };
}

async function readAdExport(deps: ExportDeps, request: FastifyRequest): Promise<ExportFile> {
  const member = memberOf(request);
  const query = request.query as Query;
  const platform = readChoice(query, "platform", AD_PLATFORMS) ?? "google";
  const name = checkLine(readParameter(query, "conversionName") ?? CONVERSION_NAME_DEFAULTS[platform], {
    lengthMax: CONVERSION_NAME_LENGTH_MAX,
  });
  if ("fault" in name) throw badParameter("conversionName", `must have 1 to ${CONVERSION_NAME_LENGTH_MAX} characters`);
  const filter = await readFilter(deps, member, query);
  const wanted = { filter, platform, conversionName: name.value, now: deps.clock.now() };
  return {
    name: platform === "google-retractions" ? platform : `${platform}-conversions`,
    filter,
    detail: { platform },
    lines: () => exportForAds(deps.patientDb, member.organizationId, wanted),
  };
}

async function sendExport(
  deps: ExportDeps & { readonly csv: CsvExports },
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { name, filter, detail, lines }: ExportFile,
): Promise<FastifyReply> {
  const member = memberOf(request);
  const now = deps.clock.now();
  const prepare = async () => {
    const { widgetNames } = await readerOf(deps.db, member);
    // The search text is not logged: it may be a customer's name.
    await auditBy(
      deps,
      member,
      now,
    )(deps.db, {
      action: "bookings.exported",
      ...(filter.widgetId === null ? {} : { target: filter.widgetId, name: widgetNames.get(filter.widgetId) }),
      detail: { ...detail, isSearch: filter.search === null ? "no" : "yes" },
    });
    return { fileName: `${name}-${now.toISOString().slice(0, 10)}`, lines: lines(widgetNames) };
  };
  return await deps.csv.send({ request, reply }, { owner: member.organizationId, prepare });
}
