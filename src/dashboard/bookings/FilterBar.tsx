import { Select } from "@mantine/core";
import { DaysSelect } from "../ui/forms/DaysSelect.tsx";
import { FilterGroup } from "../ui/forms/FilterGroup.tsx";
import { SearchInput } from "../ui/forms/SearchInput.tsx";
import { WidgetSelect } from "../widgets/WidgetSelect.tsx";
import { hasFilters, isStatus, NO_FILTERS, type ShownFilters, STATUS_LABELS } from "./shown-filters.ts";

type FilterBarProps = {
  filters: ShownFilters;
  seesCustomers: boolean;
  onChange: (change: Partial<ShownFilters>, how?: { replace?: boolean }) => void;
};

export function FilterBar({ filters, seesCustomers, onChange }: FilterBarProps) {
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
      <WidgetSelect value={widget} onChange={(chosen) => onChange({ widget: chosen })} />
      <Select
        aria-label="Status"
        data={Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label }))}
        value={isStatus(status) ? status : ""}
        onChange={(chosen) => onChange({ status: chosen ?? "" })}
        allowDeselect={false}
      />
      <DaysSelect label="Booked" from={from} to={to} onChange={onChange} />
      <DaysSelect
        label="Appointment"
        from={startFrom}
        to={startTo}
        mayBeFuture
        onChange={(days) => onChange({ startFrom: days.from, startTo: days.to })}
      />
    </FilterGroup>
  );
}
