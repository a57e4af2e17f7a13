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
      A widget exceeded its daily limit for new visits, usually because of a bot. These events aren’t included below. If
      they were real visitors, ask the person who runs Bookflow to raise RATE_LIMIT_EVENTS_PER_MINUTE.
    </Alert>
  );
}
