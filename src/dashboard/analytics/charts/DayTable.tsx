import { ScrollArea, Table } from "@mantine/core";
import { formatCount } from "../../format.ts";
import { Collapsible } from "../../ui/layout/Collapsible.tsx";
import { type Bucket, formatBucket, INTERVAL_NAMES, type Interval } from "./buckets.ts";
import classes from "./DayTable.module.css";

const SHOWN_HEIGHT = 320;

type DayTableProps = { buckets: readonly Bucket[]; earlier: readonly Bucket[]; interval: Interval };

export function DayTable({ buckets, earlier, interval }: DayTableProps) {
  return (
    <Collapsible label="Show as table" isLazy>
      <ScrollArea.Autosize mah={SHOWN_HEIGHT} type="auto" viewportProps={{ tabIndex: 0 }}>
        <Table data-figures stickyHeader aria-label={`Views and bookings by ${interval}`}>
          <Table.Thead className={classes["head"]}>
            <Table.Tr>
              <Table.Th>{INTERVAL_NAMES[interval]}</Table.Th>
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
    </Collapsible>
  );
}

/** An earlier period can be shorter, or begin before there was data. */
function formatEarlier(count: number | undefined): string {
  return count === undefined ? "–" : formatCount(count);
}
