import { Stack, Text } from "@mantine/core";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { Collapsible } from "../ui/layout/Collapsible.tsx";
import { CONNECTION_STEPS } from "./connection-steps.tsx";

/** The guides of all steps, for someone who replaces the settings later. */
export function AllSteps({ kind }: { kind: ConnectionKind }) {
  return (
    <Collapsible label="Where to find these">
      <Stack gap="md">
        {CONNECTION_STEPS[kind].map(({ title, guide }) => (
          <div key={title}>
            <Text size="sm" fw={500} mb={4}>
              {title}
            </Text>
            {guide}
          </div>
        ))}
      </Stack>
    </Collapsible>
  );
}
