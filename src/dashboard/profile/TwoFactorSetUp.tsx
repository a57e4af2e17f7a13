import { Anchor, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMemo, useState } from "react";
import { encode } from "uqr";
import { call } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { PasswordDialog } from "./PasswordDialog.tsx";
import classes from "./TwoFactorSetUp.module.css";

type TwoFactorSetUpProps = { isOpen: boolean; onClose: () => void; onDone: (recoveryCodes: readonly string[]) => void };
type Created = { totpURI: string; backupCodes: readonly string[] };

/** Password first, then the key for the authenticator app, then a code to prove that the app works. */
export function TwoFactorSetUp({ isOpen, onClose, onDone }: TwoFactorSetUpProps) {
  const [created, setCreated] = useState<Created | null>(null);
  const close = () => {
    setCreated(null);
    onClose();
  };
  return (
    <>
      <PasswordDialog
        isOpen={isOpen && created === null}
        title="Set up two-factor authentication"
        confirmLabel="Continue"
        run={(password) => call("enableTwoFactor", { body: { password } })}
        onClose={onClose}
        onDone={setCreated}
      >
        Confirm your password first.
      </PasswordDialog>
      <FormDialog opened={isOpen && created !== null} onClose={close} title="Add Bookflow to your authenticator app">
        {created && (
          <ConfirmStep
            uri={created.totpURI}
            onClose={close}
            onConfirmed={() => {
              setCreated(null);
              onDone(created.backupCodes);
            }}
          />
        )}
      </FormDialog>
    </>
  );
}

function ConfirmStep({ uri, onClose, onConfirmed }: { uri: string; onClose: () => void; onConfirmed: () => void }) {
  const form = useForm({ initialValues: { code: "" } });
  const confirm = useAction({
    run: ({ code }: { code: string }) => call("confirmTwoFactor", { body: { code: code.replaceAll(/\s/g, "") } }),
    form,
    successMessage: () => "Two-factor authentication turned on",
    onDone: onConfirmed,
  });
  const secret = new URL(uri).searchParams.get("secret") ?? "";
  return (
    <ActionForm form={form} action={confirm} label="Turn on two-factor authentication" onCancel={onClose}>
      <Text size="sm">
        Scan this code with your authenticator app. If the app is on this device,{" "}
        <Anchor href={uri} inherit underline="always">
          open it
        </Anchor>
        . You can also enter the key by hand (time-based, six digits).
      </Text>
      <QrCode text={uri} label="QR code with the key for your authenticator app" />
      <CopyField label="Key" value={secret.replaceAll(/.{4}(?=.)/g, "$& ")} />
      <TextInput
        label="Code from the app"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={7}
        required
        data-autofocus
        {...form.getInputProps("code")}
      />
    </ActionForm>
  );
}

/** The empty border that cameras need, in modules. */
const QUIET_ZONE = 4;

/** Dark on white in both colour schemes: many cameras can't read light on dark. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = useMemo(() => encode(text, { ecc: "M", border: QUIET_ZONE }), [text]);
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className={classes["code"]} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={squares.join("")} shapeRendering="crispEdges" />
    </svg>
  );
}
