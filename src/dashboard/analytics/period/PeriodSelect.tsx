import { Button, Divider, Group, Menu, Modal, NumberInput, Popover, Stack, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconArrowsDiff, IconCalendar, IconCheck, IconChevronDown } from "@tabler/icons-react";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Comparison, Match } from "#contract/app/analytics.ts";
import { WINDOW_DAYS_MAX } from "#contract/limits.ts";
import { describeDayRange, toDayCount } from "../../days.ts";
import { type DayRange, DayRangeCalendar } from "../../ui/forms/DayRangeCalendar.tsx";
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

const CHOICES: readonly { value: Comparison; label: string; chosenLabel: ReactNode }[] = [
  {
    value: "previous",
    label: "Previous period",
    chosenLabel: (
      <>
        vs. previous<span data-wide-only>&nbsp;period</span>
      </>
    ),
  },
  { value: "year", label: "Same period last year", chosenLabel: "vs. last year" },
  { value: "custom", label: "Custom period…", chosenLabel: "vs. custom period" },
  { value: "none", label: "No comparison", chosenLabel: "No comparison" },
];

const MATCH_CHOICES: readonly { value: Match; label: string }[] = [
  { value: "weekday", label: "Match day of week" },
  { value: "date", label: "Match exact dates" },
];

type CompareProps = {
  compare: string;
  match: string;
  range: DayRange;
  onChange: (compare: Comparison, range: DayRange) => void;
  onMatch: (match: Match) => void;
};

const CHOSEN = <IconCheck size={15} stroke={2} aria-label="selected" />;
const NO_RANGE: DayRange = { from: "", to: "" };

export function CompareSelect({ compare, match, range, onChange, onMatch }: CompareProps) {
  const [isOpen, calendar] = useDisclosure(false);
  const days = compare === "custom" ? describeDayRange(range.from, range.to) : "";
  const chosen = CHOICES.find(({ value }) => value === compare) ?? CHOICES[0];
  return (
    <>
      <Menu position="bottom-start" withinPortal={false}>
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<IconArrowsDiff size={17} stroke={1.6} />}
            rightSection={<IconChevronDown size={15} stroke={1.6} />}
          >
            {days === "" ? chosen?.chosenLabel : `vs. ${days}`}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {CHOICES.map(({ value, label: name }) => (
            <Menu.Item
              key={value}
              rightSection={value === compare ? CHOSEN : null}
              onClick={() => (value === "custom" ? calendar.open() : onChange(value, NO_RANGE))}
            >
              {name}
            </Menu.Item>
          ))}
          {(compare === "previous" || compare === "year") && (
            <>
              <Menu.Divider />
              {MATCH_CHOICES.map(({ value, label: name }) => (
                <Menu.Item key={value} rightSection={value === match ? CHOSEN : null} onClick={() => onMatch(value)}>
                  {name}
                </Menu.Item>
              ))}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <Modal opened={isOpen} onClose={calendar.close} title="Compare with" size="auto">
        <DayRangeCalendar
          {...range}
          onChoose={(days) => {
            calendar.close();
            onChange("custom", days);
          }}
        />
      </Modal>
    </>
  );
}
