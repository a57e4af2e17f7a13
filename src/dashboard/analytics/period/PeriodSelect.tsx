import { Button, Divider, Group, NumberInput, Popover, Stack, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCalendar, IconCheck, IconChevronDown } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import { WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { toDayCount } from "../../days.ts";
import { DayRangeCalendar } from "../../ui/forms/DayRangeCalendar.tsx";
import classes from "./PeriodSelect.module.css";
import { type ChosenPeriod, describePeriod, isSamePeriod, PRESETS } from "./periods.ts";

type PeriodProps = { value: ChosenPeriod; onChange: (period: ChosenPeriod) => void };

export function PeriodSelect({ value, onChange }: PeriodProps) {
  const [isOpen, popover] = useDisclosure(false);
  const choose = (period: ChosenPeriod) => {
    popover.close();
    onChange(period);
  };
  return (
    <Popover opened={isOpen} onChange={popover.toggle} position="bottom-start" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconCalendar size={17} stroke={1.6} />}
          rightSection={<IconChevronDown size={15} stroke={1.6} />}
          onClick={popover.toggle}
        >
          {describePeriod(value)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <div className={classes["choices"]}>
          <div className={classes["presets"]}>
            {PRESETS.map(({ label, chosen }) => {
              const isChosen = isSamePeriod(chosen, value);
              return (
                <UnstyledButton
                  key={label}
                  className={classes["preset"]}
                  aria-pressed={isChosen}
                  onClick={() => choose(chosen)}
                  {...(isChosen ? { "data-autofocus": true } : {})}
                >
                  {label}
                  {isChosen && <IconCheck size={15} stroke={2} aria-hidden />}
                </UnstyledButton>
              );
            })}
          </div>
          <CustomForm value={value} onChange={choose} />
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

function CustomForm({ value, onChange }: PeriodProps) {
  const [days, setDays] = useState<number | string>(Number(toDayCount(value.days)));
  const isDays = typeof days === "number" && Number.isInteger(days) && days >= 1 && days <= WINDOW_DAYS_MAX;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isDays) onChange({ period: "", days: String(days), from: "", to: "" });
  };
  return (
    <Stack gap="sm" p="md">
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
        onChoose={(range) => onChange({ period: "", days: value.days, ...range })}
      />
      <Text size="xs" c="dimmed">
        Up to {WINDOW_DAYS_MAX} days.
      </Text>
    </Stack>
  );
}
