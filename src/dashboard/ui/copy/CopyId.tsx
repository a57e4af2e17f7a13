import { Box, Group } from "@mantine/core";
import { CopyButton } from "./CopyField.tsx";

/** An identifier to be taken elsewhere, in the line it stands in. */
export function CopyId({ value, label }: { value: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <code>{value}</code>
      {/* Taller than the line, which it must not stretch. */}
      <Box my={-7}>
        <CopyButton value={value} label={label} />
      </Box>
    </Group>
  );
}
