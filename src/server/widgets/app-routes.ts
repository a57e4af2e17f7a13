import { isDeepStrictEqual } from "node:util";
import { type AppWidget, WidgetChange } from "#contract/app/widgets.ts";
import { type ConnectionId, type OrganizationId, parseWidgetId, WIDGET_ID, type WidgetId } from "#contract/ids.ts";
import type { Routes } from "../accounts/accounts.ts";
import { auditBy, describeChanges } from "../audit/audit.ts";
import type { Db } from "../db/connections/pool.ts";
import { makeOnce } from "../db/statements/make-once.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import type { Deps } from "../deps.ts";
import { ApiError, notFound } from "../http/errors/api-error.ts";
import { chooseId } from "../http/idempotency-key.ts";
import { requireUnchanged } from "../http/require-unchanged.ts";
import { countLocked, describeCap, lockForCount } from "../organizations/organizations.ts";
import { describeFailure, type OpenDeps, openSchedulingSystem } from "../scheduler/scheduler.ts";
import { changeWidget, listWidgetsWithViews, lockWidget } from "./app-queries.ts";
import { checkWidgetChange, checkWidgetSettings } from "./check-widget.ts";
import { insertWidget } from "./queries.ts";
import { toAppWidget, toWidgetSettings } from "./to-widget.ts";

type WidgetDeps = OpenDeps & Pick<Deps, "config">;

/** Widgets are never deleted, because their bookings and counts belong to them; unused ones are paused. */
export function widgetAppRoutes(routes: Routes, deps: WidgetDeps): void {
  routes.add("listWidgets", async ({ member }) => {
    const rows = await listWidgetsWithViews(deps.db, member.organizationId, {
      baseUrl: deps.config.baseUrl,
    });
    return { data: rows.map((row) => toAppWidget(row, deps.config.baseUrl)) };
  });

  routes.add("createWidget", async ({ member, body, request }) => {
    const owner = member.organizationId;
    const now = deps.clock.now();
    const typed = body;
    const id = chooseId<WidgetId>(deps, request, { owner, form: WIDGET_ID });
    const make = async (transaction: Db) => {
      const { name = typed.name, ...checked } = checkWidgetChange(typed, deps.config.baseUrl, null);
      const row = { ...NEW_WIDGET, ...checked, name, id, organization_id: owner, created_at: now };
      await lockForCount(transaction, owner);
      await insertWidget(transaction, row);
      const most = deps.config.maxWidgets;
      if (!member.isOperator && (await countLocked(transaction, owner, "widgets")) > most)
        throw new ApiError("conflict", describeCap("widgets", most));
      await auditBy(deps, member, now)(transaction, { action: "widget.created", target: id, name });
      return row;
    };
    const made = await makeOnce(() => inTransaction(deps.db, make));
    const widget = await readWidget(deps, owner, id);
    if (made === null) requireSame(widget, checkWidgetSettings(typed, deps.config.baseUrl));
    return widget;
  });

  routes.add("getWidget", async ({ member, params }) => {
    return await readWidget(deps, member.organizationId, requireWidgetId(params.widget));
  });

  servicesRoute(routes, deps);
  changeRoute(routes, deps);
}

function servicesRoute(routes: Routes, deps: WidgetDeps): void {
  routes.add("listWidgetServices", async ({ member, params }) => {
    const owner = member.organizationId;
    const { id, connectionId } = await readWidget(deps, owner, requireWidgetId(params.widget));
    const widget = { id: id as WidgetId, organizationId: owner, connectionId: connectionId as ConnectionId | null };
    const system = await openSchedulingSystem(deps, widget);
    const services = await system.listServices();
    if (services.kind !== "found") throw new ApiError("scheduler_unavailable", describeFailure(services, system.kind));
    return {
      services: services.value.map(({ id, name, durationMinutes, staff, staffSelectable }) => ({
        id,
        name,
        durationMinutes,
        staff: staffSelectable ? staff.map((person) => ({ id: person.id, name: person.name })) : [],
      })),
    };
  });
}

function changeRoute(routes: Routes, deps: WidgetDeps): void {
  routes.add("changeWidget", async ({ member, params, body }) => {
    const owner = member.organizationId;
    const id = requireWidgetId(params.widget);
    await readWidget(deps, owner, id);
    const { was: _, ...typed } = body;
    const names = Object.keys(WidgetChange.properties).filter((name) => name in typed);
    if (names.length > 0)
      await inTransaction(deps.db, async (transaction) => {
        const before = await lockWidget(transaction, owner, id);
        if (before === null) throw notFound("Widget");
        requireUnchanged(toWidgetSettings(before), body);
        const change = checkWidgetChange(typed, deps.config.baseUrl, before);
        await changeWidget(transaction, owner, { id, change });
        await auditBy(
          deps,
          member,
          deps.clock.now(),
        )(transaction, {
          action: "widget.changed",
          target: id,
          name: change.name ?? before.name,
          formerName: before.name,
          detail: describeChanges(toWidgetSettings(before), typed),
        });
      });
    return await readWidget(deps, owner, id);
  });
}

const NEW_WIDGET = {
  business_name: "",
  booking_url: null,
  template: "classic",
  status: "active",
  collect_data: false,
} as const;

/** A repeated request gets the first response again, unless its values differ from what was created. */
function requireSame(widget: AppWidget, wanted: object): void {
  const now: Readonly<Record<string, unknown>> = widget;
  if (Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(now[name], value))) return;
  throw new ApiError(
    "conflict",
    "Your first attempt already created this widget, with the values you entered then. Check the list.",
  );
}

function requireWidgetId(text: string): WidgetId {
  const id = parseWidgetId(text);
  if (id === null) throw notFound("Widget");
  return id;
}

async function readWidget(deps: WidgetDeps, owner: OrganizationId, id: WidgetId): Promise<AppWidget> {
  const [row] = await listWidgetsWithViews(deps.db, owner, { baseUrl: deps.config.baseUrl, id });
  if (!row) throw notFound("Widget");
  return toAppWidget(row, deps.config.baseUrl);
}
