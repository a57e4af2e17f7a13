import { Button, Group } from "@mantine/core";

type FormButtonsProps = {
  /** Verb and object: "Create key", not "OK". */
  label: string;
  onCancel: () => void;
  cancelLabel?: string;
  isReady?: boolean;
  isBusy?: boolean;
  isDangerous?: boolean;
};

/** The buttons below every form in a dialog. */
export function FormButtons({
  label,
  onCancel,
  cancelLabel = "Cancel",
  isReady = true,
  isBusy = false,
  isDangerous = false,
}: FormButtonsProps) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        {cancelLabel}
      </Button>
      <Button type="submit" color={isDangerous ? "red" : "petrol"} disabled={!isReady} loading={isBusy}>
        {label}
      </Button>
    </Group>
  );
}
