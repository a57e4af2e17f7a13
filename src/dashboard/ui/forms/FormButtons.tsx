import { Button, Group } from "@mantine/core";

type FormButtonsProps = {
  /** The verb: "Remove", not "OK". */
  label: string;
  onCancel: () => void;
  cancelLabel?: string;
  isReady?: boolean;
  isBusy?: boolean;
  isDangerous?: boolean;
};

/** The end of every form in a dialog. */
export function FormButtons(about: FormButtonsProps) {
  const { label, onCancel, cancelLabel = "Cancel", isReady = true, isBusy = false, isDangerous = false } = about;
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
