import "@mantine/dates/styles.layer.css";
import { Button, Group, Popover } from "@mantine/core";
import { DatePicker } from "@mantine/dates";
import { useDisclosure } from "@mantine/hooks";
import { IconCalendar, IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { describeDayRange, toDay } from "../day-range.ts";

type Days = { from: string; to: string };

/** Filters by the day of booking; empty strings mean any day. */
export function DaysSelect({ from, to, onChange }: Days & { onChange: (days: Days) => void }) {
  const [isOpen, popover] = useDisclosure(false);
  const choose = (days: Days) => {
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
          w={{ base: "100%", xs: "auto" }}
          onClick={popover.toggle}
        >
          {describeDayRange(from, to) || "Booked: any time"}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Booking date">
        <Calendar from={from} to={to} onChoose={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Calendar({ from, to, onChoose }: Days & { onChoose: (days: Days) => void }) {
  const [range, setRange] = useState<[string | null, string | null]>([toDay(from), toDay(to)]);
  return (
    <>
      <DatePicker
        type="range"
        allowSingleDateInRange
        hideOutsideDates
        weekendDays={[]}
        value={range}
        onChange={(chosen) => {
          setRange(chosen);
          const [first, last] = chosen;
          if (first && last) onChoose({ from: first, to: last });
        }}
        ariaLabels={{ previousMonth: "Previous month", nextMonth: "Next month" }}
      />
      {(from !== "" || to !== "") && (
        <Group justify="flex-end" mt="xs">
          <Button variant="subtle" size="compact-sm" onClick={() => onChoose({ from: "", to: "" })}>
            Any time
          </Button>
        </Group>
      )}
    </>
  );
}
