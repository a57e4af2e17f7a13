import { Alert, Button, Group, Loader, Modal, Stack, Text } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useEffect } from "react";
import type { AppConnection } from "#contract/app/connections.ts";
import { call } from "../api/call.ts";
import { connectionsQuery } from "../api/connections.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { CheckAnswer } from "./CheckAnswer.tsx";
import { wordsOf } from "./connection-words.ts";
import { VerifiedAnswer } from "./VerifiedAnswer.tsx";

/** Tests the connection when it opens, and shows the result. */
export function TestConnectionDialog({
  connection,
  onClose,
}: {
  connection: AppConnection | null;
  onClose: () => void;
}) {
  return (
    <Modal opened={connection !== null} onClose={onClose} title={connection ? `Test ${connection.name}` : ""}>
      {connection && <Test key={connection.id} connection={connection} onClose={onClose} />}
    </Modal>
  );
}

function Test({ connection, onClose }: { connection: AppConnection; onClose: () => void }) {
  const { id } = useOrganization();
  const test = useAction({
    run: () => call("testConnection", { organization: id, params: { connection: connection.id } }),
    isQuiet: true,
    refreshes: [connectionsQuery(id).queryKey],
  });
  const check = useAction({
    run: () =>
      call("checkConnection", { organization: id, params: { connection: connection.id }, body: { book: true } }),
    isQuiet: true,
    refreshes: [connectionsQuery(id).queryKey],
  });
  const { mutate, data, error } = test;
  useEffect(() => mutate(), [mutate]);
  return (
    <Stack gap="md">
      <FormFault error={error} />
      <div role="status">
        {data?.verified && <VerifiedAnswer verified={data.verified} />}
        {data && !data.verified && (
          <Alert color="red" variant="light" icon={<IconX size={20} />} title="Connection failed">
            {data.message}
          </Alert>
        )}
        {!data && !error && (
          <Group gap="sm" py="md">
            <Loader size="sm" aria-hidden />
            <Text size="sm">Connecting to {wordsOf(connection.kind).name}…</Text>
          </Group>
        )}
      </div>
      <FormFault error={check.error} />
      {check.data && <CheckAnswer check={check.data} />}
      <Group justify="flex-end" gap="xs">
        {data?.verified && (
          <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
            Make a test booking
          </Button>
        )}
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Test again
        </Button>
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
