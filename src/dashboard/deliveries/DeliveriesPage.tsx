import { Button } from "@mantine/core";
import { IconRefresh, IconSend } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { DELIVERY_LOG_DAYS } from "#contract/delivery.ts";
import { deliveriesQuery } from "../api/deliveries.ts";
import { can as canAs } from "../can.ts";
import { formatZone } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ButtonLink, GuideLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState, NoMatches } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { LockedFeature } from "../ui/states/LockedFeature.tsx";
import { OlderButton } from "../ui/tables/ListTable.tsx";
import { DeliveryTable } from "./DeliveryTable.tsx";
import { isFiltered, NO_FILTERS, toRange } from "./delivery-filters.ts";
import { FilterBar } from "./FilterBar.tsx";
import { RedeliverDialog } from "./RedeliverDialog.tsx";
import { RedeliveryProgress } from "./RedeliveryProgress.tsx";

export function DeliveriesPage() {
  const { id, can, plan, details } = useOrganization();
  const [filters, setFilters] = useUrlState(NO_FILTERS);
  const [isRedelivering, setRedelivering] = useState(false);
  const { time: _, ...query } = filters;
  const deliveries = useInfiniteQuery(
    deliveriesQuery(id, Object.values(filters).join(" "), () => ({ ...query, ...toRange(filters, details.timeZone) })),
  );
  // Separate from the query's own refreshes, which must not spin this button.
  const refresh = useAction({ run: () => deliveries.refetch() });
  return (
    <Page
      title="Deliveries"
      description={DESCRIPTION}
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

const DESCRIPTION = (
  <>
    Everything sent to your endpoints in the last {DELIVERY_LOG_DAYS} days.{" "}
    <GuideLink to="webhooks#troubleshooting" about="errors of deliveries" />
  </>
);
