import { Button } from "@mantine/core";
import { IconSearchOff } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { EmptyState } from "./EmptyState.tsx";

export function NoMatches({ onClear, children }: { onClear: () => void; children?: ReactNode }) {
  return (
    <EmptyState
      icon={IconSearchOff}
      title="No matches"
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      {children ?? "Try another filter or a longer period."}
    </EmptyState>
  );
}
