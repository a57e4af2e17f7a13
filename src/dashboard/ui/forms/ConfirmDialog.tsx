import { Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { FormButtons, FormDialog } from "./FormDialog.tsx";

export type ConfirmWords = {
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
