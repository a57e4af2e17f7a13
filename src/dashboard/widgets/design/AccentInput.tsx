import { ColorSwatch, Group, TextInput, UnstyledButton } from "@mantine/core";
import type { ReactNode } from "react";
import { parseAccentColor } from "#contract/widgets/widget-looks.ts";
import classes from "./AccentInput.module.css";

/** The booking frame's default: DEFAULT_ACCENT in src/widget/frame/look.ts. */
const FRAME_ACCENT = "#4b45d6";
const SWATCHES = [
  [FRAME_ACCENT, "Indigo"],
  ["#0b5c6f", "Teal"],
  ["#1a6b3c", "Green"],
  ["#b45309", "Amber"],
  ["#b42318", "Red"],
  ["#a21caf", "Purple"],
  ["#20272b", "Black"],
] as const;

type AccentInputProps = {
  value?: string;
  onChange?: (color: string) => void;
  error?: ReactNode;
  readOnly?: boolean;
};

/** A colour as text, from the browser's colour picker, or from a few suggestions. */
export function AccentInput({ value = "", onChange, error, readOnly = false }: AccentInputProps) {
  const color = parseAccentColor(value.trim());
  return (
    <div>
      <TextInput
        label="Accent colour"
        description="Used for buttons and selected times. Defaults to indigo."
        placeholder={FRAME_ACCENT}
        value={value}
        error={error}
        readOnly={readOnly}
        onChange={(event) => onChange?.(event.currentTarget.value)}
        leftSection={
          <input
            type="color"
            aria-label="Choose accent colour"
            className={classes["picker"]}
            value={color ?? FRAME_ACCENT}
            disabled={readOnly}
            onChange={(event) => onChange?.(event.currentTarget.value)}
          />
        }
      />
      {!readOnly && (
        <Group gap={6} mt={8} role="group" aria-label="Suggested colours">
          {SWATCHES.map(([swatch, name]) => (
            <UnstyledButton
              key={swatch}
              aria-label={name}
              aria-pressed={color === swatch}
              className={classes["swatch"]}
              onClick={() => onChange?.(swatch)}
            >
              <ColorSwatch color={swatch} size={24} />
            </UnstyledButton>
          ))}
        </Group>
      )}
    </div>
  );
}
