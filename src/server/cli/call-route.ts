import { type AnswerOf, APP_ROUTES, type AppRoute, type AppRouteName } from "#contract/app/routes.ts";
import { ENDPOINT_FILTERS } from "#contract/endpoint.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { OPERATOR, type Routes } from "../accounts/accounts.ts";
import { ApiError, FieldsError } from "../http/api-error.ts";
import { bodyReader } from "../http/body.ts";
import { assert } from "../lib/assert.ts";
import { managementRoutes } from "../management-routes.ts";
import { findOrganization, requireFeature } from "../organizations/organizations.ts";
import { type CommandContext, UsageError } from "./command.ts";

type Given = { params?: Record<string, string>; query?: Record<string, string>; body?: object };

/**
 * Calls a route of the dashboard API in this process, with the rights of an owner. Checks, refusals and audit entries are the same as in
 * the dashboard. A refusal is a UsageError, with the options' names.
 */
export async function callRoute<Name extends AppRouteName>(
  context: CommandContext,
  owner: OrganizationId,
  name: Name,
  { params = {}, query = {}, body = {} }: Given = {},
): Promise<AnswerOf<(typeof APP_ROUTES)[Name]>> {
  const route: AppRoute = APP_ROUTES[name];
  const organization = await findOrganization(context.db, owner);
  assert(organization, "the organization was just found");
  const { id: organizationId, plan, time_zone: timeZone } = organization;
  try {
    if (route.feature) requireFeature(plan, route.feature);
    const call = {
      member: { ...OPERATOR, organizationId, plan, timeZone },
      params,
      query,
      body: route.body ? bodyReader(route.body)({ body }) : undefined,
      request: { headers: {}, url: route.path },
    };
    // The table is typed by name; a map is not.
    return (await findHandler(context, name)(call)) as AnswerOf<(typeof APP_ROUTES)[Name]>;
  } catch (error) {
    if (error instanceof FieldsError) throw new UsageError(Object.entries(error.fields).map(toOptionFault).join(" "));
    throw error instanceof ApiError && error.status < 500 ? new UsageError(error.message) : error;
  }
}

function findHandler(context: CommandContext, name: AppRouteName): (call: object) => Promise<unknown> {
  const handlers = new Map<string, (call: never) => Promise<unknown>>();
  const routes: Routes = { add: (each, handle) => handlers.set(each, handle) };
  managementRoutes(routes, context);
  const found = handlers.get(name);
  assert(found, `${name} is managed`);
  return found as (call: object) => Promise<unknown>;
}

/** Without `eventTypes`: its fault names the event type, and may be caused by --events or by --expiry. */
const OPTION_BY_FIELD: Readonly<Record<string, string>> = {
  widgetIds: "widgets",
  requestsPerMinute: "rate",
  businessName: "business-name",
  bookingUrl: "booking-url",
  accentColor: "accent",
  allowedDomains: "allowed-domains",
  connectionId: "connection",
  ...Object.fromEntries(
    ["name", "headers", ...ENDPOINT_FILTERS, "from", "to", "states", "endpoint", "widget"].map((name) => [name, name]),
  ),
};

function toOptionFault([field, fault]: [string, string]): string {
  const option = OPTION_BY_FIELD[field];
  return option === undefined ? fault : `--${option}: ${fault}`;
}
