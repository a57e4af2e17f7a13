import { Badge } from "@mantine/core";
import type { AppWidget } from "#contract/app/widgets.ts";

/** Shown wherever a widget appears, so that nobody mistakes a test for the real thing. */
export function ModeBadge({ widget: { isLive } }: { widget: Pick<AppWidget, "isLive"> }) {
  return <Badge color={isLive ? "green" : "yellow"}>{isLive ? "Live" : "Test mode"}</Badge>;
}

/** Marks a booking that was made in test mode. */
export function TestBadge() {
  return (
    <Badge color="yellow" size="sm">
      Test
    </Badge>
  );
}

/** Marks the practice Cal.com, in which no real appointments are made. */
export function PracticeBadge() {
  return (
    <Badge color="yellow" size="sm">
      Practice
    </Badge>
  );
}
