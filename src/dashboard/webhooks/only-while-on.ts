import type { AppEndpoint } from "#contract/app/endpoints.ts";
import type { Verdict } from "../can.ts";

/** Forbids actions that send something while the endpoint is off. */
export function onlyWhileOn(verdict: Verdict, { status }: Pick<AppEndpoint, "status">): Verdict {
  if (verdict.isAllowed && status === "disabled") return { isAllowed: false, reason: "Turn on the endpoint first." };
  return verdict;
}
