import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { LeaveGuard } from "../forms/LeaveGuard.tsx";
import { CopyField } from "./CopyField.tsx";

/** Modal props: only the dialog's own button closes it. */
export const PERSISTENT = { withCloseButton: false, closeOnClickOutside: false, closeOnEscape: false } as const;

type ShownOnceProps = {
  intro: ReactNode;
  label: string;
  value: string;
  children?: ReactNode;
  doneLabel?: string;
  onDone: () => void;
};

/** A secret, shown only once. Leaving the page asks for confirmation until the person says that they saved it. */
export function ShownOnce({ intro, label, value, children, doneLabel = "I’ve saved it", onDone }: ShownOnceProps) {
  return (
    <Stack gap="md">
      <LeaveGuard isDirty title="Leave without saving it?">
        This is shown only once. You won’t be able to see it again.
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
