import { Select } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import { type AuditEntry, OPERATOR } from "#contract/app/audit.ts";
import { type AuditFilters, auditPeopleQuery, auditQuery, widgetsQuery } from "../api/queries.ts";
import { toInstants } from "../days.ts";
import { formatZone } from "../format.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ExportButton } from "../ui/forms/ActionButton.tsx";
import { DaysSelect } from "../ui/forms/DayRangeCalendar.tsx";
import { FilterGroup } from "../ui/forms/FilterGroup.tsx";
import { SearchInput } from "../ui/forms/SearchInput.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState, NoMatches } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { type Column, Lines, ListTable, OlderButton } from "../ui/tables/ListTable.tsx";
import {
  ACTION_CHOICES,
  describeAction,
  describeActor,
  describeDetail,
  describeTarget,
  toTargetLink,
} from "./audit-words.ts";

export function AuditPage() {
  const { can, details } = useOrganization();
  const [filters, change] = useUrlState(NO_FILTERS);
  const query = toAuditFilters(filters, details.timeZone);
  const verdict = can("readAudit");
  return (
    <Page
      title="Audit log"
      description="Changes to access and settings, deletions and exports. Entries can’t be edited."
      actions={verdict.isAllowed && <ExportButton route="exportAudit" query={query} />}
    >
      <LockedFeature verdict={verdict} title="You don’t have access to the audit log" />
      {verdict.isAllowed && <Entries filters={filters} query={query} onChange={change} />}
    </Page>
  );
}

type EntriesProps = ComponentProps<typeof FilterBar> & { query: AuditFilters };

function Entries({ filters, query, onChange }: EntriesProps) {
  const { id, name, details, format, paths } = useOrganization();
  const entries = useInfiniteQuery(auditQuery(id, query));
  const widgets = useQuery(widgetsQuery(id));
  const widgetNames = new Map(widgets.data?.data.map((widget) => [widget.id as string, widget.name]));
  const columns: Column<AuditEntry>[] = [
    {
      header: "Action",
      isBare: true,
      cell: ({ action, detail }) => (
        <Lines first={describeAction(action)} weight={500} second={describeDetail(detail, { format, widgetNames })} />
      ),
    },
    {
      header: "Target",
      cell: (row) => <Target {...describeTarget(row, { id, name })} link={toTargetLink(row, paths)} />,
    },
    { header: "By", width: "11rem", cell: describeActor },
    {
      header: "Time",
      isShort: true,
      isNumeric: true,
      cell: ({ at }) => <span title={format.exact(at)}>{format.time(at)}</span>,
    },
  ];
  return (
    <>
      <StaleNotice query={entries} />
      <FilterBar filters={filters} onChange={onChange} />
      <Section
        title={isFiltered(filters) ? "Matching entries" : "All entries"}
        description={`Newest first. Times in ${formatZone(details.timeZone)}.`}
        isFlush
      >
        <Loaded query={entries} rows={8}>
          {({ pages }) => {
            const rows = pages.flatMap((page) => page.data);
            if (rows.length === 0 && isFiltered(filters)) return <NoMatches onClear={() => onChange(NO_FILTERS)} />;
            if (rows.length === 0) return <EmptyState icon={IconHistory} title="No entries yet" />;
            return (
              <ListTable
                label="Audit log"
                columns={columns}
                rows={rows}
                rowKey={(row) => row.id}
                groupOf={({ at }) => format.date(at)}
              />
            );
          }}
        </Loaded>
        <OlderButton query={entries} what="entries" />
      </Section>
    </>
  );
}

function Target({ name, id, link }: { name: string; id: string | null; link: string | null }) {
  return <Lines first={link === null ? name : <TextLink to={link}>{name}</TextLink>} second={id} />;
}

type FilterBarProps = {
  filters: AuditFilters;
  onChange: (change: Partial<AuditFilters>, how?: { replace?: boolean }) => void;
};

function FilterBar({ filters, onChange }: FilterBarProps) {
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
const NO_FILTERS: AuditFilters = { search: "", person: "", action: "", from: "", to: "" };

/** Days are in the organization's time zone. */
function toAuditFilters(shown: AuditFilters, timeZone: string): AuditFilters {
  return { ...shown, search: shown.search.trim(), ...toInstants(shown, timeZone) };
}

function isFiltered(shown: AuditFilters): boolean {
  return Object.values(shown).some((value) => value !== "");
}
