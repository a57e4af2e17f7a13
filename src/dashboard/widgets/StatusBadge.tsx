import { Badge } from "@mantine/core";
import type { WidgetStatus } from "#contract/widget.ts";
import { STATUS_COLORS, STATUS_NAMES } from "./widget-words.ts";

export function StatusBadge({ status }: { status: WidgetStatus }) {
  return <Badge color={STATUS_COLORS[status]}>{STATUS_NAMES[status]}</Badge>;
}
