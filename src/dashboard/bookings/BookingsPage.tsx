import { SegmentedControl, Select } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChartBar, IconUserMinus } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { BookingCount, BookingSort } from "#contract/app/bookings.ts";
import { bookingCountQuery, bookingsQuery } from "../api/bookings.ts";
import { formatCount, formatZone, pluralize } from "../format.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton, ExportButton } from "../ui/forms/ActionButton.tsx";
import { FilterGroup } from "../ui/forms/FilterGroup.tsx";
import { SearchInput } from "../ui/forms/SearchInput.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { OlderButton } from "../ui/tables/ListTable.tsx";
import { AdExportButton } from "./AdExportButton.tsx";
import { BookingFilters } from "./BookingFilters.tsx";
import { BookingTable } from "./BookingTable.tsx";
import { EraseDialog } from "./EraseDialog.tsx";
import { HiddenCustomers } from "./HiddenCustomers.tsx";
import { NoBookings } from "./NoBookings.tsx";
import {
  describeList,
  FILTER_DEFAULTS,
  hasFilters,
  isStatus,
  isWhen,
  NO_FILTERS,
  type ShownFilters,
  SORT_LABELS,
  STATUS_LABELS,
  toBookingFilters,
  toSort,
  WHEN_LABELS,
} from "./shown-filters.ts";

export function BookingsPage() {
  const { can, paths, details } = useOrganization();
  const [filters, change] = useUrlState(FILTER_DEFAULTS);
  const { widget, from, to, startFrom, startTo } = filters;
  const [isErasing, erasing] = useDisclosure(false);
  const seesCustomers = can("seeCustomers").isAllowed;
  return (
    <Page
      title="Bookings"
      description="Bookings stored from your widgets."
      guide={{ to: "bookings", about: "stored bookings" }}
      actions={
        <>
          <ButtonLink
            variant="default"
            to={paths.bookingSources}
            search={{ widget, from, to, startFrom, startTo }}
            leftSection={<IconChartBar size={17} stroke={1.6} />}
          >
            Bookings by source
          </ButtonLink>
          <ActionButton
            variant="default"
            verdict={can("eraseBookings")}
            leftSection={<IconUserMinus size={17} stroke={1.6} />}
            onClick={erasing.open}
          >
            Erase customer data
          </ActionButton>
          <AdExportButton filters={filters} />
          <ExportButton
            route="exportBookings"
            query={toBookingFilters(filters, details.timeZone)}
            verdict={can("exportBookings")}
          />
        </>
      }
    >
      <HiddenCustomers />
      <FilterBar filters={filters} seesCustomers={seesCustomers} onChange={change} />
      <BookingList filters={filters} onChange={change} />
      <EraseDialog isOpen={isErasing} onClose={erasing.close} />
    </Page>
  );
}

type ListProps = { filters: ShownFilters; onChange: (change: Partial<ShownFilters>) => void };

function BookingList({ filters, onChange }: ListProps) {
  const { id, details } = useOrganization();
  const sent = toBookingFilters(filters, details.timeZone);
  const bookings = useInfiniteQuery(bookingsQuery(id, sent));
  const loaded = bookings.data?.pages.flatMap((page) => page.data) ?? [];
  const counted = useQuery({ ...bookingCountQuery(id, sent), enabled: bookings.hasNextPage });
  // A list that is loaded to its end needs no count from the server. The previous list has other filters.
  const isWhole = bookings.data && !bookings.isPlaceholderData && !bookings.hasNextPage;
  const total = isWhole ? { count: loaded.length, hasMore: false } : counted.data;
  const isFiltered = hasFilters(filters);
  const sort = toSort(filters);
  const change = (next: BookingSort) => onChange({ sort: next === toSort({ ...filters, sort: "" }) ? "" : next });
  return (
    <>
      <StaleNotice query={bookings} />
      <Section
        title={describeList(filters)}
        description={
          <span role="status">
            {describeTotal(total, isFiltered ? ["match", "matches"] : ["booking", "bookings"])} Times in{" "}
            {formatZone(details.timeZone)}.
          </span>
        }
        actions={<ListChoices filters={filters} sort={sort} onSort={change} onChange={onChange} />}
        isFlush
      >
        <Loaded query={bookings} rows={10}>
          {() =>
            loaded.length === 0 ? (
              <NoBookings isFiltered={isFiltered || filters.when !== ""} onClear={() => onChange(NO_FILTERS)} />
            ) : (
              <div aria-busy={bookings.isPlaceholderData} style={{ opacity: bookings.isPlaceholderData ? 0.55 : 1 }}>
                <BookingTable bookings={loaded} filters={filters} sorting={{ sort, onSort: change }} />
              </div>
            )
          }
        </Loaded>
        <OlderButton query={bookings} what="bookings" are={sort === "newest" ? "older" : "more"} />
      </Section>
    </>
  );
}

function describeTotal(total: BookingCount | undefined, [one, many]: readonly [string, string]): string {
  if (!total) return "";
  return total.hasMore ? `More than ${formatCount(total.count)} ${many}.` : `${pluralize(total.count, one, many)}.`;
}

/** On phones the list has no column headers, so the order is chosen here. */
function ListChoices({
  filters,
  sort,
  onSort,
  onChange,
}: ListProps & { sort: BookingSort; onSort: (sort: BookingSort) => void }) {
  return (
    <>
      <SegmentedControl
        aria-label="Appointments"
        data={Object.entries(WHEN_LABELS).map(([value, label]) => ({ value, label }))}
        value={isWhen(filters.when) ? filters.when : ""}
        onChange={(when) => onChange({ when, sort: "" })}
        w={{ base: "100%", xs: "auto" }}
      />
      <Select
        hiddenFrom="sm"
        aria-label="Sort by"
        data={Object.entries(SORT_LABELS).map(([value, label]) => ({ value, label }))}
        value={sort}
        onChange={(chosen) => onSort(chosen as BookingSort)}
        allowDeselect={false}
        w="100%"
      />
    </>
  );
}

type FilterBarProps = {
  filters: ShownFilters;
  seesCustomers: boolean;
  onChange: (change: Partial<ShownFilters>, how?: { replace?: boolean }) => void;
};

function FilterBar({ filters, seesCustomers, onChange }: FilterBarProps) {
  const searched = seesCustomers ? "name, email, reference, service or campaign" : "reference, service or campaign";
  const { widget, status, from, to, startFrom, startTo } = filters;
  return (
    <FilterGroup
      label="Filter bookings"
      search={
        <SearchInput
          value={filters.search}
          label={`Search by ${searched}`}
          placeholder={seesCustomers ? "Name, email, reference…" : "Reference, service, campaign"}
          onSearch={(search) => onChange({ search }, { replace: true })}
        />
      }
      values={[widget, status, from + to, startFrom + startTo]}
      isFiltered={hasFilters(filters)}
      onClear={() => onChange(NO_FILTERS)}
    >
      <BookingFilters filters={filters} onChange={onChange}>
        <Select
          aria-label="Status"
          data={Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label }))}
          value={isStatus(status) ? status : ""}
          onChange={(chosen) => onChange({ status: chosen ?? "" })}
          allowDeselect={false}
        />
      </BookingFilters>
    </FilterGroup>
  );
}
