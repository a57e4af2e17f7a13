import { Alert, Anchor, List } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import type { ConnectionCheckAnswer } from "#contract/app/connections.ts";
import { ConnectionNotes } from "./ConnectionNotes.tsx";

export function CheckAnswer({ check }: { check: ConnectionCheckAnswer }) {
  const { isWorking, verdict, steps } = check;
  const file = `data:application/json,${encodeURIComponent(JSON.stringify(check, null, 2))}`;
  return (
    <div>
      <Alert
        role="status"
        color={isWorking ? "green" : "red"}
        variant="light"
        icon={isWorking ? <IconCheck size={20} /> : <IconX size={20} />}
        title={verdict}
      >
        <List size="sm" spacing={4}>
          {steps.map(({ name, message }) => (
            <List.Item key={name}>{message}</List.Item>
          ))}
        </List>
        <Anchor href={file} download={`connection-check-${check.kind}.json`} size="sm" display="inline-block" mt="xs">
          Download all requests and responses
        </Anchor>
      </Alert>
      <ConnectionNotes notes={steps.flatMap(({ notes = [] }) => notes)} />
    </div>
  );
}
