import { Alert, Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconCheck } from "@tabler/icons-react";
import { useState } from "react";
import type { AppConnection, SavedConnection, VerifiedConnection } from "#contract/app/connections.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { call } from "../api/call.ts";
import { connectionsQuery } from "../api/queries.ts";
import { formatZone } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useFollowedValues } from "../hooks/use-followed-values.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { Collapsible } from "../ui/layout/Collapsible.tsx";
import { AddConnectionForm } from "./AddConnectionForm.tsx";
import { AdvancedFields, ConnectionFields } from "./ConnectionFields.tsx";
import { type ConnectionValues, toParts, toValues } from "./connection-form.ts";
import { CONNECTION_STEPS } from "./connection-steps.tsx";
import { ConnectionNotes } from "./TestConnectionDialog.tsx";

type ConnectionDialogProps = {
  /** Null for a new connection. */
  connection: AppConnection | null;
  isOpen: boolean;
  onClose: () => void;
  /** What the person came for: offered once the connection is saved. */
  next?: { readonly label: string; readonly go: () => void } | undefined;
};

/** Adds or edits a connection. The server checks it before saving; the dialog shows the result before it closes. */
export function ConnectionDialog({ connection, isOpen, onClose, next }: ConnectionDialogProps) {
  const [saved, setSaved] = useState<SavedConnection | null>(null);
  const close = () => {
    setSaved(null);
    onClose();
  };
  const forms = {
    onClose: close,
    onSaved: (result: SavedConnection) => (result.verified ? setSaved(result) : close()),
  };
  return (
    <FormDialog
      opened={isOpen}
      onClose={close}
      closeOnClickOutside={false}
      title={connection ? `Edit ${connection.name}` : "Add connection"}
      size="lg"
    >
      {saved?.verified ? (
        <Stack gap="md">
          <div role="status">
            <VerifiedSummary verified={saved.verified} />
          </div>
          <Group justify="flex-end">
            {/* Takes the focus from the form, which is gone. */}
            <Button autoFocus onClick={next ? next.go : close}>
              {next ? next.label : "Done"}
            </Button>
          </Group>
        </Stack>
      ) : connection ? (
        <EditConnectionForm connection={connection} {...forms} />
      ) : (
        <AddConnectionForm {...forms} />
      )}
    </FormDialog>
  );
}

function VerifiedSummary({ verified }: { verified: VerifiedConnection }) {
  const { businessName, timeZone, warnings } = verified;
  return (
    <>
      <Alert color="green" icon={<IconCheck size={20} />} title="Connection works">
        Connected to “{businessName}”{timeZone !== null && ` (${formatZone(timeZone)})`}.
      </Alert>
      <ConnectionNotes notes={warnings} />
    </>
  );
}

type EditProps = { connection: AppConnection; onClose: () => void; onSaved: (saved: SavedConnection) => void };

/** Changes the name alone, or the settings together with the secret. */
function EditConnectionForm({ connection, onClose, onSaved }: EditProps) {
  const { id } = useOrganization();
  const [isReplacing, setReplacing] = useState(false);
  const [followsChanges, setFollowsChanges] = useState(connection.followsChanges);
  const isFollowingChanged = followsChanges !== connection.followsChanges;
  const form = useForm<ConnectionValues>({ initialValues: toValues(connection) });
  useFollowedValues(form, toValues(connection));
  const { kind } = connection;
  const save = useAction({
    run: (values: ConnectionValues) =>
      call("changeConnection", {
        organization: id,
        params: { connection: connection.id },
        body: {
          ...(form.isDirty("name") ? { name: values.name } : {}),
          ...(isReplacing ? toParts(kind, values) : {}),
          ...(isFollowingChanged ? { followsChanges } : {}),
          was: {
            ...(form.isDirty("name") ? { name: form.getInitialValues().name } : {}),
            ...(isReplacing ? { settings: connection.settings } : {}),
          },
        },
      }),
    form,
    refreshes: [connectionsQuery(id).queryKey],
    successMessage: (saved) => `${saved.connection.name} saved`,
    onDone: onSaved,
  });
  return (
    <ActionForm
      form={form}
      action={save}
      label="Save connection"
      isReady={form.isDirty() || isReplacing || isFollowingChanged}
      onCancel={onClose}
    >
      <TextInput label="Name" autoComplete="off" required data-autofocus {...form.getInputProps("name")} />
      <FollowChanges isOn={followsChanges} getsNotices={connection.getsNotices} onChange={setFollowsChanges} />
      <Checkbox
        label="Change settings and secret"
        description="If you change the settings, enter the secret again."
        checked={isReplacing}
        onChange={(event) => setReplacing(event.currentTarget.checked)}
      />
      {isReplacing && (
        <>
          <AllSteps kind={kind} />
          <ConnectionFields kind={kind} form={form} />
          <AdvancedFields kind={kind} form={form} />
        </>
      )}
    </ActionForm>
  );
}

type FollowProps = { isOn: boolean; getsNotices: boolean; onChange: (isOn: boolean) => void };

function FollowChanges({ isOn, getsNotices, onChange }: FollowProps) {
  const how = getsNotices
    ? "The system reports changes at once."
    : "Bookflow asks the system for changes every few minutes.";
  return (
    <Checkbox
      label="Follow changes"
      description={`Stored bookings change when their appointments are cancelled or moved in the scheduling system. ${how}`}
      checked={isOn}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

/** The guides of all steps, for someone who replaces the settings later. */
function AllSteps({ kind }: { kind: ConnectionKind }) {
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
