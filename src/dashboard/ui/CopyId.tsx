import { Group } from "@mantine/core";
import { CopyButton } from "./CopyField.tsx";

/** An identifier to be taken elsewhere, in the line it stands in. */
export function CopyId({ value, label }: { value: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap" my={-7}>
      <code>{value}</code>
      <CopyButton value={value} label={label} />
    </Group>
  );
}
