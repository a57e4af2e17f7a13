import { Alert, Box } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Verdict } from "../../can.ts";
import { PlanCommand } from "./PlanCommand.tsx";

/** Explains why a screen or feature isn't available; renders nothing if it is. */
export function LockedFeature({ verdict, title, children }: { verdict: Verdict; title: string; children?: ReactNode }) {
  if (verdict.isAllowed) return null;
  return (
    <Alert icon={<IconLock size={20} stroke={1.6} />} title={title} color="gray" variant="light" mb="lg">
      {verdict.reason} {children}
      {verdict.plan && (
        <Box mt="xs">
          <PlanCommand plan={verdict.plan} />
        </Box>
      )}
    </Alert>
  );
}
