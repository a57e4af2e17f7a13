import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { CopyField } from "../ui/CopyField.tsx";

/** Shown once: whoever loses the phone comes in with one of these. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[] | null; onClose: () => void }) {
  return (
    <Modal
      opened={codes !== null}
      onClose={onClose}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title="Keep your recovery codes"
    >
      <Stack gap="md">
        <Text size="sm">
          Each of these signs you in once when you cannot use your authenticator app. They are shown only now: keep them
          where you keep passwords.
        </Text>
        <CopyField label="Recovery codes" value={(codes ?? []).join("\n")} />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have kept them</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
