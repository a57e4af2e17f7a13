import { Modal, Text } from "@mantine/core";
import { PERSISTENT, ShownOnce } from "../ui/copy/ShownOnce.tsx";

/** Recovery codes, shown only once. They replace the authenticator app if the phone is lost. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[] | null; onClose: () => void }) {
  return (
    <Modal opened={codes !== null} onClose={onClose} title="Save your recovery codes" {...PERSISTENT}>
      {codes && (
        <ShownOnce
          intro={
            <Text size="sm">
              If you lose access to your authenticator app, you can sign in with one of these codes. Each code works
              once. They won’t be shown again, so save them in your password manager.
            </Text>
          }
          label="Recovery codes"
          value={codes.join("\n")}
          doneLabel="I’ve saved them"
          onDone={onClose}
        />
      )}
    </Modal>
  );
}
