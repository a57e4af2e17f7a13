import { Badge, Group } from "@mantine/core";
import type { BookingSort, BookingSummary } from "#contract/app/bookings.ts";
import { BOOKING_STATUS_CANCELLED } from "#contract/bookings/booking.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { type Column, Lines, ListTable, type Sorting } from "../ui/tables/ListTable.tsx";
import { ModeBadge } from "../widgets/mode/ModeBadge.tsx";
import type { ShownFilters } from "./shown-filters.ts";

type BookingTableProps = {
  bookings: readonly BookingSummary[];
  filters: ShownFilters;
  /** If unset, the list can't be sorted. */
  sorting?: { sort: BookingSort; onSort: (sort: BookingSort) => void };
};

/** Links to a booking carry the filters, so that its link back opens the same list. */
export function BookingTable({ bookings, filters, sorting }: BookingTableProps) {
  const { paths, format, can } = useOrganization();
  const link = ({ reference, customer }: BookingSummary) => (
    <TextLink to={paths.booking(reference)} search={filters} fw={500} size="sm" inherit>
      {customer?.name ?? reference}
    </TextLink>
  );
  const name = (booking: BookingSummary) => (
    <Group gap={6} component="span" display="inline-flex">
      {link(booking)}
      {booking.mode !== "live" && <ModeBadge mode={booking.mode} isSmall />}
      {booking.status === BOOKING_STATUS_CANCELLED && <StatusBadge status={booking.status} size="sm" />}
    </Group>
  );
  const seesCustomers = can("seeCustomers").isAllowed;
  const columns: Column<BookingSummary>[] = [
    {
      header: seesCustomers ? "Customer" : "Reference",
      isBare: true,
      cell: (booking) => (
        <Lines first={name(booking)} second={booking.customer && <Email address={booking.customer.email} />} />
      ),
    },
    {
      header: "Service",
      cell: ({ service, staff }) => <Lines first={service.name} second={staff.join(", ")} />,
    },
    {
      header: "Appointment",
      cell: ({ start }) => <Lines first={format.date(start)} second={format.time(start)} isOneLine />,
      ...(sorting && { sorting: toSorting(sorting, { ascending: "soonest", descending: "latest" }) }),
    },
    {
      header: "Channel",
      cell: ({ attribution }) => <Lines first={attribution.channel ?? "–"} second={attribution.campaign} />,
    },
    {
      header: "Booked",
      isNumeric: true,
      ...(sorting && { sorting: toSorting(sorting, { descending: "newest", ascending: "oldest" }) }),
      cell: ({ createdAt, reference }) => (
        <Lines first={format.dateTime(createdAt)} second={seesCustomers ? reference : undefined} isOneLine />
      ),
    },
  ];
  return (
    <ListTable hasRowLinks label="Bookings" columns={columns} rows={bookings} rowKey={({ reference }) => reference} />
  );
}

/** A click on the sorted column reverses its order. A click on another column sorts by it, in the order named first. */
function toSorting(
  { sort, onSort }: NonNullable<BookingTableProps["sorting"]>,
  sorts: Record<"ascending" | "descending", BookingSort>,
): Sorting {
  const orders = Object.keys(sorts) as ("ascending" | "descending")[];
  const order = orders.find((each) => sorts[each] === sort) ?? null;
  const next = orders.find((each) => each !== order) ?? "ascending";
  return { order, onSort: () => onSort(sorts[next]) };
}

type StatusBadgeProps = { status: string; size?: "sm" | "md" };

export function StatusBadge({ status, size = "md" }: StatusBadgeProps) {
  return (
    <Badge color={status === BOOKING_STATUS_CANCELLED ? "gray" : "green"} size={size}>
      {`${status.charAt(0).toUpperCase()}${status.slice(1)}`}
    </Badge>
  );
}

/** Breaks before the @ if it has to break. */
function Email({ address }: { address: string }) {
  const [name, domain] = [address.slice(0, address.lastIndexOf("@")), address.slice(address.lastIndexOf("@"))];
  return (
    <>
      {name}
      <wbr />
      {domain}
    </>
  );
}
