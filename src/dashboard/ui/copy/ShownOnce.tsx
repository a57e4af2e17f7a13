import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { LeaveGuard } from "../forms/LeaveGuard.tsx";
import { CopyField } from "./CopyField.tsx";

/** Of the dialog around it: only its button closes it. */
export const STAYS_OPEN = { withCloseButton: false, closeOnClickOutside: false, closeOnEscape: false } as const;

type ShownOnceProps = {
  /** What it is and what to do with it. */
  intro: ReactNode;
  label: string;
  value: string;
  /** Below the value. */
  children?: ReactNode;
  doneLabel?: string;
  onDone: () => void;
};

/** A secret, the one time it is shown. It takes the focus, and is not left without a question before it is said to be kept. */
export function ShownOnce({ intro, label, value, children, doneLabel = "I have kept it", onDone }: ShownOnceProps) {
  return (
    <Stack gap="md">
      <LeaveGuard isDirty title="Leave without keeping it?">
        What you see here is shown only now. Once you leave, nobody can bring it back.
      </LeaveGuard>
      {intro}
      <CopyField label={label} value={value} isFocused />
      {children}
      <Group justify="flex-end">
        <Button onClick={onDone}>{doneLabel}</Button>
      </Group>
    </Stack>
  );
}
