import type { Verdict } from "../can.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";

const HIDDEN: Verdict = {
  isAllowed: false,
  reason: "Names, addresses, notes and answers are shown to members. Ask an admin for the role of a member.",
};

/** Says to whom customers are not shown that they are not. Nothing for everybody else. */
export function HiddenCustomers() {
  const { can } = useOrganization();
  const verdict = can("seeCustomers");
  return <LockedFeature verdict={verdict.isAllowed ? verdict : HIDDEN} title="Customers are hidden from you" />;
}
