import { useDisclosure } from "@mantine/hooks";
import { IconDownload, IconUserMinus } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { bookingsQuery } from "../api/bookings.ts";
import { download } from "../api/download.ts";
import { formatZone } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";
import { StaleNotice } from "../ui/states/StaleNotice.tsx";
import { OlderButton } from "../ui/tables/OlderButton.tsx";
import { BookingTable } from "./BookingTable.tsx";
import { EraseDialog } from "./EraseDialog.tsx";
import { FilterBar } from "./FilterBar.tsx";
import { HiddenCustomers } from "./HiddenCustomers.tsx";
import { NoBookings } from "./NoBookings.tsx";
import { FILTER_DEFAULTS, hasFilters, type ShownFilters, toBookingFilters } from "./shown-filters.ts";

export function BookingsPage() {
  const { can } = useOrganization();
  const [filters, change] = useUrlState(FILTER_DEFAULTS);
  const [isErasing, erasing] = useDisclosure(false);
  const seesCustomers = can("seeCustomers").isAllowed;
  return (
    <Page
      title="Bookings"
      description="Bookings stored from your widgets."
      actions={
        <>
          <ActionButton
            variant="default"
            verdict={can("eraseBookings")}
            leftSection={<IconUserMinus size={17} stroke={1.6} />}
            onClick={erasing.open}
          >
            Erase customer data
          </ActionButton>
          <ExportButton filters={filters} />
        </>
      }
    >
      <HiddenCustomers />
      <FilterBar filters={filters} seesCustomers={seesCustomers} onChange={change} />
      <BookingList filters={filters} onClear={() => change(FILTER_DEFAULTS)} />
      <EraseDialog isOpen={isErasing} onClose={erasing.close} />
    </Page>
  );
}

function BookingList({ filters, onClear }: { filters: ShownFilters; onClear: () => void }) {
  const { id, details } = useOrganization();
  const bookings = useInfiniteQuery(bookingsQuery(id, toBookingFilters(filters, details.timeZone)));
  const isFiltered = hasFilters(filters);
  return (
    <>
      <StaleNotice query={bookings} />
      <Section
        title={isFiltered ? "Matching bookings" : "All bookings"}
        description={`Newest first. Times in ${formatZone(details.timeZone)}.`}
        isFlush
      >
        <Loaded query={bookings} rows={10}>
          {({ pages }) => {
            const rows = pages.flatMap((page) => page.data);
            if (rows.length === 0) return <NoBookings isFiltered={isFiltered} onClear={onClear} />;
            return (
              <div aria-busy={bookings.isPlaceholderData} style={{ opacity: bookings.isPlaceholderData ? 0.55 : 1 }}>
                <BookingTable bookings={rows} filters={filters} />
              </div>
            );
          }}
        </Loaded>
        <OlderButton query={bookings} what="bookings" />
      </Section>
    </>
  );
}

/** Downloads all bookings that match the filters, not only the loaded ones. */
function ExportButton({ filters }: { filters: ShownFilters }) {
  const { id, details, can } = useOrganization();
  const save = useAction({
    run: () => download("exportBookings", { organization: id, query: toBookingFilters(filters, details.timeZone) }),
    says: () => "Download started",
  });
  return (
    <ActionButton
      verdict={can("exportBookings")}
      leftSection={<IconDownload size={17} stroke={1.6} />}
      loading={save.isPending}
      onClick={() => save.mutate()}
    >
      Export CSV
    </ActionButton>
  );
}
