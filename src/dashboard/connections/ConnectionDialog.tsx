import { Button, Group, Modal, Stack } from "@mantine/core";
import { useState } from "react";
import type { AppConnection, SavedConnection, VerifiedConnection } from "#contract/app/connections.ts";
import { AddConnectionForm } from "./AddConnectionForm.tsx";
import { EditConnectionForm } from "./EditConnectionForm.tsx";
import { VerifiedAnswer } from "./VerifiedAnswer.tsx";

type ConnectionDialogProps = {
  /** Null: a new one. */
  connection: AppConnection | null;
  isOpen: boolean;
  onClose: () => void;
};

/** What was saved was asked first: its answer is shown before the dialog closes. */
export function ConnectionDialog({ connection, isOpen, onClose }: ConnectionDialogProps) {
  const [answer, setAnswer] = useState<VerifiedConnection | null>(null);
  const close = () => {
    setAnswer(null);
    onClose();
  };
  const forms = {
    onClose: close,
    onSaved: ({ verified }: SavedConnection) => (verified ? setAnswer(verified) : close()),
  };
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      closeOnClickOutside={false}
      title={connection ? `Edit ${connection.name}` : "Connect a scheduling system"}
      size="lg"
    >
      {answer ? (
        <Stack gap="md">
          <div role="status">
            <VerifiedAnswer verified={answer} />
          </div>
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      ) : connection ? (
        <EditConnectionForm connection={connection} {...forms} />
      ) : (
        <AddConnectionForm {...forms} />
      )}
    </Modal>
  );
}
