import { Modal, Text } from "@mantine/core";
import { ShownOnce, STAYS_OPEN } from "../ui/copy/ShownOnce.tsx";

/** Shown once: whoever loses the phone comes in with one of these. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[] | null; onClose: () => void }) {
  return (
    <Modal opened={codes !== null} onClose={onClose} title="Keep your recovery codes" {...STAYS_OPEN}>
      {codes && (
        <ShownOnce
          intro={
            <Text size="sm">
              Each of these signs you in once when you cannot use your authenticator app. They are shown only now: keep
              them where you keep passwords.
            </Text>
          }
          label="Recovery codes"
          value={codes.join("\n")}
          doneLabel="I have kept them"
          onDone={onClose}
        />
      )}
    </Modal>
  );
}
