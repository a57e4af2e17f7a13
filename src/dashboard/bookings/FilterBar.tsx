import { Button, Group, Select } from "@mantine/core";
import { DaysSelect } from "../ui/forms/DaysSelect.tsx";
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
  return (
    <Group gap="sm" mb="lg" role="group" aria-label="Filter bookings">
      <SearchInput
        value={filters.search}
        label={`Search by ${searched}`}
        placeholder={seesCustomers ? "Name, email, reference, service, campaign" : "Reference, service, campaign"}
        onSearch={(search) => onChange({ search }, { replace: true })}
      />
      <WidgetSelect value={filters.widget} onChange={(widget) => onChange({ widget })} />
      <Select
        aria-label="Status"
        data={Object.entries(STATUS_LABELS).map(([value, label]) => ({ value, label }))}
        value={isStatus(filters.status) ? filters.status : ""}
        onChange={(status) => onChange({ status: status ?? "" })}
        allowDeselect={false}
        w={{ base: "100%", xs: "9.5rem" }}
      />
      <DaysSelect label="Booked" from={filters.from} to={filters.to} onChange={onChange} />
      <DaysSelect
        label="Appointment"
        from={filters.startFrom}
        to={filters.startTo}
        mayBeFuture
        onChange={({ from, to }) => onChange({ startFrom: from, startTo: to })}
      />
      {hasFilters(filters) && (
        <Button variant="subtle" color="gray" onClick={() => onChange(NO_FILTERS)}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}
