import { Button, Table, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { AnalyticsEntry } from "#contract/analytics.ts";
import { formatCount, formatRate } from "../../format.ts";
import classes from "./EntryTable.module.css";

const SHOWN_FIRST = 8;

/** Views and bookings by key. The bar behind a name compares its views with the top entry's. */
export function EntryTable({ label, entries }: { label: string; entries: readonly AnalyticsEntry[] }) {
  const [isWhole, { toggle }] = useDisclosure(false);
  const most = Math.max(1, ...entries.map(({ views }) => views));
  if (entries.length === 0)
    return (
      <Text c="dimmed" size="sm" className={classes["empty"]}>
        No data for this period.
      </Text>
    );
  return (
    <>
      <Table
        data-figures
        className={classes["table"]}
        aria-label={label}
        layout="fixed"
        verticalSpacing={7}
        horizontalSpacing="xs"
      >
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{label}</Table.Th>
            <Table.Th>Views</Table.Th>
            <Table.Th>Bookings</Table.Th>
            <Table.Th>Rate</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {(isWhole ? entries : entries.slice(0, SHOWN_FIRST)).map(({ key, views, bookings, conversionRate }) => (
            <Table.Tr key={key}>
              <Table.Td className={classes["key"]}>
                <span className={classes["bar"]} style={{ width: `${(views / most) * 100}%` }} aria-hidden />
                <span className={classes["text"]} title={key}>
                  {key}
                </span>
              </Table.Td>
              <Table.Td>{formatCount(views)}</Table.Td>
              <Table.Td className={classes["bookings"]}>{formatCount(bookings)}</Table.Td>
              <Table.Td>{formatRate(conversionRate)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {entries.length > SHOWN_FIRST && (
        <div className={classes["more"]}>
          <Button variant="subtle" size="compact-sm" onClick={toggle} aria-expanded={isWhole}>
            {isWhole ? "Show fewer" : `Show all ${entries.length}`}
          </Button>
        </div>
      )}
    </>
  );
}
