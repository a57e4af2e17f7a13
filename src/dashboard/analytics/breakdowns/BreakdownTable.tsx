import { ActionIcon, Box, Button, Table, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconFilterMinus } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import type { AnalyticsEntry } from "#contract/analytics/analytics.ts";
import type { Dimension } from "#contract/analytics/dimensions.ts";
import type { AppBreakdown, AppList } from "#contract/app/analytics.ts";
import { formatCount } from "../../format.ts";
import { Section } from "../../ui/layout/Section.tsx";
import { FULL_FILTER, toToggleTitle } from "../filters/filter-words.ts";
import { formatConversionRate } from "../report-words.ts";
import classes from "./BreakdownTable.module.css";
import { DIMENSION_WORDS, findSharedSite, toFlag, toKeyName } from "./dimension-words.ts";

export type BreakdownSort = "key" | "views" | "bookings" | "conversionRate";

export type Filtering = {
  widgetNames: ReadonlyMap<string, string>;
  /** In a shared report, rows are no filters. */
  isReadOnly?: true;
  isChosen: (dimension: Dimension, key: string) => boolean;
  onShowOnly: (dimension: Dimension, key: string) => void;
  canLeaveOut: (dimension: Dimension) => boolean;
  onLeaveOut: (dimension: Dimension, key: string) => void;
};

type TableProps = {
  dimension: Dimension;
  rows: readonly AnalyticsEntry[];
  /** The column that the bars show. */
  sort: BreakdownSort;
  /** The largest values of the whole list, if these rows are a part of it without the first. */
  most?: AppBreakdown["most"];
  filtering: Filtering;
  /** Makes the headers buttons. */
  ordering?: { isAscending: boolean; onSort: (sort: BreakdownSort) => void };
};

const COLUMNS: readonly { sort: Exclude<BreakdownSort, "key">; label: string }[] = [
  { sort: "views", label: "Views" },
  { sort: "bookings", label: "Bookings" },
  { sort: "conversionRate", label: "Rate" },
];

