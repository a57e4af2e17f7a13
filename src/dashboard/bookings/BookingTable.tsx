import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { BookingSummary } from "#contract/app/bookings.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { type Column, DataTable } from "../ui/tables/DataTable.tsx";
import { TestBadge } from "../widgets/mode/ModeBadge.tsx";
import type { ShownFilters } from "./shown-filters.ts";

/** Links to a booking carry the filters, so that its link back opens the same list. */
export function BookingTable({ bookings, filters }: { bookings: readonly BookingSummary[]; filters: ShownFilters }) {
  const { paths, format, can } = useOrganization();
  const link = ({ reference, customer }: BookingSummary) => (
    <TextLink to={paths.booking(reference)} search={filters} fw={500} size="sm" inherit>
      {customer?.name ?? reference}
    </TextLink>
  );
  const name = (booking: BookingSummary) => (
    <Group gap={6} component="span" display="inline-flex">
      {link(booking)}
      {booking.isTest && <TestBadge />}
    </Group>
  );
  const seesCustomers = can("seeCustomers").isAllowed;
  const columns: Column<BookingSummary>[] = [
    {
      header: seesCustomers ? "Customer" : "Reference",
      isBare: true,
      cell: (booking) => <Lines first={name(booking)} second={booking.customer?.email} />,
    },
    {
      header: "Service",
      cell: ({ service, staff }) => <Lines first={service.name} second={staff.join(", ")} />,
    },
    { header: "Appointment", cell: ({ start }) => <Lines first={format.date(start)} second={format.time(start)} /> },
    {
      header: "Channel",
      cell: ({ attribution }) => <Lines first={attribution.channel ?? "–"} second={attribution.campaign} />,
    },
    {
      header: "Booked",
      isNumeric: true,
      cell: ({ createdAt, reference }) => (
        <Lines first={format.dateTime(createdAt)} second={seesCustomers ? reference : undefined} isOneLine />
      ),
    },
  ];
  return (
    <DataTable hasRowLinks label="Bookings" columns={columns} rows={bookings} rowKey={({ reference }) => reference} />
  );
}

function Lines({ first, second, isOneLine }: { first: ReactNode; second?: string | undefined; isOneLine?: boolean }) {
  return (
    <div style={isOneLine ? { whiteSpace: "nowrap" } : {}}>
      <div>{first}</div>
      {second && (
        <Text size="xs" c="dimmed">
          {second}
        </Text>
      )}
    </div>
  );
}
