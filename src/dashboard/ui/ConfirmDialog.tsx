import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";

type ConfirmDialogProps = {
  isOpen: boolean;
  title: string;
  /** What will happen, in full sentences. */
  children: ReactNode;
  /** The verb: "Remove", not "OK". */
  confirmLabel: string;
  isDangerous?: boolean;
  /** Has to be typed first, for what cannot be undone. */
  typed?: { expected: string; label: string };
  isBusy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
};

export function ConfirmDialog(about: ConfirmDialogProps) {
  const { isOpen, title, children, confirmLabel, isDangerous = true, typed, isBusy = false } = about;
  const [text, setText] = useState("");
  useEffect(() => {
    if (!isOpen) setText("");
  }, [isOpen]);
  const isReady = !typed || text.trim().toLowerCase() === typed.expected.toLowerCase();
  const confirm = (event: FormEvent) => {
    event.preventDefault();
    if (isReady && !isBusy) about.onConfirm();
  };
  return (
    <Modal opened={isOpen} onClose={about.onClose} title={title}>
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
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={about.onClose}>
              Cancel
            </Button>
            <Button type="submit" color={isDangerous ? "red" : "petrol"} disabled={!isReady} loading={isBusy}>
              {confirmLabel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
