import { Button, Group, Modal, type ModalProps } from "@mantine/core";
import { createContext, useContext, useEffect, useState } from "react";
import classes from "./FormDialog.module.css";

/** How a form tells the dialog around it whether it is being sent. */
const FormDialogContext = createContext<(isBusy: boolean) => void>(() => undefined);

/** Can't be closed while the form is being sent: the response may be a secret that is shown only once. */
export function FormDialog({ onClose, ...props }: ModalProps) {
  const [isBusy, setBusy] = useState(false);
  return (
    <FormDialogContext value={setBusy}>
      <Modal
        {...props}
        onClose={() => {
          if (!isBusy) onClose();
        }}
        onExitTransitionEnd={focusHeading}
      />
    </FormDialogContext>
  );
}

/** Mantine returns the focus after 10 ms. */
const FOCUS_RETURNED_MS = 50;

/** A dialog that a link from another screen opened has no button to return to. */
function focusHeading(): void {
  window.setTimeout(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>("h1")?.focus();
  }, FOCUS_RETURNED_MS);
}

export type FormButtonsProps = {
  /** Verb and object: "Create key", not "OK". */
  label: string;
  onCancel: () => void;
  cancelLabel?: string;
  isReady?: boolean;
  isBusy?: boolean;
  isDangerous?: boolean;
};

export function FormButtons({
  label,
  onCancel,
  cancelLabel = "Cancel",
  isReady = true,
  isBusy = false,
  isDangerous = false,
}: FormButtonsProps) {
  const setDialogBusy = useContext(FormDialogContext);
  useEffect(() => {
    setDialogBusy(isBusy);
    return () => setDialogBusy(false);
  }, [isBusy, setDialogBusy]);
  return (
    <Group justify="flex-end" gap="xs" className={classes["buttons"]}>
      <Button variant="default" disabled={isBusy} onClick={onCancel}>
        {cancelLabel}
      </Button>
      <Button type="submit" color={isDangerous ? "red" : "petrol"} disabled={!isReady} loading={isBusy}>
        {label}
      </Button>
    </Group>
  );
}
