import type { Routes } from "./accounts/auth/route-table.ts";
import { organizationRoutes } from "./accounts/organization-routes.ts";
import { keyAppRoutes } from "./api-keys/app-routes.ts";
import type { ServiceDeps } from "./create-deps.ts";
import { connectionAppRoutes } from "./scheduler/connections/app-routes.ts";
import { testModeAppRoutes } from "./test-mode/app-routes.ts";
import { endpointAppRoutes } from "./webhooks/endpoints/app-routes.ts";
import { deliveryAppRoutes } from "./webhooks/log/app-routes.ts";
import { redeliveryAppRoutes } from "./webhooks/log/bulk-redelivery-routes.ts";
import { widgetAppRoutes } from "./widgets/app-routes.ts";

/** What members manage in the dashboard, programs with a key under /api/v1, and operators on the command line. */
export function managementRoutes(routes: Routes, deps: ServiceDeps): void {
  organizationRoutes(routes, deps);
  widgetAppRoutes(routes, deps);
  testModeAppRoutes(routes, deps);
  endpointAppRoutes(routes, deps);
  deliveryAppRoutes(routes, deps);
  redeliveryAppRoutes(routes, deps);
  keyAppRoutes(routes, deps);
  connectionAppRoutes(routes, deps);
}
