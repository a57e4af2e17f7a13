import { Group, Select, TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ATTEMPT_ERROR_CODES, DELIVERY_STATES } from "#contract/delivery.ts";
import { SEARCH_LENGTH_MAX } from "#contract/limits.ts";
import { endpointsQuery } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FilterGroup } from "../ui/forms/FilterGroup.tsx";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { WidgetSelect } from "../widgets/WidgetSelect.tsx";
import { type DeliveryFilters, isFiltered, isSearchable, NO_FILTERS, TIMES } from "./delivery-filters.ts";
import { ERROR_NAMES, STATE_NAMES } from "./delivery-words.ts";

type FilterBarProps = {
  filters: DeliveryFilters;
  /** `replace`: while a time is being typed, to keep half-typed times out of the browser's history. */
  onChange: (change: Partial<DeliveryFilters>, how?: { replace: boolean }) => void;
};

export function FilterBar({ filters, onChange }: FilterBarProps) {
  const { id } = useOrganization();
  const endpoints = useQuery(endpointsQuery(id));
  const known = (endpoints.data?.data ?? []).map((each) => ({ value: each.id, label: nameOf(each) }));
  const isKnown = filters.endpoint === "" || known.some(({ value }) => value === filters.endpoint);
  const select = (name: "endpoint" | "state" | "error" | "time") => ({
    value: filters[name],
    allowDeselect: false,
    onChange: (value: string | null) => onChange({ [name]: value ?? "" }),
  });
  const moment = (name: "from" | "to") => ({
    type: "datetime-local",
    value: filters[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ [name]: event.currentTarget.value }, { replace: true }),
  });
  return (
    <FilterGroup
      label="Filter deliveries"
      search={<SearchInput filters={filters} onChange={onChange} />}
      values={[filters.endpoint, filters.state, filters.error, filters.widget, filters.time]}
      isFiltered={isFiltered(filters)}
      onClear={() => onChange(NO_FILTERS)}
    >
      <Select
        aria-label="Endpoint"
        data={[
          { value: "", label: "All endpoints" },
          ...known,
          ...(isKnown ? [] : [{ value: filters.endpoint, label: "Deleted endpoint" }]),
        ]}
        {...select("endpoint")}
      />
      <Select aria-label="Status" data={STATES} {...select("state")} />
      <Select aria-label="Error" data={ERRORS} {...select("error")} />
      <WidgetSelect value={filters.widget} onChange={(widget) => onChange({ widget })} />
      <Select aria-label="Time" data={TIMES} {...select("time")} />
      {filters.time === "between" && (
        <Group gap="sm">
          <TextInput label="From" {...moment("from")} />
          <TextInput label="To" {...moment("to")} />
        </Group>
      )}
    </FilterGroup>
  );
}

const STATES = [
  { value: "", label: "All statuses" },
  ...DELIVERY_STATES.map((state) => ({ value: state, label: STATE_NAMES[state] })),
];
const ERRORS = [
  { value: "", label: "Any error" },
  ...ATTEMPT_ERROR_CODES.map((code) => ({ value: code, label: ERROR_NAMES[code] })),
];

/** Searches when the text is complete, or on Enter. */
function SearchInput({ filters, onChange }: FilterBarProps) {
  const { can } = useOrganization();
  const [text, setText] = useState(filters.search);
  const [isWrong, setWrong] = useState(false);
  useEffect(() => setText(filters.search), [filters.search]);
  const seesCustomers = can("seeCustomers").isAllowed;
  const what = `reference, event ID${seesCustomers ? ", delivery ID or email" : " or delivery ID"}`;
  const change = (next: string) => {
    setText(next);
    setWrong(false);
    if (next.trim() === "" || isSearchable(next)) onChange({ search: next.trim() }, { replace: true });
  };
  return (
    <TextInput
      type="search"
      aria-label="Search"
      placeholder={seesCustomers ? "Reference, ID or email" : "Reference or ID"}
      leftSection={<IconSearch size={17} stroke={1.6} aria-hidden />}
      maxLength={SEARCH_LENGTH_MAX}
      value={text}
      error={isWrong && `Enter a complete ${what}.`}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") setWrong(text.trim() !== "" && !isSearchable(text));
      }}
    />
  );
}
