import { Button, Group } from "@mantine/core";
import { useContext, useEffect } from "react";
import { FormDialogContext } from "./FormDialog.tsx";

type FormButtonsProps = {
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
    <Group justify="flex-end" gap="xs">
      <Button variant="default" disabled={isBusy} onClick={onCancel}>
        {cancelLabel}
      </Button>
      <Button type="submit" color={isDangerous ? "red" : "petrol"} disabled={!isReady} loading={isBusy}>
        {label}
      </Button>
    </Group>
  );
}
