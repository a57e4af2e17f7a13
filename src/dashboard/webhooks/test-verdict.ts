import type { AppEndpoint } from "#contract/app/endpoints.ts";
import type { Verdict } from "../can.ts";
import type { OrganizationScope } from "../shell/use-organization.ts";

export function testVerdict(can: OrganizationScope["can"], { status }: Pick<AppEndpoint, "status">): Verdict {
  const verdict = can("testEndpoint");
  if (verdict.isAllowed && status === "disabled") return { isAllowed: false, reason: "Switch the endpoint on first." };
  return verdict;
}
