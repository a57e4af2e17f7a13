import type { AppEndpoint } from "#contract/app/endpoints.ts";
import type { Verdict } from "../can.ts";

/** For what sends something: nothing is sent to an endpoint that is off. */
export function onlyWhileOn(verdict: Verdict, { status }: Pick<AppEndpoint, "status">): Verdict {
  if (verdict.isAllowed && status === "disabled") return { isAllowed: false, reason: "Switch the endpoint on first." };
  return verdict;
}
