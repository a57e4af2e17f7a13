import { Alert } from "@mantine/core";
import { IconShieldHalf } from "@tabler/icons-react";
import { pluralize } from "../format.ts";

/** Says how many events were dropped because a widget had too many new visits; renders nothing if none were. */
export function DroppedEvents({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      mb="lg"
      icon={<IconShieldHalf size={20} stroke={1.6} />}
      title={`${pluralize(count, "event")} not counted`}
    >
      A widget got more new visits than its daily limit in this period, which usually means a bot. The figures below
      leave these events out.
    </Alert>
  );
}
