import { Alert, Button, Group, Stack } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { useState } from "react";
import type { AppConnection, SavedConnection, VerifiedConnection } from "#contract/app/connections.ts";
import { formatZone } from "../format.ts";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { AddConnectionForm } from "./AddConnectionForm.tsx";
import { ConnectionNotes } from "./ConnectionNotes.tsx";
import { EditConnectionForm } from "./EditConnectionForm.tsx";

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
  const [answer, setAnswer] = useState<SavedConnection | null>(null);
  const close = () => {
    setAnswer(null);
    onClose();
  };
  const forms = {
    onClose: close,
    onSaved: (saved: SavedConnection) => (saved.verified ? setAnswer(saved) : close()),
  };
  return (
    <FormDialog
      opened={isOpen}
      onClose={close}
      closeOnClickOutside={false}
      title={connection ? `Edit ${connection.name}` : "Add connection"}
      size="lg"
    >
      {answer?.verified ? (
        <Stack gap="md">
          <div role="status">
            <VerifiedAnswer verified={answer.verified} />
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

function VerifiedAnswer({ verified }: { verified: VerifiedConnection }) {
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
