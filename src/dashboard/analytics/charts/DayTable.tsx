import { ScrollArea, Table, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronRight } from "@tabler/icons-react";
import { useId } from "react";
import type { Analytics } from "#contract/analytics.ts";
import { formatCount, formatDay } from "../../format.ts";
import classes from "./DayTable.module.css";

const SHOWN_HEIGHT = 320;

/** The chart's days as a table, newest first. */
export function DayTable({ daily }: { daily: Analytics["daily"] }) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const id = useId();
  return (
    <div className={classes["days"]}>
      <UnstyledButton className={classes["toggle"]} aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
        <IconChevronRight size={16} stroke={1.75} aria-hidden />
        {isOpen ? "Hide table" : "Show as table"}
      </UnstyledButton>
      <div id={id} hidden={!isOpen}>
        {isOpen && (
          <ScrollArea.Autosize mah={SHOWN_HEIGHT} type="auto" viewportProps={{ tabIndex: 0 }}>
            <Table data-figures stickyHeader className={classes["table"]} aria-label="Views and bookings by day">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Day</Table.Th>
                  <Table.Th>Views</Table.Th>
                  <Table.Th>Bookings</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {daily.toReversed().map(({ day, views, bookings }) => (
                  <Table.Tr key={day}>
                    <Table.Td>{formatDay(day)}</Table.Td>
                    <Table.Td>{formatCount(views)}</Table.Td>
                    <Table.Td>{formatCount(bookings)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollArea.Autosize>
        )}
      </div>
    </div>
  );
}
