import { Alert, Box } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Plan } from "#contract/plans.ts";
import type { Verdict } from "../../can.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { CopyField } from "../copy/CopyField.tsx";

/** Explains why a screen or feature isn't available; renders nothing if it is. */
export function LockedFeature({ verdict, title, children }: { verdict: Verdict; title: string; children?: ReactNode }) {
  if (verdict.isAllowed) return null;
  return (
    <Alert icon={<IconLock size={20} stroke={1.6} />} title={title} color="gray" mb="lg">
      {verdict.reason} {children}
      {verdict.plan && (
        <Box mt="xs">
          <PlanCommand plan={verdict.plan} />
        </Box>
      )}
    </Alert>
  );
}

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
