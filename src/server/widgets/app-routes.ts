import type { FastifyInstance } from "fastify";
import { AppWidget, AppWidgetList, NewWidget, WidgetChange } from "#contract/app/widgets.ts";
import { type OrganizationId, parseWidgetId, WIDGET_ID, type WidgetId } from "#contract/ids.ts";
import { memberOf } from "../accounts/member-auth.ts";
import { auditBy } from "../audit/audit-by.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/api-error.ts";
import { bodyReader } from "../http/body.ts";
import { requireUnchanged } from "../http/require-unchanged.ts";
import { randomId } from "../lib/random.ts";
import { changeWidget, listWidgetsWithViews, lockWidget } from "./app-queries.ts";
import { checkWidgetChange } from "./check-widget.ts";
import { insertWidget } from "./queries.ts";
import { toAppWidget, toWidgetSettings } from "./to-app-widget.ts";

type WidgetDeps = Pick<Deps, "db" | "clock" | "random" | "config">;
type WithWidget = { Params: { widget: string } };

/** Widgets are never deleted: their bookings and counts stay theirs. One that is no longer wanted is paused. */
export function widgetAppRoutes(api: FastifyInstance, deps: WidgetDeps): void {
  const readNewWidget = bodyReader(NewWidget);
  const readWidgetChange = bodyReader(WidgetChange);

  api.get("/widgets", { schema: { response: { 200: AppWidgetList } } }, async (request) => {
    const rows = await listWidgetsWithViews(deps.db, memberOf(request).organizationId);
    return { data: rows.map((row) => toAppWidget(row, deps.config.baseUrl)) };
  });

  api.post("/widgets", { schema: { response: { 201: AppWidget } } }, async (request, reply) => {
    const member = memberOf(request);
    const owner = member.organizationId;
    const now = deps.clock.now();
    const typed = readNewWidget(request);
    const id = randomId<WidgetId>(deps.random, WIDGET_ID);
    await deps.db.transaction().execute(async (transaction) => {
      const { name = typed.name, ...checked } = await checkWidgetChange(transaction, owner, typed);
      await insertWidget(transaction, {
        ...NEW,
        ...checked,
        name,
        id,
        organization_id: owner,
        created_at: now,
      });
      await auditBy(member, now)(transaction, { action: "widget.created", target: id });
    });
    return reply.code(201).send(await readWidget(deps, owner, id));
  });

  api.get<WithWidget>("/widgets/:widget", { schema: { response: { 200: AppWidget } } }, async (request) => {
    return await readWidget(deps, memberOf(request).organizationId, requireWidgetId(request.params.widget));
  });

  api.patch<WithWidget>("/widgets/:widget", { schema: { response: { 200: AppWidget } } }, async (request) => {
    const member = memberOf(request);
    const owner = member.organizationId;
    const id = requireWidgetId(request.params.widget);
    await readWidget(deps, owner, id);
    const { was, ...typed } = readWidgetChange(request);
    const names = Object.keys(WidgetChange.properties).filter((name) => name in typed);
    if (names.length > 0)
      await deps.db.transaction().execute(async (transaction) => {
        const before = await lockWidget(transaction, owner, id);
        if (before === null) throw noSuchWidget();
        requireUnchanged(toWidgetSettings(before), was);
        const change = await checkWidgetChange(transaction, owner, typed);
        await changeWidget(transaction, owner, { id, change });
        const storing = change.collect_data !== undefined && change.collect_data !== before.collect_data;
        await auditBy(member, deps.clock.now())(transaction, {
          action: "widget.changed",
          target: id,
          detail: {
            changed: names.join(", "),
            ...(storing ? { storeBookings: change.collect_data ? "on" : "off" } : {}),
          },
        });
      });
    return await readWidget(deps, owner, id);
  });
}

const NEW = {
  business_name: "",
  booking_url: null,
  template: "classic",
  status: "active",
  collect_data: false,
} as const;

function requireWidgetId(text: string): WidgetId {
  const id = parseWidgetId(text);
  if (id === null) throw noSuchWidget();
  return id;
}

async function readWidget(deps: WidgetDeps, owner: OrganizationId, id: WidgetId): Promise<AppWidget> {
  const [row] = await listWidgetsWithViews(deps.db, owner, id);
  if (!row) throw noSuchWidget();
  return toAppWidget(row, deps.config.baseUrl);
}

function noSuchWidget(): ApiError {
  return new ApiError("not_found", "There is no such widget.");
}
