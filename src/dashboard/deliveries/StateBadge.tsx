import { Badge, type BadgeProps } from "@mantine/core";
import type { AppDelivery } from "#contract/app/deliveries.ts";
import { STATE_COLORS, STATE_NAMES } from "./delivery-words.ts";

export function StateBadge({ delivery, size = "md" }: { delivery: AppDelivery; size?: BadgeProps["size"] }) {
  const { state, pending } = delivery;
  return (
    <>
      <Badge size={size} color={STATE_COLORS[state]}>
        {STATE_NAMES[state]}
      </Badge>
      {pending === "manual" && <Badge size={size}>Redelivering</Badge>}
    </>
  );
}
