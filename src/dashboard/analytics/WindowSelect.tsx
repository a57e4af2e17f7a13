import { Button, Divider, Group, NumberInput, Popover, SegmentedControl, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCalendar, IconChevronDown } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { describeDayRange } from "../day-range.ts";
import { type DayRange, DayRangeCalendar } from "../ui/forms/DayRangeCalendar.tsx";

type ChosenWindow = DayRange & { days: string };

const PRESETS = ["7", "30", "90", "365"];
/** Not a preset, so that no preset is highlighted. */
const CUSTOM = "custom";

/** The last 7, 30, 90 or 365 days, any number of days, or a range of days. */
export function WindowSelect({ value, onChange }: { value: ChosenWindow; onChange: (window: ChosenWindow) => void }) {
  const hasDates = value.from !== "" || value.to !== "";
  const isPreset = !hasDates && PRESETS.includes(value.days);
  return (
    <Group gap="xs">
      <SegmentedControl
        aria-label="Period"
        value={isPreset ? value.days : CUSTOM}
        onChange={(days) => onChange({ days, from: "", to: "" })}
        data={PRESETS.map((days) => ({ value: days, label: `${days} days` }))}
      />
      <CustomWindow value={value} isChosen={!isPreset} onChange={onChange} />
    </Group>
  );
}

type CustomProps = { value: ChosenWindow; isChosen: boolean; onChange: (window: ChosenWindow) => void };

function CustomWindow({ value, isChosen, onChange }: CustomProps) {
  const [isOpen, popover] = useDisclosure(false);
  const choose = (window: ChosenWindow) => {
    popover.close();
    onChange(window);
  };
  return (
    <Popover opened={isOpen} onChange={popover.toggle} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant={isChosen ? "light" : "default"}
          leftSection={<IconCalendar size={17} stroke={1.6} />}
          rightSection={<IconChevronDown size={15} stroke={1.6} />}
          onClick={popover.toggle}
        >
          {isChosen ? describeDayRange(value.from, value.to) || `${value.days} days` : "Custom"}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Custom period">
        <CustomForm value={value} onChoose={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

function CustomForm({ value, onChoose }: { value: ChosenWindow; onChoose: (window: ChosenWindow) => void }) {
  const [days, setDays] = useState<number | string>(Number(value.days));
  const isDays = typeof days === "number" && Number.isInteger(days) && days >= 1 && days <= WINDOW_DAYS_MAX;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isDays) onChoose({ days: String(days), from: "", to: "" });
  };
  return (
    <Stack gap="sm">
      <form onSubmit={submit}>
        <Group align="flex-end" gap="xs" wrap="nowrap">
          <NumberInput
            label="Number of days, including today"
            min={1}
            max={WINDOW_DAYS_MAX}
            allowDecimal={false}
            value={days}
            onChange={setDays}
            flex={1}
            data-autofocus
          />
          <Button type="submit" disabled={!isDays}>
            Apply
          </Button>
        </Group>
      </form>
      <Divider label="or choose dates" />
      <DayRangeCalendar
        from={value.from}
        to={value.to}
        onChoose={(range) => onChoose({ days: value.days, ...range })}
      />
      <Text size="xs" c="dimmed">
        Up to {WINDOW_DAYS_MAX} days.
      </Text>
    </Stack>
  );
}
