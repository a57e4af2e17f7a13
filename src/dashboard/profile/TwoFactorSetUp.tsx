import { Anchor, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { call } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { FormButtons } from "../ui/forms/FormButtons.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { PasswordDialog } from "./PasswordDialog.tsx";
import { QrCode } from "./QrCode.tsx";

type TwoFactorSetUpProps = { isOpen: boolean; onClose: () => void; onDone: (recoveryCodes: readonly string[]) => void };
type Made = { totpURI: string; backupCodes: readonly string[] };

/** Password, then the secret for the app, then a code from it that shows that it works. */
export function TwoFactorSetUp({ isOpen, onClose, onDone }: TwoFactorSetUpProps) {
  const [made, setMade] = useState<Made | null>(null);
  const close = () => {
    setMade(null);
    onClose();
  };
  return (
    <>
      <PasswordDialog
        isOpen={isOpen && made === null}
        title="Set up two-factor sign-in"
        confirmLabel="Go on"
        run={(password) => call("enableTwoFactor", { body: { password } })}
        onClose={onClose}
        onDone={setMade}
      >
        First your password, so that nobody else does this in your name.
      </PasswordDialog>
      <Modal opened={isOpen && made !== null} onClose={close} title="Add Bookflow to your app">
        {made && (
          <ConfirmStep
            uri={made.totpURI}
            onClose={close}
            onConfirmed={() => {
              setMade(null);
              onDone(made.backupCodes);
            }}
          />
        )}
      </Modal>
    </>
  );
}

function ConfirmStep({ uri, onClose, onConfirmed }: { uri: string; onClose: () => void; onConfirmed: () => void }) {
  const form = useForm({ initialValues: { code: "" } });
  const confirm = useAction({
    run: (code: string) => call("confirmTwoFactor", { body: { code } }),
    form,
    isQuiet: true,
    says: () => "Two-factor sign-in is on.",
    onDone: onConfirmed,
  });
  const secret = new URL(uri).searchParams.get("secret") ?? "";
  return (
    <form onSubmit={form.onSubmit(({ code }) => confirm.mutate(code.replaceAll(/\s/g, "")))}>
      <Stack gap="md">
        <Text size="sm">
          Scan this with your authenticator app. If the app is on this device,{" "}
          <Anchor href={uri} inherit underline="always">
            open it from here
          </Anchor>
          ; or add an account by hand and type the key. It is time-based, with six digits.
        </Text>
        <QrCode text={uri} label="QR code with the key for your authenticator app" />
        <CopyField label="Key" value={secret.replaceAll(/.{4}(?=.)/g, "$& ")} />
        <FormFault error={confirm.error} />
        <TextInput
          label="Code from the app"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={7}
          required
          data-autofocus
          {...form.getInputProps("code")}
        />
        <FormButtons label="Switch on" isBusy={confirm.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
