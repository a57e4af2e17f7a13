import type { FastifyReply, FastifyRequest } from "fastify";
import { AD_PLATFORMS, CONVERSION_NAME_DEFAULTS, CONVERSION_NAME_LENGTH_MAX } from "#contract/app/ad-exports.ts";
import type { WidgetId } from "#contract/ids.ts";
import type { HttpRoutes, Member } from "../../../accounts/accounts.ts";
import { auditBy } from "../../../audit/audit.ts";
import type { Deps } from "../../../deps.ts";
import type { CsvExports } from "../../../http/csv-exports.ts";
import { checkLine } from "../../../http/errors/check-fields.ts";
import { badParameter, type Query, readChoice, readParameter } from "../../../http/parameters.ts";
import { readerOf, readFilter } from "../list/app-filter.ts";
import type { AppBookingFilter } from "../list/app-queries.ts";
import { exportForAds } from "./ad-export.ts";
import { exportBookings } from "./export.ts";

type ExportDeps = Pick<Deps, "db" | "longRunningDb" | "clock" | "random">;

/** Files of stored bookings. */
export function bookingExportRoutes(routes: HttpRoutes, deps: ExportDeps, csv: CsvExports): void {
  routes.add("exportBookings", async ({ member, query, ...http }) => {
    return await sendExport({ ...deps, csv }, { ...http, member }, await readExport(deps, member, query));
  });
  routes.add("exportAdConversions", async ({ member, query, ...http }) => {
    return await sendExport({ ...deps, csv }, { ...http, member }, await readAdExport(deps, member, query));
  });
}

type ExportFile = {
  name: string;
  filter: Omit<AppBookingFilter, "limit">;
  detail: Record<string, string>;
  lines: (widgetNames: ReadonlyMap<WidgetId, string>) => AsyncGenerator<string>;
};

async function readExport(deps: ExportDeps, member: Member, query: Query): Promise<ExportFile> {
  const filter = await readFilter(deps, member, query);
  return {
    name: "bookings",
    filter,
    detail: {},
    lines: (widgetNames) => exportBookings(deps.longRunningDb, member.organizationId, { filter, widgetNames }),
  };
}

async function readAdExport(deps: ExportDeps, member: Member, query: Query): Promise<ExportFile> {
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
    lines: () => exportForAds(deps.longRunningDb, member.organizationId, wanted),
  };
}

async function sendExport(
  deps: ExportDeps & { readonly csv: CsvExports },
  { member, request, reply }: { member: Member; request: FastifyRequest; reply: FastifyReply },
  { name, filter, detail, lines }: ExportFile,
): Promise<FastifyReply> {
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
