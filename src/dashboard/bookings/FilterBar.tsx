import { Button, CloseButton, Group, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { SEARCH_LENGTH_MAX } from "#contract/app/limits.ts";
import { WidgetSelect } from "../widgets/WidgetSelect.tsx";
import { DaysSelect } from "./DaysSelect.tsx";
import { FILTER_DEFAULTS, hasFilters, type ShownFilters } from "./shown-filters.ts";

const TYPING_MS = 250;

type FilterBarProps = {
  filters: ShownFilters;
  seesCustomers: boolean;
  onChange: (change: Partial<ShownFilters>, how?: { replace?: boolean }) => void;
};

export function FilterBar({ filters, seesCustomers, onChange }: FilterBarProps) {
  return (
    <Group gap="sm" mb="lg">
      <SearchInput filters={filters} seesCustomers={seesCustomers} onChange={onChange} />
      <WidgetSelect value={filters.widget} onChange={(widget) => onChange({ widget })} />
      <DaysSelect from={filters.from} to={filters.to} onChange={onChange} />
      {hasFilters(filters) && (
        <Button variant="subtle" color="gray" onClick={() => onChange(FILTER_DEFAULTS)}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** Typed text goes into the address when typing pauses; the browser's Back button restores it. */
function SearchInput({ filters, seesCustomers, onChange }: FilterBarProps) {
  const [text, setText] = useState(filters.search);
  const sent = useRef(filters.search);
  const send = useDebouncedCallback((search: string) => {
    sent.current = search;
    onChange({ search }, { replace: true });
  }, TYPING_MS);
  useEffect(() => {
    if (filters.search === sent.current) return;
    sent.current = filters.search;
    setText(filters.search);
  }, [filters.search]);
  const change = (next: string) => {
    setText(next);
    send(next);
  };
  const searched = seesCustomers ? "name, e-mail, reference, service or campaign" : "reference, service or campaign";
  return (
    <TextInput
      type="search"
      aria-label={`Search by ${searched}`}
      placeholder={seesCustomers ? "Name, e-mail, reference, service, campaign" : "Reference, service, campaign"}
      leftSection={<IconSearch size={17} stroke={1.6} aria-hidden />}
      rightSection={text !== "" && <CloseButton size="sm" aria-label="Clear search" onClick={() => change("")} />}
      maxLength={SEARCH_LENGTH_MAX}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
      flex="1 1 18rem"
    />
  );
}
