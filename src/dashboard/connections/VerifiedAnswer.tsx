import { Alert, List, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import type { VerifiedConnection } from "#contract/app/connections.ts";

/** The scheduling system's own description of the business. */
export function VerifiedAnswer({ verified }: { verified: VerifiedConnection }) {
  const { businessName, timeZone, warnings } = verified;
  return (
    <>
      <Alert color="green" variant="light" icon={<IconCheck size={20} />} title="Connection works">
        Connected to “{businessName}”{timeZone !== null && ` (${timeZone})`}.
      </Alert>
      {warnings.length > 0 && (
        <>
          <Text size="sm" fw={500} mt="md" mb={4}>
            Please note
          </Text>
          <List size="sm" spacing={4}>
            {warnings.map((warning) => (
              <List.Item key={warning}>{warning}</List.Item>
            ))}
          </List>
        </>
      )}
    </>
  );
}
