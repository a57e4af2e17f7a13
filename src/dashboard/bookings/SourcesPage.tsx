import { Text } from "@mantine/core";
import { IconCalendarEvent } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { BookingSources } from "#contract/app/bookings.ts";
import { bookingSourcesQuery } from "../api/bookings.ts";
import { formatCount, formatRate, formatZone, pluralize } from "../format.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FilterGroup } from "../ui/forms/FilterGroup.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState, NoMatches } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { type Column, ListTable } from "../ui/tables/ListTable.tsx";
import { BookingFilters } from "./BookingFilters.tsx";
import classes from "./SourcesPage.module.css";
import { FILTER_DEFAULTS, toBookingFilters } from "./shown-filters.ts";

const DEFAULTS = { widget: "", from: "", to: "", startFrom: "", startTo: "" };

export function SourcesPage() {
  const { id, paths, details } = useOrganization();
  const [filters, change] = useUrlState(DEFAULTS);
  const isFiltered = Object.values(filters).some((value) => value !== "");
  const outcomes = useQuery(
    bookingSourcesQuery(id, toBookingFilters({ ...FILTER_DEFAULTS, ...filters }, details.timeZone)),
  );
  return (
    <Page
      title="Bookings by source"
      description="How many bookings from each source were cancelled or moved."
      guide={{ to: "bookings", about: "bookings by source" }}
      back={{ to: paths.bookings, label: "Bookings", search: filters }}
    >
      <FilterGroup
        label="Filter bookings"
        values={[filters.widget, filters.from + filters.to, filters.startFrom + filters.startTo]}
        isFiltered={isFiltered}
        onClear={() => change(DEFAULTS)}
      >
        <BookingFilters filters={filters} onChange={change} />
      </FilterGroup>
      <StaleNotice query={outcomes} />
      <Section
        title="From stored bookings"
        description={
          <>
            <span role="status">
              {outcomes.data && `${pluralize(outcomes.data.all.booked, "booking", "bookings")}.`}
            </span>{" "}
            Only stored bookings are counted, without test bookings, so analytics may show more. Kept means not
            cancelled; a booking that was moved is kept too. Days in {formatZone(details.timeZone)}.
          </>
        }
        isFlush
      >
        <Loaded query={outcomes} rows={8}>
          {(data) =>
            data.all.booked > 0 ? (
              <ListTable label="Bookings by source" columns={COLUMNS} rows={toRows(data)} rowKey={({ key }) => key} />
            ) : isFiltered ? (
              <NoMatches onClear={() => change(DEFAULTS)}>
                Only bookings from the last {details.plan.retention} are stored.
              </NoMatches>
            ) : (
              <EmptyState icon={IconCalendarEvent} title="No bookings yet">
                Bookings of widgets with Store bookings on are counted here.
              </EmptyState>
            )
          }
        </Loaded>
      </Section>
    </Page>
  );
}

type Row = BookingSources["all"] & { key: string; name: string; isTotal?: boolean };

function toRows({ all, sources, other }: BookingSources): Row[] {
  return [
    { key: "all", name: "All sources", isTotal: true, ...all },
    ...sources.map(({ source, ...counts }) => ({ key: `source ${source}`, name: source || "No source", ...counts })),
    ...(other ? [{ key: "other", name: "Other sources", ...other }] : []),
  ];
}

const COLUMNS: Column<Row>[] = [
  {
    header: "Source",
    isBare: true,
    cell: ({ name, isTotal = false }) => (
      <Text span inherit fw={isTotal ? 600 : 500}>
        {name}
      </Text>
    ),
  },
  { header: "Booked", isNumeric: true, cell: ({ booked }) => formatCount(booked) },
  { header: "Cancelled", isNumeric: true, cell: ({ cancelled, booked }) => <Share part={cancelled} of={booked} /> },
  { header: "Moved", isNumeric: true, cell: ({ moved, booked }) => <Share part={moved} of={booked} /> },
  { header: "Kept", isNumeric: true, cell: ({ kept, booked }) => <Share part={kept} of={booked} /> },
];

function Share({ part, of }: { part: number; of: number }) {
  return (
    <span>
      {formatCount(part)}{" "}
      <Text span size="xs" c="dimmed" className={classes["share"]}>
        {formatRate(part / of)}
      </Text>
    </span>
  );
}
