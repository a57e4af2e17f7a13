import { Badge } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Mode } from "#contract/widgets/widget.ts";
import { widgetsQuery } from "../../api/queries.ts";
import { useOrganization } from "../../shell/use-organization.ts";

export const MODE_NAMES: Readonly<Record<Mode, string>> = { test: "Test", live: "Live" };

/** Shown wherever a widget, a booking or a connection appears, so that nobody mistakes a test for the real thing. */
export function ModeBadge({ mode, isSmall = false }: { mode: Mode; isSmall?: boolean }) {
  return (
    <Badge color={mode === "live" ? "green" : "yellow"} size={isSmall ? "sm" : "md"}>
      {MODE_NAMES[mode]}
    </Badge>
  );
}

type TestNumbersProps = {
  /** Whether the numbers include this widget's visits; all by default. */
  isCounted?: (widgetId: string) => boolean;
  /** Test visits are known to be among the numbers, whatever the modes are now. */
  includesTests?: boolean;
};

/** Marks numbers that include test visits: those to widgets that aren't live are counted too. */
export function TestNumbers({ isCounted = () => true, includesTests = false }: TestNumbersProps) {
  const { id } = useOrganization();
  const widgets = useQuery(widgetsQuery(id)).data?.data ?? [];
  const counted = widgets.filter((each) => isCounted(each.id));
  const [mode = "live", ...others] = new Set(counted.map((each) => each.mode));
  if (others.length > 0) return <Badge color="yellow">Includes widgets that aren’t live</Badge>;
  if (mode !== "live") return <ModeBadge mode={mode} />;
  return includesTests ? <Badge color="yellow">Includes test data</Badge> : null;
}
