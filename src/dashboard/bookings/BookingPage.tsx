import { SimpleGrid } from "@mantine/core";
import { IconCalendarOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { BookingDetail } from "#contract/app/bookings.ts";
import type { Change, ChangeType } from "#contract/bookings/booking-changes.ts";
import { bookingQuery } from "../api/bookings.ts";
import { isNotFound } from "../api/client.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { NotFoundNote } from "../ui/states/EmptyState.tsx";
import { Loaded, LoadingCard, StaleNotice } from "../ui/states/Loaded.tsx";
import { type Column, ListTable } from "../ui/tables/ListTable.tsx";
import { ModeBadge } from "../widgets/mode/ModeBadge.tsx";
import { AttributionSection } from "./AttributionSection.tsx";
import { AnswersSection, AppointmentSection, CustomerSection } from "./BookingFacts.tsx";
import { StatusBadge } from "./BookingTable.tsx";
import { DeleteBooking } from "./DeleteBooking.tsx";
import { DeliveriesSection } from "./DeliveriesSection.tsx";
import { HiddenCustomers } from "./HiddenCustomers.tsx";
import { FILTER_DEFAULTS, type ShownFilters } from "./shown-filters.ts";

export function BookingPage() {
  const { id, paths } = useOrganization();
  const { reference } = useParams({ strict: false }) as { reference: string };
  // The filters of the list, for the link back.
  const [filters] = useUrlState(FILTER_DEFAULTS);
  const booking = useQuery(bookingQuery(id, reference));
  const shown = isNotFound(booking.error) ? undefined : booking.data;
  return (
    <Page
      title={shown?.customer?.name ?? reference}
      description={shown?.customer ? reference : undefined}
      back={{ to: paths.bookings, label: "Bookings", search: filters }}
      mark={
        shown && (
          <>
            {shown.mode !== "live" && <ModeBadge mode={shown.mode} isSmall />}
            <StatusBadge status={shown.status} />
          </>
        )
      }
      actions={shown && <DeleteBooking booking={shown} filters={filters} />}
    >
      <StaleNotice query={booking} />
      <Loaded query={booking} placeholder={<LoadingCard />} missing={<Gone filters={filters} />}>
        {(data) => <Details booking={data} />}
      </Loaded>
    </Page>
  );
}

function Details({ booking }: { booking: BookingDetail }) {
  return (
    <>
      <HiddenCustomers />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing={0} style={{ alignItems: "start" }}>
        <div>
          {booking.customer && <CustomerSection customer={booking.customer} />}
          <AppointmentSection booking={booking} />
          {booking.answers && <AnswersSection answers={booking.answers} />}
        </div>
        <AttributionSection attribution={booking.attribution} />
      </SimpleGrid>
      <ChangesSection changes={booking.changes} />
      <DeliveriesSection deliveries={booking.deliveries} />
    </>
  );
}

function Gone({ filters }: { filters: ShownFilters }) {
  const { paths, details } = useOrganization();
  return (
    <NotFoundNote
      icon={IconCalendarOff}
      title="Booking not found"
      list={{ to: paths.bookings, label: "Back to bookings", search: filters }}
    >
      It was deleted, or it’s older than {details.plan.retention}. Your plan doesn’t keep bookings longer than that.
    </NotFoundNote>
  );
}

const CHANGE_NAMES: Record<ChangeType, string> = { cancelled: "Cancelled", rescheduled: "Moved" };

export function ChangesSection({ changes }: { changes: readonly Change[] }) {
  const { format } = useOrganization();
  if (changes.length === 0) return null;
  const columns: Column<Change>[] = [
    { header: "Change", isBare: true, cell: ({ type }) => CHANGE_NAMES[type] },
    { header: "From", cell: ({ previousStart }) => format.dateTime(previousStart) },
    { header: "To", cell: ({ type, start }) => (type === "rescheduled" ? format.dateTime(start) : "–") },
    { header: "Noticed", isNumeric: true, cell: ({ changedAt }) => format.dateTime(changedAt) },
  ];
  return (
    <Section title="History" description="Changes in the scheduling system since it was booked.">
      <ListTable label="History" columns={columns} rows={changes} rowKey={({ changedAt }) => changedAt} />
    </Section>
  );
}
