import type { AppWidget } from "#contract/app/widgets.ts";
import { type OrganizationId, parseConnectionId, type WidgetId } from "#contract/ids.ts";
import type { Routes } from "../accounts/accounts.ts";
import { auditBy } from "../audit/audit.ts";
import type { Deps } from "../deps.ts";
import { FieldsError, notFound } from "../http/errors/api-error.ts";
import type { OpenDeps } from "../scheduler/scheduler.ts";
import { listWidgetsWithViews, requireWidget, toAppWidget } from "../widgets/widgets.ts";
import { clearTestData } from "./clear-tests.ts";
import { countTestData } from "./queries.ts";
import { goBackToTest, goLive, type WentLive } from "./switch-mode.ts";

type TestModeDeps = OpenDeps & Pick<Deps, "longRunningDb" | "config">;

export function testModeAppRoutes(routes: Routes, deps: TestModeDeps): void {
  routes.add("goLive", async ({ member, params, body }) => {
    const owner = member.organizationId;
    const widgetId = await requireWidget(deps.db, owner, params.widget);
    const connectionId = parseConnectionId(body.connectionId);
    if (connectionId === null) throw notFound("Connection");
    const audit = auditBy(deps, member, deps.clock.now());
    const outcome = await goLive(deps, owner, { widgetId, connectionId, audit });
    if (outcome.kind !== "live") throw toFault(outcome);
    return await readWidget(deps, owner, widgetId);
  });

  routes.add("goBackToTest", async ({ member, params }) => {
    const owner = member.organizationId;
    const widgetId = await requireWidget(deps.db, owner, params.widget);
    const audit = auditBy(deps, member, deps.clock.now());
    if (!(await goBackToTest(deps, owner, { widgetId, audit }))) throw notFound("Widget");
    return await readWidget(deps, owner, widgetId);
  });

  routes.add("clearTestData", async ({ member, params, body }) => {
    const owner = member.organizationId;
    const widgetId = await requireWidget(deps.db, owner, params.widget);
    const { dryRun = false } = body;
    if (dryRun) return await countTestData(deps.db, owner, { widgetId, now: deps.clock.now() });
    const { name } = await readWidget(deps, owner, widgetId);
    const audit = auditBy(deps, member, deps.clock.now());
    return await clearTestData({ db: deps.longRunningDb, clock: deps.clock }, owner, { widgetId, name, audit });
  });
}

function toFault(outcome: Exclude<WentLive, { kind: "live" }>) {
  switch (outcome.kind) {
    case "no_widget":
      return notFound("Widget");
    case "no_connection":
      return new FieldsError({ connectionId: notFound("Connection").message });
    case "not_ready":
      return new FieldsError({ connectionId: outcome.message });
    default:
      return outcome satisfies never;
  }
}

async function readWidget(deps: TestModeDeps, owner: OrganizationId, id: WidgetId): Promise<AppWidget> {
  const [row] = await listWidgetsWithViews(deps.db, owner, { baseUrl: deps.config.baseUrl, id });
  if (!row) throw notFound("Widget");
  return toAppWidget(row, deps.config.baseUrl);
}
