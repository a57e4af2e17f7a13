import { type ResponseOf, ROUTE_TABLE, type TableRoute, type TableRouteName } from "#contract/app/routes.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { OPERATOR, type Routes } from "../accounts/accounts.ts";
import { bodyReader } from "../http/body.ts";
import { ApiError, FieldsError } from "../http/errors/api-error.ts";
import { assert } from "../lib/assert.ts";
import { managementRoutes } from "../management-routes.ts";
import { findOrganization, requireFeature } from "../organizations/organizations.ts";
import { toOption } from "./arguments.ts";
import { type CommandContext, UsageError } from "./command.ts";

type Given = {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  /** For what an operator may prepare before changing the plan. */
  onAnyPlan?: true;
};

/**
 * Calls a route of the dashboard API in this process, with the rights of an owner. Checks, refusals and audit entries are the same as in
 * the dashboard. A refusal is a UsageError, with the options' names.
 */
export async function callRoute<Name extends TableRouteName>(
  context: CommandContext,
  owner: OrganizationId,
  name: Name,
  { params = {}, query = {}, body = {}, onAnyPlan }: Given = {},
): Promise<ResponseOf<(typeof ROUTE_TABLE)[Name]>> {
  const route: TableRoute = ROUTE_TABLE[name];
  const organization = await findOrganization(context.db, owner);
  assert(organization, "the organization was just found");
  const { id: organizationId, plan, time_zone: timeZone } = organization;
  try {
    if (route.feature && !onAnyPlan) requireFeature(plan, route.feature);
    const call = {
      member: { ...OPERATOR, organizationId, plan, timeZone },
      params,
      query,
      body: route.body ? bodyReader(route.body)({ body }) : undefined,
      request: { headers: {}, url: route.path },
    };
    // The table is typed by name; a map is not.
    return (await findHandler(context, name)(call)) as ResponseOf<(typeof ROUTE_TABLE)[Name]>;
  } catch (error) {
    if (error instanceof FieldsError) throw new UsageError(Object.entries(error.fields).map(toOptionFault).join(" "));
    throw error instanceof ApiError && error.status < 500 ? new UsageError(error.message) : error;
  }
}

function findHandler(context: CommandContext, name: TableRouteName): (call: object) => Promise<unknown> {
  const handlers = new Map<string, (call: never) => Promise<unknown>>();
  const routes: Routes = { add: (each, handle) => handlers.set(each, handle) };
  managementRoutes(routes, context);
  const found = handlers.get(name);
  assert(found, "each command has its route");
  return found as (call: object) => Promise<unknown>;
}

/** Their faults name what is wrong. The event type may be chosen by --events or by --expiry. */
const NAMED_IN_FAULT = ["url", "eventTypes"];

function toOptionFault([field, fault]: [string, string]): string {
  return field.includes(".") || NAMED_IN_FAULT.includes(field) ? fault : `--${toOption(field)}: ${fault}`;
}
