import { ActionIcon, Group, Text, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import classes from "./CopyField.module.css";

const SAID_MS = 2_000;

type CopyButtonProps = {
  value: string;
  label?: string;
  /** Takes the focus when it appears. */
  isFocused?: boolean;
};

export function CopyButton({ value, label = "Copy", isFocused = false }: CopyButtonProps) {
  const clipboard = useClipboard({ timeout: SAID_MS });
  const said = clipboard.copied ? "Copied" : label;
  return (
    <Tooltip label={said}>
      <ActionIcon aria-label={said} autoFocus={isFocused} onClick={() => clipboard.copy(value)}>
        {clipboard.copied ? <IconCheck size={18} /> : <IconCopy size={18} stroke={1.6} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** A value to be taken elsewhere: a key, a link, a snippet of several lines. */
export function CopyField({ value, label, isFocused = false }: CopyButtonProps & { label: string }) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {label}
      </Text>
      <Group gap="xs" wrap="nowrap" align="flex-start" className={classes["field"]}>
        <pre className={classes["value"]}>{value}</pre>
        <CopyButton value={value} label={`Copy ${label.toLowerCase()}`} isFocused={isFocused} />
      </Group>
    </div>
  );
}
