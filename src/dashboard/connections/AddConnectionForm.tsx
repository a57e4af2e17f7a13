import { SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import type { SavedConnection } from "#contract/app/connections.ts";
import { CONNECTION_KINDS, type ConnectionKind } from "#contract/scheduling.ts";
import { call } from "../api/call.ts";
import { connectionsQuery } from "../api/connections.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FormButtons } from "../ui/forms/FormButtons.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { ConnectionFields, CredentialsFault } from "./ConnectionFields.tsx";
import { type ConnectionValues, toParts, toValues } from "./connection-form.ts";
import { wordsOf } from "./connection-words.ts";
import { Permissions } from "./Permissions.tsx";

type AddConnectionFormProps = { onClose: () => void; onSaved: (saved: SavedConnection) => void };

export function AddConnectionForm({ onClose, onSaved }: AddConnectionFormProps) {
  const { id } = useOrganization();
  const [kind, setKind] = useState<ConnectionKind>("microsoft-bookings");
  const idempotencyKey = useIdempotencyKey();
  const form = useForm<ConnectionValues>({ initialValues: toValues(null) });
  const add = useAction({
    run: (values: ConnectionValues) =>
      call("addConnection", {
        organization: id,
        body: { kind, name: values.name, ...toParts(kind, values) },
        idempotencyKey,
      }),
    form,
    isQuiet: true,
    refreshes: [connectionsQuery(id).queryKey],
    says: ({ connection }) => `${connection.name} added`,
    onDone: onSaved,
  });
  return (
    <form onSubmit={form.onSubmit((values) => add.mutate(values))}>
      <Stack gap="md">
        <FormFault error={add.error} />
        <CredentialsFault form={form} />
        <SegmentedControl
          aria-label="Scheduling system"
          fullWidth
          data={CONNECTION_KINDS.map((value) => ({ value, label: wordsOf(value).name }))}
          value={kind}
          onChange={(value) => setKind(value as ConnectionKind)}
        />
        <Permissions kind={kind} />
        <TextInput
          label="Name"
          description="Shown in the dashboard only."
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps("name")}
        />
        <ConnectionFields kind={kind} form={form} />
        <Text size="sm" c="dimmed">
          We check the connection before saving. This can take a few seconds.
        </Text>
        <FormButtons label="Add connection" isBusy={add.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
