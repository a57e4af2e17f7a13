import { Button, Group, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { DELIVERY_STATES } from "#contract/delivery.ts";
import { endpointsQuery } from "../api/endpoints.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { type DeliveryFilters, isFiltered, NO_FILTERS, TIMES } from "./delivery-filters.ts";
import { STATE_NAMES } from "./delivery-words.ts";
import classes from "./FilterBar.module.css";

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
  const select = (name: "endpoint" | "state" | "time") => ({
    className: classes["field"],
    value: filters[name],
    allowDeselect: false,
    onChange: (value: string | null) => onChange({ [name]: value ?? "" }),
  });
  const moment = (name: "from" | "to") => ({
    className: classes["field"],
    type: "datetime-local",
    value: filters[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ [name]: event.currentTarget.value }, { replace: true }),
  });
  return (
    <Group gap="sm" align="flex-end" mb="lg" role="search" aria-label="Filter deliveries">
      <Select
        label="Endpoint"
        data={[
          { value: "", label: "All endpoints" },
          ...known,
          ...(isKnown ? [] : [{ value: filters.endpoint, label: "Deleted endpoint" }]),
        ]}
        {...select("endpoint")}
      />
      <Select
        label="Status"
        data={[
          { value: "", label: "All statuses" },
          ...DELIVERY_STATES.map((state) => ({ value: state, label: STATE_NAMES[state] })),
        ]}
        {...select("state")}
      />
      <Select label="Time" data={TIMES} {...select("time")} />
      {filters.time === "between" && (
        <Group gap="sm" className={classes["between"]}>
          <TextInput label="From" {...moment("from")} />
          <TextInput label="To" {...moment("to")} />
        </Group>
      )}
      {isFiltered(filters) && (
        <Button variant="subtle" onClick={() => onChange(NO_FILTERS)}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}
