import type { ReactNode } from "react";
import { DaysSelect } from "../ui/forms/DayRangeCalendar.tsx";
import { WidgetSelect } from "../widgets/WidgetSelect.tsx";
import type { ShownFilters } from "./shown-filters.ts";

type Filters = Pick<ShownFilters, "widget" | "from" | "to" | "startFrom" | "startTo">;
type BookingFiltersProps = {
  filters: Filters;
  onChange: (change: Partial<Filters>) => void;
  /** Another filter, after the widget. */
  children?: ReactNode;
};

/** The filters that the list of bookings and the bookings by source share. */
export function BookingFilters({ filters, onChange, children }: BookingFiltersProps) {
  return (
    <>
      <WidgetSelect value={filters.widget} onChange={(widget) => onChange({ widget })} />
      {children}
      <DaysSelect label="Booked" from={filters.from} to={filters.to} onChange={onChange} />
      <DaysSelect
        label="Appointment"
        from={filters.startFrom}
        to={filters.startTo}
        mayBeFuture
        onChange={({ from, to }) => onChange({ startFrom: from, startTo: to })}
      />
    </>
  );
}
