import { Anchor, Badge, Button, Group, Modal, PasswordInput, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import { encode } from "uqr";
import type { Me } from "#contract/app/account.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { PERSISTENT, ShownOnce } from "../ui/copy/ShownOnce.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./TwoFactorSetUp.module.css";

type Open = "set-up" | "turn-off" | "new-codes" | null;

export function TwoFactorSection({ user }: { user: Me["user"] }) {
  const [open, setOpen] = useState<Open>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const queries = useQueryClient();
  const close = () => setOpen(null);
  return (
    <Section
      title="Two-factor authentication"
      description="Requires a code from your phone in addition to your password."
      actions={user.isTwoFactorOn ? <Badge color="green">On</Badge> : <Badge color="gray">Off</Badge>}
    >
      <TwoFactorButtons user={user} onOpen={setOpen} />
      <TwoFactorSetUp
        isOpen={open === "set-up"}
        onClose={close}
        onDone={(created) => {
          close();
          setCodes(created);
          void queries.invalidateQueries({ queryKey: meKey });
        }}
      />
      <PasswordDialog
        isOpen={open === "turn-off"}
        title="Turn off two-factor authentication?"
        confirmLabel="Turn off two-factor authentication"
        isDangerous
        run={(password) => call("disableTwoFactor", { body: { password } })}
        successMessage="Two-factor authentication turned off"
        onClose={close}
        onDone={() => {
          close();
          void queries.invalidateQueries({ queryKey: meKey });
        }}
      >
        You’ll sign in with your password only. Your recovery codes will stop working.
      </PasswordDialog>
      <PasswordDialog
        isOpen={open === "new-codes"}
        title="Create new recovery codes?"
        confirmLabel="Create codes"
        run={(password) => call("createRecoveryCodes", { body: { password } })}
        onClose={close}
        onDone={({ backupCodes }) => {
          close();
          setCodes(backupCodes);
        }}
      >
        Your current codes will stop working.
      </PasswordDialog>
      <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />
    </Section>
  );
}

type ButtonsProps = { user: Me["user"]; onOpen: (what: Open) => void };

function TwoFactorButtons({ user, onOpen }: ButtonsProps) {
  if (user.isTwoFactorOn)
    return (
      <Group gap="xs">
        <Button variant="default" onClick={() => onOpen("new-codes")}>
          Create new recovery codes
        </Button>
        <Button variant="default" color="red" onClick={() => onOpen("turn-off")}>
          Turn off two-factor authentication
        </Button>
      </Group>
    );
  const verdict = user.hasPassword
    ? ({ isAllowed: true } as const)
    : ({
        isAllowed: false,
        reason: "Set a password first. You need one to turn on two-factor authentication.",
      } as const);
  return (
    <Group gap="md">
      <ActionButton verdict={verdict} onClick={() => onOpen("set-up")}>
        Set up two-factor authentication
      </ActionButton>
      <Text size="sm" c="dimmed">
        You need an authenticator app on your phone.
      </Text>
    </Group>
  );
}

/** Recovery codes, shown only once. They replace the authenticator app if the phone is lost. */
function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[] | null; onClose: () => void }) {
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

type TwoFactorSetUpProps = { isOpen: boolean; onClose: () => void; onDone: (recoveryCodes: readonly string[]) => void };
type Created = { totpURI: string; backupCodes: readonly string[] };

/** Password first, then the key for the authenticator app, then a code to prove that the app works. */
function TwoFactorSetUp({ isOpen, onClose, onDone }: TwoFactorSetUpProps) {
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

type PasswordDialogProps<Output> = {
  isOpen: boolean;
  title: string;
  children: ReactNode;
  confirmLabel: string;
  isDangerous?: boolean;
  run: (password: string) => Promise<Output>;
  successMessage?: string;
  onClose: () => void;
  /** The caller closes the dialog, or shows the next step. */
  onDone: (output: Output) => void;
};

function PasswordDialog<Output>(props: PasswordDialogProps<Output>) {
  const form = useForm({ initialValues: { password: "" } });
  const close = () => {
    form.reset();
    confirm.reset();
    props.onClose();
  };
  const confirm = useAction({
    run: ({ password }: { password: string }) => props.run(password),
    form,
    successMessage: () => props.successMessage ?? null,
    onDone: (output) => {
      form.reset();
      props.onDone(output);
    },
  });
  return (
    <FormDialog opened={props.isOpen} onClose={close} title={props.title}>
      <ActionForm
        form={form}
        action={confirm}
        label={props.confirmLabel}
        isDangerous={props.isDangerous ?? false}
        onCancel={close}
      >
        <Text size="sm" component="div">
          {props.children}
        </Text>
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          data-autofocus
          {...form.getInputProps("password")}
        />
      </ActionForm>
    </FormDialog>
  );
}
