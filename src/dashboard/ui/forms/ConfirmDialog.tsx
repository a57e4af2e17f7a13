import { Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ComponentProps, type FormEvent, type ReactNode, useEffect, useState } from "react";
import { type ActionOptions, useAction } from "../../hooks/use-action.ts";
import { ActionButton } from "./ActionButton.tsx";
import { FormButtons, FormDialog } from "./FormDialog.tsx";

type ConfirmWords = {
  title: string;
  children: ReactNode;
  /** Verb and object: "Remove member", not "OK". */
  confirmLabel: string;
  isDangerous?: boolean;
  /** Text to type first, for what cannot be undone. */
  typed?: { expected: string; label: string };
  /** There is nothing to confirm. */
  isDisabled?: boolean;
};

type ConfirmDialogProps = ConfirmWords & {
  isOpen: boolean;
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

export function ConfirmDialog({
  isOpen,
  title,
  children,
  confirmLabel,
  isDangerous = true,
  typed,
  isBusy = false,
  isDisabled = false,
  onConfirm,
  onClose,
}: ConfirmDialogProps) {
  const [text, setText] = useState("");
  useEffect(() => {
    if (!isOpen) setText("");
  }, [isOpen]);
  const isReady = !isDisabled && (!typed || text.trim().toLowerCase() === typed.expected.toLowerCase());
  const confirm = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !isBusy) onConfirm();
  };
  return (
    <FormDialog opened={isOpen} onClose={onClose} title={title}>
      <form onSubmit={confirm}>
        <Stack gap="md">
          <Text component="div" size="sm">
            {children}
          </Text>
          {typed && (
            <TextInput
              label={typed.label}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
          )}
          <FormButtons
            label={confirmLabel}
            isReady={isReady}
            isBusy={isBusy}
            isDangerous={isDangerous}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </FormDialog>
  );
}

type ConfirmActionProps<Subject, Output> = ConfirmWords & {
  /** What the action is for; null while the dialog is closed. */
  subject: Subject | null;
  action: ActionOptions<Subject, Output>;
  isBusy?: boolean;
  onClose: () => void;
};

/** Runs an action after confirmation, and closes when it is done. */
export function ConfirmAction<Subject, Output>(props: ConfirmActionProps<Subject, Output>) {
  const { subject, action, isBusy = false, onClose, ...words } = props;
  const confirmed = useAction<Subject, Output>({
    ...action,
    onDone: (...results) => {
      onClose();
      action.onDone?.(...results);
    },
  });
  return (
    <ConfirmDialog
      {...words}
      isOpen={subject !== null}
      isBusy={isBusy || confirmed.isPending}
      onConfirm={() => subject !== null && confirmed.mutate(subject)}
      onClose={onClose}
    />
  );
}

type ConfirmButtonProps<Output> = Omit<ConfirmWords, "confirmLabel"> & {
  /** Verb and object, on the button and again in its dialog. */
  label: string;
  button: Omit<ComponentProps<typeof ActionButton>, "onClick" | "children">;
  action: ActionOptions<true, Output>;
  children: ReactNode;
};

/** A button that asks before it runs its action. */
export function ConfirmButton<Output>({ label, button, ...dialog }: ConfirmButtonProps<Output>) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <ActionButton {...button} onClick={open}>
        {label}
      </ActionButton>
      <ConfirmAction {...dialog} confirmLabel={label} subject={isOpen || null} onClose={close} />
    </>
  );
}
