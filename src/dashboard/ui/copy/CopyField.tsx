import { ActionIcon, Box, Group, Text, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import classes from "./CopyField.module.css";

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

/** Names, texts, and numbers or literals; splitting gives plain text and tokens in turn. */
const TOKENS = /("(?:[^"\\]|\\.)*"\s*:?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/;

function JsonText({ text }: { text: string }) {
  return text.split(TOKENS).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other identity
      <span key={index} className={classes[toKind(piece)]}>
        {piece}
      </span>
    ),
  );
}

function toKind(token: string): "name" | "text" | "literal" {
  if (!token.startsWith('"')) return "literal";
  return token.endsWith(":") ? "name" : "text";
}
