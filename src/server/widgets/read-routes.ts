import { WidgetList } from "#contract/widget.ts";
import { callerOf } from "../api-keys/api-keys.ts";
import type { Deps } from "../deps.ts";
import { type ReadApi, readApiResponses } from "../http/read-api.ts";
import { readWidgets } from "./to-widget.ts";

export function widgetReadRoutes(api: ReadApi, deps: Pick<Deps, "db" | "config">): void {
  api.get(
    "/widgets",
    {
      schema: {
        operationId: "listWidgets",
        summary: "List widgets",
        description: "Every widget of the organization, newest first.",
        response: readApiResponses(WidgetList, "All widgets."),
      },
    },
    async (request) => ({ data: await readWidgets(deps, callerOf(request).organizationId) }),
  );
}
