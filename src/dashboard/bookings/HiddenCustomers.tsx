import type { Verdict } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";

const HIDDEN: Verdict = {
  isAllowed: false,
  reason: "Viewers can’t see names, contact details, notes or answers. Ask an admin to change your role to member.",
};

/** Tells viewers that customer data is hidden; renders nothing for others. */
export function HiddenCustomers() {
  const { can } = useOrganization();
  const verdict = can("seeCustomers");
  return <LockedFeature verdict={verdict.isAllowed ? verdict : HIDDEN} title="Customer data is hidden" />;
}
