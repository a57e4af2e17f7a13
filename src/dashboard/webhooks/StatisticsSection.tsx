import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { ENDPOINT_PERIODS, type EndpointPeriod } from "#contract/webhooks/endpoint.ts";
import { statisticsQuery } from "../api/queries.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Section } from "../ui/layout/Section.tsx";
import { Loaded, LoadingRows } from "../ui/states/Loaded.tsx";

const DEFAULTS = { period: "24h" };

const PERIOD_NAMES: Record<EndpointPeriod, string> = { "24h": "24 hours", "7d": "7 days", "30d": "30 days" };

/** The charts bring a library of their own. */
const StatisticsChart = lazy(async () => ({ default: (await import("./StatisticsChart.tsx")).StatisticsChart }));

export function StatisticsSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { id } = useOrganization();
  const [state, setState] = useUrlState(DEFAULTS);
  const period = ENDPOINT_PERIODS.find((each) => each === state.period) ?? "24h";
  const statistics = useQuery(statisticsQuery(id, endpoint.id, period));
  const placeholder = <LoadingRows count={6} />;
  return (
    <Section
      title="Deliveries over time"
      description="Attempts, including retries, and how long your receiver took to respond."
      actions={
        <SegmentedControl
          aria-label="Period"
          data={ENDPOINT_PERIODS.map((value) => ({ value, label: PERIOD_NAMES[value] }))}
          value={period}
          onChange={(value) => setState({ period: value })}
        />
      }
    >
      <Loaded query={statistics} placeholder={placeholder}>
        {(data) => (
          <Suspense fallback={placeholder}>
            <StatisticsChart statistics={data} />
          </Suspense>
        )}
      </Loaded>
    </Section>
  );
}
