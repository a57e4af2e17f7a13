import { Alert, Anchor, Button, Group, List, Loader, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useEffect } from "react";
import type { AppConnection, ConnectionCheckRequest, ConnectionCheckResponse } from "#contract/app/connections.ts";
import { call } from "../api/call.ts";
import { connectionsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { wordsOf } from "./connection-words.ts";

/** Reads services and available times when it opens. A test booking is made only on request. */
export function TestConnectionDialog({
  connection,
  onClose,
}: {
  connection: AppConnection | null;
  onClose: () => void;
}) {
  return (
    <Modal opened={connection !== null} onClose={onClose} title={connection ? `Test ${connection.name}` : ""} size="lg">
      {connection && <Test key={connection.id} connection={connection} onClose={onClose} />}
    </Modal>
  );
}

function Test({ connection, onClose }: { connection: AppConnection; onClose: () => void }) {
  const { id } = useOrganization();
  const form = useForm({ initialValues: { email: "" } });
  const check = useAction({
    run: (body: ConnectionCheckRequest) =>
      call("checkConnection", { organization: id, params: { connection: connection.id }, body }),
    form,
    refreshes: [connectionsQuery(id).queryKey],
  });
  const { mutate, data, error, isPending, variables } = check;
  useEffect(() => mutate({ book: false }), [mutate]);
  const isBooking = isPending && variables.book;
  const { name } = wordsOf(connection.kind);
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ email }) => mutate({ book: true, ...(email.trim() === "" ? {} : { email }) }))}
    >
      <Stack gap="md">
        <FormFault error={error} />
        {data && <CheckResult check={data} />}
        {isPending && (
          <Group gap="sm" py="md" role="status">
            <Loader size="sm" aria-hidden />
            <Text size="sm">
              {isBooking ? `Making a test booking in ${name}…` : `Reading services and available times from ${name}…`}
            </Text>
          </Group>
        )}
        <TextInput
          type="email"
          label="Email address for a test booking"
          description={`${name} sends its confirmation and cancellation to this address. Leave empty to use an address nobody reads.`}
          placeholder="you@example.com"
          autoComplete="email"
          {...form.getInputProps("email")}
        />
        <Group justify="flex-end" gap="xs">
          <Button type="submit" variant="default" disabled={isPending && !isBooking} loading={isBooking}>
            Make a test booking
          </Button>
          <Button
            variant="default"
            disabled={isBooking}
            loading={isPending && !isBooking}
            onClick={() => mutate({ book: false })}
          >
            Test again
          </Button>
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </form>
  );
}

function CheckResult({ check }: { check: ConnectionCheckResponse }) {
  const { isWorking, verdict, steps } = check;
  const file = `data:application/json,${encodeURIComponent(JSON.stringify(check, null, 2))}`;
  return (
    <div>
      <Alert
        role="status"
        color={isWorking ? "green" : "red"}
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

export function ConnectionNotes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <>
      <Text size="sm" fw={500} mt="md" mb={4}>
        Note
      </Text>
      <List size="sm" spacing={4}>
        {notes.map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
      </List>
    </>
  );
}
