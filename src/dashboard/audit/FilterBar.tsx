import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { OPERATOR } from "#contract/app/audit.ts";
import { type AuditFilters, auditPeopleQuery } from "../api/queries.ts";
import { toInstants } from "../days.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { DaysSelect } from "../ui/forms/DaysSelect.tsx";
import { FilterGroup } from "../ui/forms/FilterGroup.tsx";
import { SearchInput } from "../ui/forms/SearchInput.tsx";
import { ACTION_CHOICES } from "./audit-words.ts";

type FilterBarProps = {
  filters: AuditFilters;
  onChange: (change: Partial<AuditFilters>, how?: { replace?: boolean }) => void;
};

export function FilterBar({ filters, onChange }: FilterBarProps) {
  const { id } = useOrganization();
  const people = useQuery(auditPeopleQuery(id));
  const names = (people.data?.data ?? []).map(({ userId, name, email }) => ({
    value: userId,
    label: name ?? email ?? userId,
  }));
  const select = (name: "person" | "action") => ({
    value: filters[name],
    onChange: (chosen: string | null) => onChange({ [name]: chosen ?? "" }),
    allowDeselect: false,
    searchable: true,
  });
  return (
    <FilterGroup
      label="Filter entries"
      search={
        <SearchInput
          value={filters.search}
          label="Search by action, target, detail or person"
          placeholder="Action, target, detail, person"
          onSearch={(search) => onChange({ search }, { replace: true })}
        />
      }
      values={[filters.person, filters.action, filters.from + filters.to]}
      isFiltered={isFiltered(filters)}
      onClear={() => onChange(NO_FILTERS)}
    >
      <Select
        aria-label="Person"
        data={[
          { value: "", label: "All people" },
          ...names.toSorted((a, b) => a.label.localeCompare(b.label)),
          { value: OPERATOR, label: "Operator and Bookflow" },
        ]}
        {...select("person")}
      />
      <Select
        aria-label="Action"
        data={[{ value: "", label: "All actions" }, ...ACTION_CHOICES]}
        {...select("action")}
      />
      <DaysSelect label="Time" from={filters.from} to={filters.to} onChange={onChange} />
    </FilterGroup>
  );
}

/** The log's query parameters. `from` and `to` are days. */
export const NO_FILTERS: AuditFilters = { search: "", person: "", action: "", from: "", to: "" };

/** Days are in the organization's time zone. */
export function toAuditFilters(shown: AuditFilters, timeZone: string): AuditFilters {
  return { ...shown, search: shown.search.trim(), ...toInstants(shown, timeZone) };
}

export function isFiltered(shown: AuditFilters): boolean {
  return Object.values(shown).some((value) => value !== "");
}
