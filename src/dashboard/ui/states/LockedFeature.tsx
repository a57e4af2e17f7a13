import { Alert } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Verdict } from "../../can.ts";

/** Says above a screen, or instead of its content, why something is out of reach. Nothing where it is not. */
export function LockedFeature({ verdict, title, children }: { verdict: Verdict; title: string; children?: ReactNode }) {
  if (verdict.isAllowed) return null;
  return (
    <Alert icon={<IconLock size={20} stroke={1.6} />} title={title} color="gray" variant="light" mb="lg">
      {verdict.reason} {children}
    </Alert>
  );
}
