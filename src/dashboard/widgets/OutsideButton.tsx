import { Button } from "@mantine/core";
import type { ReactNode } from "react";

export function OutsideButton({ href, icon, children }: { href: string; icon: ReactNode; children: ReactNode }) {
  return (
    <Button component="a" href={href} target="_blank" rel="noreferrer" variant="default" leftSection={icon}>
      {children}
    </Button>
  );
}
