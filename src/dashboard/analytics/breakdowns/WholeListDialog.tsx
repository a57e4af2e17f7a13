import { Group, Modal, Pagination, ScrollArea, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, useState } from "react";
import type { Dimension } from "#contract/analytics/dimensions.ts";
import type { AppBreakdown } from "#contract/app/analytics.ts";
import { SEARCH_LENGTH_MAX } from "#contract/limits.ts";
import { breakdownQuery } from "../../api/analytics.ts";
import { formatCount } from "../../format.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ExportButton } from "../../ui/forms/ActionButton.tsx";
import { Loaded } from "../../ui/states/Loaded.tsx";
import type { Parameters } from "../report-state.ts";
import { type BreakdownSort, BreakdownTable, type Filtering } from "./BreakdownTable.tsx";
import { DIMENSION_WORDS, NAMES_LANGUAGE } from "./dimension-words.ts";

const PAGE_ROWS = 50;
const SEARCH_PAUSE_MS = 250;

type ListProps = { dimension: Dimension; scope: Parameters; filtering: Filtering };
type DialogProps = Omit<ListProps, "dimension"> & { dimension: Dimension | undefined; onClose: () => void };

/** The whole list of a dimension. Closed, but still mounted, without one: then the focus returns to the button that opened it. */
export function WholeListDialog({ dimension, onClose, ...list }: DialogProps) {
  return (
    <Modal
      opened={dimension !== undefined}
      onClose={onClose}
      title={dimension && DIMENSION_WORDS[dimension].title}
      size="xl"
      // No exit transition: the contents unmount immediately.
      transitionProps={{ exitDuration: 0 }}
    >
      {dimension && <WholeList dimension={dimension} {...list} />}
    </Modal>
  );
}

function WholeList({ dimension, scope, filtering }: ListProps) {
  const { id } = useOrganization();
  const [search, setSearch] = useState("");
  const [term] = useDebouncedValue(search, SEARCH_PAUSE_MS);
  const [order, setOrder] = useState<{ sort: BreakdownSort; isAscending: boolean }>({
    sort: "bookings",
    isAscending: false,
  });
  const [page, setPage] = useState(1);
  const direction = order.isAscending ? "asc" : "desc";
  const query = { ...scope, dimension, search: term, sort: order.sort, order: direction, language: NAMES_LANGUAGE };
  const list = useQuery(breakdownQuery(id, { ...query, pageNumber: String(page) }));
  const sortBy = (sort: BreakdownSort) => {
    setPage(1);
    // Names sort from A to Z, numbers from the largest.
    setOrder((last) => ({ sort, isAscending: last.sort === sort ? !last.isAscending : sort === "key" }));
  };
  return (
    <>
      <Group gap="sm" mb="sm" wrap="nowrap">
        <TextInput
          aria-label="Search"
          maxLength={SEARCH_LENGTH_MAX}
          placeholder="Search"
          value={search}
          onChange={(event) => {
            setSearch(event.currentTarget.value);
            setPage(1);
          }}
          leftSection={<IconSearch size={16} stroke={1.6} aria-hidden />}
          flex={1}
          data-autofocus
        />
        <ExportButton route="exportAnalytics" query={{ ...query, table: "breakdown" }} variant="default">
          <Text span inherit visibleFrom="xs">
            Download&nbsp;
          </Text>
          CSV
        </ExportButton>
      </Group>
      <Loaded query={list} rows={8}>
        {(found) => (
          <Found
            {...{ dimension, found, filtering, page, onPage: setPage }}
            sort={order.sort}
            ordering={{ isAscending: order.isAscending, onSort: sortBy }}
          />
        )}
      </Loaded>
    </>
  );
}

type FoundProps = Pick<ComponentProps<typeof BreakdownTable>, "dimension" | "sort" | "filtering" | "ordering"> & {
  found: AppBreakdown;
  page: number;
  onPage: (page: number) => void;
};

function Found({ found: { rows, count, most }, page, onPage, ...table }: FoundProps) {
  if (rows.length === 0)
    return (
      <Text c="dimmed" size="sm" py="lg">
        No matches
      </Text>
    );
  const before = (page - 1) * PAGE_ROWS;
  return (
    <>
      <ScrollArea.Autosize mah="55vh" type="auto" mx="-1.5rem" viewportProps={{ tabIndex: 0 }}>
        <BreakdownTable rows={rows} most={most} {...table} />
      </ScrollArea.Autosize>
      <Group justify="space-between" mt="md" gap="sm">
        <Text size="sm" c="dimmed" role="status">
          {formatCount(before + 1)}–{formatCount(before + rows.length)} of {formatCount(count)}
        </Text>
        {count > PAGE_ROWS && (
          <Pagination
            size="sm"
            total={Math.ceil(count / PAGE_ROWS)}
            value={page}
            onChange={onPage}
            getControlProps={(control) => ({ "aria-label": `${control} page` })}
            getItemProps={(number) => ({ "aria-label": `Page ${number}` })}
          />
        )}
      </Group>
    </>
  );
}
