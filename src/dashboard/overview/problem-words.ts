import type { AppConnection } from "#contract/app/connections.ts";
import type { AppEndpoint } from "#contract/app/endpoints.ts";

/** What stands before and after the name, which is a link. */
export type AroundName = readonly [before: string, after: string];

/** For endpoints that fail or that Bookflow turned off; those that a member turned off are no problem. */
export function describeEndpointProblem({ disabledReason }: Pick<AppEndpoint, "disabledReason">): AroundName {
  return disabledReason === null ? ["Deliveries to ", " are failing."] : ["Bookflow turned off ", "."];
}

export function describeConnectionProblem({ widgetCount }: Pick<AppConnection, "widgetCount">): AroundName {
  return ["", widgetCount === 0 ? " isn’t working." : " isn’t working. Visitors may not be able to book."];
}
