import { Button, Center, Table, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconArrowDown, IconArrowsSort, IconArrowUp } from "@tabler/icons-react";
import type { UseInfiniteQueryResult } from "@tanstack/react-query";
import { Fragment, type MouseEvent, type ReactNode } from "react";
import { formatRelative } from "../../format.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import classes from "./ListTable.module.css";

export type Column<Row> = {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers: right-aligned, with figures of one width. */
  readonly isNumeric?: boolean;
  /** Kept on one line: dates, statuses. */
  readonly isShort?: boolean;
  /** Hidden when the table is narrow. */
  readonly isWideOnly?: boolean;
  /** Shown without its header when the table is narrow: the row's name, or its buttons. */
  readonly isBare?: boolean;
  /** The header is for screen readers only: above buttons. */
  readonly isHeaderHidden?: boolean;
  readonly width?: string;
  readonly sorting?: Sorting;
};

/** The header is a button that sorts the list; null while the list is sorted by another column. */
export type Sorting = { readonly order: "ascending" | "descending" | null; readonly onSort: () => void };

/** The last column: a row's buttons. */
export const BUTTONS = { header: "Actions", isHeaderHidden: true, isBare: true, isNumeric: true } as const;

type ListTableProps<Row> = {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** A click anywhere in a row follows the row's first link. */
  hasRowLinks?: boolean;
  /** A heading for the rows that follow, such as their day; shown where it changes. */
  groupOf?: (row: Row) => string;
};

/** On narrow screens each row becomes a card with the headers beside the values; the roles keep it a table for screen readers. */
export function ListTable<Row>({ label, columns, rows, rowKey, hasRowLinks = false, groupOf }: ListTableProps<Row>) {
  return (
    <div className={classes["frame"]}>
      <Table className={classes["table"]} aria-label={label} role="table" verticalSpacing="sm" horizontalSpacing="lg">
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map((column) => (
              <Table.Th
                key={column.header}
                role="columnheader"
                w={column.width}
                aria-sort={column.sorting ? (column.sorting.order ?? "none") : undefined}
                {...dataAttributesOf(column)}
              >
                {column.sorting ? (
                  <SortButton header={column.header} sorting={column.sorting} />
                ) : column.isHeaderHidden ? (
                  <VisuallyHidden>{column.header}</VisuallyHidden>
                ) : (
                  <span>{column.header}</span>
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row, i) => {
            const [group, above] = [row, rows[i - 1]].map((each) => each && groupOf?.(each));
            return (
              <Fragment key={rowKey(row)}>
                {group !== undefined && group !== above && (
                  <Table.Tr role="row" data-group>
                    <Table.Td role="cell" data-bare colSpan={columns.length}>
                      {group}
                    </Table.Td>
                  </Table.Tr>
                )}
                <Table.Tr role="row" {...(hasRowLinks ? { "data-linked": true, onClick: followFirstLink } : {})}>
                  {columns.map((column) => (
                    <Table.Td key={column.header} role="cell" data-label={column.header} {...dataAttributesOf(column)}>
                      {column.cell(row)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              </Fragment>
            );
          })}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function SortButton({ header, sorting: { order, onSort } }: { header: string; sorting: Sorting }) {
  const Arrow = order === null ? IconArrowsSort : order === "ascending" ? IconArrowUp : IconArrowDown;
  return (
    <UnstyledButton className={classes["sort"]} data-sorted={order !== null} onClick={onSort}>
      {header}
      <Arrow size={14} stroke={1.8} aria-hidden />
    </UnstyledButton>
  );
}

function dataAttributesOf({
  isNumeric,
  isShort,
  isWideOnly,
  isBare,
}: Omit<Column<never>, "header" | "cell" | "sorting">) {
  return { "data-numeric": isNumeric, "data-short": isShort, "data-wide-only": isWideOnly, "data-bare": isBare };
}

/** The link itself stays for keyboards and screen readers. Selecting text and clicking on controls in the row do nothing here. */
function followFirstLink(event: MouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget, ctrlKey, metaKey, shiftKey } = event;
  if (!(target instanceof Element) || target.closest("a, button, input, [role=dialog]")) return;
  if (window.getSelection()?.toString()) return;
  // Click the link itself, so that Ctrl and ⌘ open a new tab.
  const click = new window.MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey });
  currentTarget.querySelector("a")?.dispatchEvent(click);
}

/** One line for long text without spaces, such as a URL. It is cut off with an ellipsis; the tooltip has the whole. */
export function Clipped({ whole, children = whole }: { whole: string; children?: ReactNode }) {
  return (
    <div className={classes["clipped"]} title={whole}>
      {children}
    </div>
  );
}

type LinesProps = { first: ReactNode; second?: ReactNode; weight?: number; isOneLine?: boolean };

/** A cell with a small second line, which is left out if it is empty. */
export function Lines({ first, second, weight = 400, isOneLine = false }: LinesProps) {
  return (
    <div style={isOneLine ? { whiteSpace: "nowrap" } : {}}>
      <Text size="sm" fw={weight} component="div">
        {first}
      </Text>
      {second && (
        <Text size="xs" c="dimmed" component="div">
          {second}
        </Text>
      )}
    </div>
  );
}

type Pages = Pick<UseInfiniteQueryResult, "hasNextPage" | "isFetchingNextPage" | "fetchNextPage">;

/** Loads the next page of a list; renders nothing at the end. `more`: the list is not sorted newest first. */
export function OlderButton({ query, what, are = "older" }: { query: Pages; what: string; are?: "older" | "more" }) {
  if (!query.hasNextPage) return null;
  return (
    <Center p="md">
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        Show {are} {what}
      </Button>
    </Center>
  );
}

/** "3 minutes ago", with the exact time as tooltip. */
export function When({ at, never = "–" }: { at: string | null; never?: string }) {
  const { format } = useOrganization();
  if (at === null) return never;
  return (
    <time dateTime={at} title={format.exact(at)} className={classes["when"]}>
      {formatRelative(at)}
    </time>
  );
}
