import { Button, Group, Popover } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCalendar, IconChevronDown } from "@tabler/icons-react";
import { describeDayRange } from "../../days.ts";
import { type DayRange, DayRangeCalendar } from "./DayRangeCalendar.tsx";

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
