import type { ReadRoutes } from "../api-keys/api-keys.ts";
import type { Deps } from "../deps.ts";
import { readWidgets } from "./to-widget.ts";

export function widgetReadRoutes(routes: ReadRoutes, deps: Pick<Deps, "db" | "config">): void {
  routes.add("listWidgets", async ({ caller }) => ({ data: await readWidgets(deps, caller.organizationId) }));
}
