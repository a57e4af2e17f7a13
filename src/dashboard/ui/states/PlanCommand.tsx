import type { Plan } from "#contract/plans.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { CopyField } from "../copy/CopyField.tsx";

/** Only the operator changes plans, so this is what to run, or to send to whoever runs the server. */
export function PlanCommand({ plan }: { plan: Plan }) {
  const { id } = useOrganization();
  return (
    <CopyField
      label="Command for the operator of this server"
      value={`npm run bookflow -- org set ${id} --plan ${plan}`}
    />
  );
}
