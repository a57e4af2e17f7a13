import "@mantine/dates/styles.layer.css";
import { Button, Group, Popover } from "@mantine/core";
import { DatePicker } from "@mantine/dates";
import { useDisclosure } from "@mantine/hooks";
import { IconCalendar, IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { dayAhead, describeDayRange, FIRST_DAY_OF_WEEK, toDay } from "../../days.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import classes from "./DayRangeCalendar.module.css";

export type DayRange = { from: string; to: string };

type CalendarProps = DayRange & {
  /** For appointments; everything else lies in the past. */
  mayBeFuture?: boolean;
  onChoose: (range: DayRange) => void;
};

/** Picks a first and a last day, in the organization's time zone. */
export function DayRangeCalendar({ from, to, mayBeFuture = false, onChoose }: CalendarProps) {
  const { details } = useOrganization();
  const today = dayAhead(0, details.timeZone);
  const [range, setRange] = useState<[string | null, string | null]>([toDay(from), toDay(to)]);
  return (
    <DatePicker
      type="range"
      allowSingleDateInRange
      hideOutsideDates
      weekendDays={[]}
      mx="auto"
      {...(mayBeFuture ? {} : { maxDate: today })}
      defaultDate={toDay(from) ?? today}
      getDayProps={(day) => (day === today ? { "aria-current": "date", className: classes["today"] } : {})}
      firstDayOfWeek={FIRST_DAY_OF_WEEK}
      weekdayFormat={(day) => WEEKDAY.format(new Date(day))}
      monthLabelFormat={(day) => MONTH.format(new Date(day))}
      value={range}
      onChange={(chosen) => {
        setRange(chosen);
        const [first, last] = chosen;
        if (first && last) onChoose({ from: first, to: last });
      }}
      ariaLabels={{ previousMonth: "Previous month", nextMonth: "Next month" }}
    />
  );
}

const WEEKDAY = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", weekday: "short" });
const MONTH = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", month: "long", year: "numeric" });

type DaysSelectProps = DayRange & {
  /** What happened on these days, as in the column's header. */
  label: string;
  mayBeFuture?: boolean;
  onChange: (days: DayRange) => void;
};

/** Filters by days; empty strings mean any day. */
export function DaysSelect({ label, from, to, mayBeFuture = false, onChange }: DaysSelectProps) {
  const [isOpen, popover] = useDisclosure(false);
  const choose = (days: DayRange) => {
    popover.close();
    onChange(days);
  };
  return (
    <Popover opened={isOpen} onChange={popover.toggle} position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          fw={400}
          leftSection={<IconCalendar size={17} stroke={1.6} />}
          rightSection={<IconChevronDown size={15} stroke={1.6} />}
          styles={{ label: { flex: 1 } }}
          onClick={popover.toggle}
        >
          {label}: {describeDayRange(from, to) || "any time"}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={`${label}: days`}>
        <DayRangeCalendar from={from} to={to} mayBeFuture={mayBeFuture} onChoose={choose} />
        {(from !== "" || to !== "") && (
          <Group justify="flex-end" mt="xs">
            <Button variant="subtle" size="compact-sm" onClick={() => choose({ from: "", to: "" })}>
              Any time
            </Button>
          </Group>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
