import { Badge } from "@mantine/core";
import type { Mode } from "#contract/widget.ts";

export const MODE_NAMES: Readonly<Record<Mode, string>> = { test: "Test", live: "Live" };

/** Shown wherever a widget, a booking or a connection appears, so that nobody mistakes a test for the real thing. */
export function ModeBadge({ mode, isSmall = false }: { mode: Mode; isSmall?: boolean }) {
  return (
    <Badge color={mode === "live" ? "green" : "yellow"} size={isSmall ? "sm" : "md"}>
      {MODE_NAMES[mode]}
    </Badge>
  );
}