/** Views and bookings by key. The bar behind a name shows the column that the rows are sorted by. */
export function BreakdownTable({ dimension, rows, sort, most = findMost(rows), filtering, ordering }: TableProps) {
  const { name } = DIMENSION_WORDS[dimension];
  // A service has no views: visitors choose it after they have seen the widget.
  const columns = dimension === "service" ? COLUMNS.filter((column) => column.sort === "bookings") : COLUMNS;
  if (rows.length === 0)
    return (
      <Text c="dimmed" size="sm" className={classes["empty"]}>
        No data for this period.
      </Text>
    );
  const other = dimension === "service" ? "bookings" : "views";
  const measured = sort === "key" || most[sort] === 0 ? other : sort;
  const site = dimension === "page" ? findSharedSite(rows.map(({ key }) => key)) : null;
  return (
    <Table
      data-figures
      className={classes["table"]}
      aria-label={name}
      layout="fixed"
      stickyHeader={ordering !== undefined}
      verticalSpacing={7}
      horizontalSpacing="xs"
    >
      <Table.Thead>
        <Table.Tr>
          <Header label={name} sort="key" current={sort} {...(ordering ? { ordering } : {})} />
          {columns.map((column) => (
            <Header key={column.sort} {...column} current={sort} {...(ordering ? { ordering } : {})} />
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.key} {...toFilterProps(filtering, dimension, row.key)}>
            <Table.Td className={classes["key"]}>
              <Box
                component="span"
                className={classes["bar"]}
                __vars={{ "--share": String(most[measured] > 0 ? row[measured] / most[measured] : 0) }}
                aria-hidden
              />
              <KeyCell {...{ dimension, row, filtering, site }} />
            </Table.Td>
            {columns.map((column) => (
              <Table.Td key={column.sort} className={column.sort === "bookings" ? classes["bookings"] : undefined}>
                {column.sort === "conversionRate" ? formatConversionRate(row) : formatCount(row[column.sort])}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function toFilterProps({ isReadOnly, isChosen, onShowOnly }: Filtering, dimension: Dimension, key: string) {
  if (isReadOnly) return {};
  return {
    className: classes["row"],
    "data-chosen": isChosen(dimension, key),
    // A click on the name's button ends here too.
    onClick: () => onShowOnly(dimension, key),
  };
}

function findMost(rows: readonly AnalyticsEntry[]): AppBreakdown["most"] {
  const largest = (name: keyof AppBreakdown["most"]) => Math.max(0, ...rows.map((row) => row[name]));
  return { views: largest("views"), bookings: largest("bookings"), conversionRate: largest("conversionRate") };
}

type KeyProps = {
  dimension: Dimension;
  row: AnalyticsEntry;
  filtering: Filtering;
  /** Left out of the names of pages, because all have it. */
  site: string | null;
};

function KeyCell({ dimension, row, filtering, site }: KeyProps) {
  const { widgetNames, isChosen, canLeaveOut, onLeaveOut } = filtering;
  const isOnSite = site !== null && row.key.startsWith(site);
  const name = isOnSite ? row.key.slice(site.length) || "/" : toKeyName(dimension, row.key, widgetNames);
  const isPressed = isChosen(dimension, row.key);
  const isExcludable = canLeaveOut(dimension);
  const flag = dimension === "country" ? toFlag(row.key) : "";
  const text = (
    <>
      {flag && (
        <span className={classes["flag"]} aria-hidden>
          {flag}
        </span>
      )}
      {name}
    </>
  );
  if (filtering.isReadOnly)
    return (
      <div className={classes["cell"]}>
        <span className={classes["text"]}>{text}</span>
      </div>
    );
  return (
    <div className={classes["cell"]}>
      <UnstyledButton
        className={classes["text"]}
        title={dimension === "page" ? row.key : toToggleTitle(name, isPressed)}
        aria-pressed={isPressed}
      >
        {text}
      </UnstyledButton>
      <ActionIcon
        className={classes["exclude"]}
        size="sm"
        title={isExcludable ? `Exclude ${name}` : FULL_FILTER}
        aria-label={`Exclude ${name}`}
        {...(isExcludable ? {} : { "data-disabled": true, "aria-disabled": true })}
        onClick={(event) => {
          event.stopPropagation();
          if (isExcludable) onLeaveOut(dimension, row.key);
        }}
      >
        <IconFilterMinus size={15} stroke={1.75} aria-hidden />
      </ActionIcon>
    </div>
  );
}

type HeaderProps = {
  label: string;
  sort: BreakdownSort;
  current: BreakdownSort;
  ordering?: NonNullable<TableProps["ordering"]>;
};

function Header({ label, sort, current, ordering }: HeaderProps) {
  if (!ordering) return <Table.Th>{label}</Table.Th>;
  const { isAscending, onSort } = ordering;
  const Arrow = isAscending ? IconArrowUp : IconArrowDown;
  return (
    <Table.Th aria-sort={sort !== current ? "none" : isAscending ? "ascending" : "descending"}>
      <UnstyledButton className={classes["sort"]} onClick={() => onSort(sort)}>
        {label}
        {sort === current && <Arrow size={13} stroke={2} aria-hidden />}
      </UnstyledButton>
    </Table.Th>
  );
}

const SHOWN_FIRST = 8;

/** Loaded when first shown, because the outlines of the countries are large. */
const WorldMap = lazy(async () => ({ default: (await import("../charts/WorldMap.tsx")).WorldMap }));

type SectionProps = {
  dimension: Dimension;
  list: AppList;
  filtering: Filtering;
  onShowAll?: (dimension: Dimension) => void;
};

export function BreakdownSection({ dimension, list, filtering, onShowAll }: SectionProps) {
  const { title, description } = DIMENSION_WORDS[dimension];
  return (
    <Section title={title} description={description} isFlush>
      {dimension === "country" && list.rows.length > 0 && (
        <Suspense fallback={<div className={classes["map"]} />}>
          <WorldMap rows={list.rows} filtering={filtering} />
        </Suspense>
      )}
      <BreakdownTable
        dimension={dimension}
        rows={list.rows.slice(0, SHOWN_FIRST)}
        sort="bookings"
        filtering={filtering}
      />
      {list.count > 0 && onShowAll && (
        <div className={classes["more"]}>
          <Button variant="subtle" size="compact-sm" aria-haspopup="dialog" onClick={() => onShowAll(dimension)}>
            Show all{list.count > SHOWN_FIRST && ` ${formatCount(list.count)}`}
            <VisuallyHidden> {title.toLowerCase()}</VisuallyHidden>
          </Button>
        </div>
      )}
    </Section>
  );
}
