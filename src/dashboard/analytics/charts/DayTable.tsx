import { ScrollArea, Table, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronRight } from "@tabler/icons-react";
import { useId } from "react";
import { formatCount } from "../../format.ts";
import { type Bucket, formatBucket, type Interval } from "./buckets.ts";
import classes from "./DayTable.module.css";

const SHOWN_HEIGHT = 320;
const HEADINGS: Readonly<Record<Interval, string>> = { hour: "Hour", day: "Day", week: "Week", month: "Month" };

type DayTableProps = { buckets: readonly Bucket[]; earlier: readonly Bucket[]; interval: Interval };

export function DayTable({ buckets, earlier, interval }: DayTableProps) {
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
            <Table
              data-figures
              stickyHeader
              className={classes["table"]}
              aria-label={`Views and bookings by ${interval}`}
            >
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{HEADINGS[interval]}</Table.Th>
                  <Table.Th>Views</Table.Th>
                  <Table.Th>Bookings</Table.Th>
                  {earlier.length > 0 && <Table.Th>Earlier views</Table.Th>}
                  {earlier.length > 0 && <Table.Th>Earlier bookings</Table.Th>}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {buckets
                  .map((bucket, i) => ({ ...bucket, before: earlier[i] }))
                  .filter(({ views }) => views !== undefined)
                  .toReversed()
                  .map(({ start, views = 0, bookings = 0, before }) => (
                    <Table.Tr key={start}>
                      <Table.Td>{formatBucket(start, interval)}</Table.Td>
                      <Table.Td>{formatCount(views)}</Table.Td>
                      <Table.Td>{formatCount(bookings)}</Table.Td>
                      {earlier.length > 0 && <Table.Td>{formatEarlier(before?.views)}</Table.Td>}
                      {earlier.length > 0 && <Table.Td>{formatEarlier(before?.bookings)}</Table.Td>}
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

/** An earlier period can be shorter, or begin before there was data. */
function formatEarlier(count: number | undefined): string {
  return count === undefined ? "–" : formatCount(count);
}
