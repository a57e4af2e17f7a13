import { Button, Group, Select, TextInput } from "@mantine/core";
import { IconRefresh, IconSearch, IconSend } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { SEARCH_LENGTH_MAX } from "#contract/limits.ts";
import { ATTEMPT_ERROR_CODES, DELIVERY_LOG_DAYS, DELIVERY_STATES } from "#contract/webhooks/delivery.ts";
import { deliveriesQuery } from "../api/deliveries.ts";
import { endpointsQuery } from "../api/queries.ts";
import { can as canAs } from "../can.ts";
import { formatZone } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { FilterGroup } from "../ui/forms/FilterGroup.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState, NoMatches } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { OlderButton } from "../ui/tables/ListTable.tsx";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { WidgetSelect } from "../widgets/WidgetSelect.tsx";
import { DeliveryTable } from "./DeliveryTable.tsx";
import { type DeliveryFilters, isFiltered, isSearchable, NO_FILTERS, TIMES, toQuery } from "./delivery-filters.ts";
import { ERROR_NAMES, STATE_NAMES } from "./delivery-words.ts";
import { RedeliverDialog } from "./RedeliverDialog.tsx";
import { RedeliveryProgress } from "./RedeliveryProgress.tsx";

export function DeliveriesPage() {
  const { id, can, plan, details } = useOrganization();
  const [filters, setFilters] = useUrlState(NO_FILTERS);
  const [isRedelivering, setRedelivering] = useState(false);
  const deliveries = useInfiniteQuery(
    deliveriesQuery(id, Object.values(filters).join(" "), () => toQuery(filters, details.timeZone)),
  );
  // Separate from the query's own refreshes, which must not spin this button.
  const refresh = useAction({ run: () => deliveries.refetch() });
  return (
    <Page
      title="Deliveries"
      description={`Everything sent to your endpoints in the last ${DELIVERY_LOG_DAYS} days.`}
      guide={{ to: "webhooks#troubleshooting", about: "errors of deliveries" }}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconRefresh size={18} stroke={1.6} />}
            loading={refresh.isPending}
            onClick={() => refresh.mutate()}
          >
            Refresh
          </Button>
          <ActionButton variant="default" verdict={can("startRedelivery")} onClick={() => setRedelivering(true)}>
            Redeliver events
          </ActionButton>
        </>
      }
    >
      <LockedFeature verdict={canAs({ role: "owner", plan }, "redeliver")} title="Your plan doesn’t include webhooks">
        Earlier deliveries stay here for {DELIVERY_LOG_DAYS} days.
      </LockedFeature>
      <StaleNotice query={deliveries} />
      <FilterBar filters={filters} onChange={setFilters} />
      <RedeliveryProgress>
        <Section title="Log" description={`Newest first. Times in ${formatZone(details.timeZone)}.`} isFlush>
          <Loaded query={deliveries} rows={8}>
            {({ pages }) => {
              const rows = pages.flatMap((page) => page.data);
              if (rows.length > 0) return <DeliveryTable label="Deliveries" deliveries={rows} />;
              return <NoDeliveries isFiltered={isFiltered(filters)} onClear={() => setFilters(NO_FILTERS)} />;
            }}
          </Loaded>
          <OlderButton query={deliveries} what="deliveries" />
        </Section>
      </RedeliveryProgress>
      <RedeliverDialog isOpen={isRedelivering} filters={filters} onClose={() => setRedelivering(false)} />
    </Page>
  );
}

function NoDeliveries({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const { paths } = useOrganization();
  if (!isFiltered)
    return (
      <EmptyState
        icon={IconSend}
        title="No deliveries yet"
        action={<ButtonLink to={paths.webhooks}>Go to webhooks</ButtonLink>}
      >
        Once you have an endpoint, every stored booking and every test appears here.
      </EmptyState>
    );
  return <NoMatches onClear={onClear} />;
}

type FilterBarProps = {
  filters: DeliveryFilters;
  /** `replace`: while a time is being typed, to keep half-typed times out of the browser's history. */
  onChange: (change: Partial<DeliveryFilters>, how?: { replace: boolean }) => void;
};

function FilterBar({ filters, onChange }: FilterBarProps) {
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
