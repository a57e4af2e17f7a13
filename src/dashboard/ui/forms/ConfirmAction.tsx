import { useDisclosure } from "@mantine/hooks";
import type { ComponentProps, ReactNode } from "react";
import { type ActionOptions, useAction } from "../../hooks/use-action.ts";
import { ActionButton } from "./ActionButton.tsx";
import { ConfirmDialog, type ConfirmWords } from "./ConfirmDialog.tsx";

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
    onDone: (...answer) => {
      onClose();
      action.onDone?.(...answer);
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
