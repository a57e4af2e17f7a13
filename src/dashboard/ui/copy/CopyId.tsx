import { Box, Group } from "@mantine/core";
import { CopyButton } from "./CopyField.tsx";

export function CopyId({ value, label }: { value: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <code>{value}</code>
      {/* The button is taller than the line and must not stretch it. */}
      <Box my={-7}>
        <CopyButton value={value} label={label} />
      </Box>
    </Group>
  );
}
