import { ActionIcon, Group, Text, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import classes from "./CopyField.module.css";
import { JsonText } from "./JsonText.tsx";

const COPIED_MS = 2_000;

type CopyButtonProps = {
  value: string;
  label?: string;
  /** Takes the focus when it appears. */
  isFocused?: boolean;
};

export function CopyButton({ value, label = "Copy", isFocused = false }: CopyButtonProps) {
  const clipboard = useClipboard({ timeout: COPIED_MS });
  const status = clipboard.copied ? "Copied" : label;
  return (
    <Tooltip label={status}>
      <ActionIcon aria-label={status} autoFocus={isFocused} onClick={() => clipboard.copy(value)}>
        {clipboard.copied ? <IconCheck size={18} /> : <IconCopy size={18} stroke={1.6} />}
      </ActionIcon>
    </Tooltip>
  );
}

type CopyFieldProps = CopyButtonProps & {
  label: string;
  isJson?: boolean;
};

export function CopyField({ value, label, isFocused = false, isJson = false }: CopyFieldProps) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {label}
      </Text>
      <Group gap="xs" wrap="nowrap" align="flex-start" className={classes["field"]}>
        <pre className={classes["value"]}>{isJson ? <JsonText text={value} /> : value}</pre>
        <CopyButton value={value} label={`Copy ${toLowerStart(label)}`} isFocused={isFocused} />
      </Group>
    </div>
  );
}

/** "Signing secret" in the middle of a sentence; "API key" keeps its capitals. */
function toLowerStart(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
}
