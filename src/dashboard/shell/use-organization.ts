import { createContext, useContext } from "react";
import type { Me, OrganizationShape } from "#contract/app/account.ts";
import type { MemberRole } from "#contract/app/role.ts";
import type { Plan } from "#contract/plans.ts";
import type { Action, Verdict } from "../can.ts";
import type { Format } from "../format.ts";
import type { Paths } from "../paths.ts";

export type OrganizationScope = {
  readonly id: string;
  readonly name: string;
  readonly role: MemberRole;
  readonly plan: Plan;
  readonly details: OrganizationShape;
  readonly me: Me;
  readonly paths: Paths;
  readonly format: Format;
  readonly can: (action: Action) => Verdict;
};

export const OrganizationContext = createContext<OrganizationScope | null>(null);

/** Works below Shell only. */
export function useOrganization(): OrganizationScope {
  const scope = useContext(OrganizationContext);
  if (!scope) throw new Error("useOrganization is used outside of Shell");
  return scope;
}
