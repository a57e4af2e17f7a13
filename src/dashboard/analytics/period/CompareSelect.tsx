import { Button, Menu, Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconArrowsDiff, IconCheck, IconChevronDown } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Comparison, Match } from "#contract/app/analytics.ts";
import { describeDayRange } from "../../days.ts";
import { type DayRange, DayRangeCalendar } from "../../ui/forms/DayRangeCalendar.tsx";

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
